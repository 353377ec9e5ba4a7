"""The text of a commit message, as git will store it."""

from __future__ import annotations

_SCISSORS = " ------------------------ >8 ------------------------"


def cut_message(text: str) -> str:
    r"""The message without the diff that `git commit --verbose` shows below it. Comments remain, because their sign can be any.

    >>> cut_message("Add a file\n# ------------------------ >8 ------------------------\ndiff --git")
    'Add a file\n'
    """
    lines = text.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if line.rstrip().endswith(_SCISSORS)), len(lines))
    return "".join(lines[:end])
