"""Files whose content is secret, by their names: environment files, vaults, credentials and key material.

Agents do not read them. A governance document adds files, and names the roles that may read some of them, with the
`readers` of a sacred scope. The path decides, in any letter case: no file is opened. The names are data
(`ontology/files/secret_files.yaml`).

Standard library only, and without regular expressions: this module also runs inside hosts, before most calls.
"""

from __future__ import annotations

from .secret_file_names import EXCEPT, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def find_secret_kind(path: str) -> str | None:
    """The kind of a secret file; None for every other file.

    >>> find_secret_kind("web/.ENV.local"), find_secret_kind(".env.example"), find_secret_kind("~/.aws/credentials")
    ('environment file', None, 'credential file')
    """
    names = [_fold(name) for name in path.split("/") if name not in ("", ".")]
    if not names:
        return None
    for pattern, kind in NAMES:
        if _does_end_with(names, pattern) and not any(
            kind == other and _does_end_with(names, each) for other, each in EXCEPT
        ):
            return kind
    return None


def _fold(text: str) -> str:
    if text.isascii() and ":" not in text and text[-1:] not in (".", " "):
        return text.casefold()
    from .paths import fold  # it needs regular expressions

    return fold(text)


def may_name_secret(text: str) -> bool:
    """Whether a text could contain the path of a secret file, wherever the path begins and ends. True for text that is not ASCII.

    >>> may_name_secret("git commit -m 'Load it'"), may_name_secret("cat a/.ENV")
    (False, True)
    """
    folded = text.casefold()
    return not text.isascii() or any(
        max(pattern.replace("/", "*").split("*"), key=len) in folded for pattern, _ in NAMES
    )


def _does_end_with(names: Sequence[str], pattern: str) -> bool:
    """Whether the last names of a path match a pattern of as many names."""
    if "/" not in pattern:
        return _does_match(names[-1], pattern)
    parts = pattern.split("/")
    return len(names) >= len(parts) and all(map(_does_match, names[-len(parts) :], parts))


def _does_match(name: str, pattern: str) -> bool:
    before, star, after = pattern.partition("*")
    if not star:
        return name == pattern
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
