"""Whether a plain path is surely in a plain glob, without importing regular expressions.

`orgkernel.runtime.paths.is_inside` answers for what is not plain, and for everything if this engine is off. Law: where this
module answers, it answers the same.
"""

from __future__ import annotations

from orgkernel.engines import is_on

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_MAX_NAMES = 40


def match_plain(path: str, glob: str) -> bool | None:
    """Whether a relative path is in a glob. None if one of them is not plain, or this engine is off.

    >>> match_plain("src/a/b.py", "src/**"), match_plain("src", "src/**"), match_plain("docs/a.md", "docs/*.md"), match_plain("src/a", "src")
    (True, False, True, False)
    >>> match_plain("src/../a", "src/**"), match_plain("a", "**/[ab]/**")
    (None, None)
    """
    if not is_on("glob_matcher"):
        return None
    names, parts = path.split("/"), glob.split("/")
    if not all(map(_is_plain, names)) or len(names) > _MAX_NAMES or parts.count("**") > 1:
        return None
    if not all(part == "**" or (part.count("*") < 2 and _is_plain(part.replace("*", "x"))) for part in parts):
        return None
    if "**" not in parts:
        return len(names) == len(parts) and all(map(_fits_name, names, parts))
    at = parts.index("**")
    before, after = parts[:at], parts[at + 1 :]
    return (
        len(names) >= len(before) + max(len(after), 1)
        and all(map(_fits_name, names, before))
        and all(map(_fits_name, names[len(names) - len(after) :], after))
    )


def _is_plain(name: str) -> bool:
    return bool(name) and name[-1] != "." and _PLAIN.issuperset(name)


def _fits_name(name: str, part: str) -> bool:
    if "*" not in part:
        return name == part
    start, _, end = part.partition("*")
    return len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)
