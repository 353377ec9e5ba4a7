"""Tells whether a program that usually only reads writes with the options of a command."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def does_write(words: list[str], writing: dict[str, Any] | None) -> bool:
    """Whether the words behind a program contain an option with which it writes or starts another program."""
    if writing is None:
        return False
    operands = 0
    for word in words:
        name, _, _ = word.partition("=")
        if word in writing["words"]:
            return True
        if word.startswith("--"):
            if len(name) > 2 and any(each.startswith(name[2:]) for each in writing["long"]):
                return True
        elif word.startswith("-") and len(word) > 1:
            if any(letter in writing["letters"] for letter in word[1:]):
                return True
        else:
            operands += 1
    return bool(0 <= writing["operands"] <= operands)
