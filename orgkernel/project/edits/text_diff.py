"""The difference between two texts as a unified diff for `git apply` and `patch`."""

from __future__ import annotations

import codecs
import difflib
import re

from orgkernel.runtime.regular_files import open_regular

NOTHING = "/dev/null"
"""The name of a file that does not exist."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """The difference line by line; only LF ends a line, as for `git` and `patch`."""
    lines = difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), old_name, new_name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def patch_names(name: str, *, is_new: bool = False) -> tuple[str, str]:
    """The names of a file before and after, as `git` writes them.

    >>> patch_names("roles/dev.yaml")
    ('a/roles/dev.yaml', 'b/roles/dev.yaml')
    """
    end = "\t" if " " in name else ""  # text after a tab is not part of the name
    return NOTHING if is_new else f"a/{name}{end}", f"b/{name}{end}"


def byte_order_mark(path: str) -> str:
    """The byte order mark at the start of a file, or an empty string."""
    with open_regular(path) as file:
        return "\ufeff" if file.read(3) == codecs.BOM_UTF8 else ""
