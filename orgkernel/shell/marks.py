"""Partially known words of a shell: special characters stand for parts that only a run would show. These marks have nothing
to do with the positions in `orgkernel.loading.marks`.

The characters are in a private range of Unicode. A command that itself contains one of them is not analyzed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from orgkernel.runtime.lazy_patterns import lazy_pattern

UNKNOWN: Final = "\ue000"
"""Unknown text within one word."""
MANY: Final = "\ue001"
"""Unknown text that can be any number of words."""
GLOB: Final = "\ue002"
"""Part of a name that matches a `*`."""
ONE: Final = "\ue003"
"""Character that matches a `?` or `[…]`."""
HOME: Final = "\ue004"
"""The home directory of the user."""
TEMPORARY: Final = "\ue005"
"""A path that `mktemp` made for this command."""
PLAIN: Final = "\ue006"
"""Unknown text without separators: a date, a number, a host name."""
OWN_PROCESS: Final = "\ue007"
"""The id of a process that the command started."""
FIELD: Final = "\ue008"
"""White space of an unquoted expansion: a new word begins here."""
OPEN: Final = "\ue009"
"""An opening brace that bash would expand. It is distinguished from a quoted one, which is an ordinary character."""
COMMA: Final = "\ue00a"
"""A comma between the alternatives in such braces."""
CLOSE: Final = "\ue00b"
"""The closing brace."""
ROOT: Final = "\ue00c"
"""The directory the command is run in."""
MADE: Final = "\ue00d"
"""The id of a thing that the command itself made, such as a container."""

PRIVATE: Final = lazy_pattern("[\ue000-\ue0ff]")
_SHOWN: Final = str.maketrans(
    {
        UNKNOWN: "…",
        MANY: "…",
        GLOB: "*",
        ONE: "?",
        HOME: "~",
        TEMPORARY: "…",
        PLAIN: "…",
        OWN_PROCESS: "$!",
        MADE: "…",
        ROOT: ".",
    }
)
_BRACES: Final = str.maketrans({OPEN: "{", COMMA: ",", CLOSE: "}"})
MAX_ALTERNATIVES: Final = 64


class ShellWord(NamedTuple):
    """A word of a command with marks, and its byte offsets in the given text."""

    text: str
    start: int
    end: int

    @property
    def is_known(self) -> bool:
        """Whether no part of the word depends on a run."""
        return PRIVATE.search(self.text) is None

    @property
    def is_open(self) -> bool:
        """Whether the word could be an option, or several words."""
        return self.text[:1] in (UNKNOWN, MANY)

    def but(self, text: str) -> ShellWord:
        """A copy of the word with another text."""
        return ShellWord(text, self.start, self.end)


def shown(text: str) -> str:
    """A text for people."""
    return text.translate(_SHOWN)


def is_known(text: str) -> bool:
    """Whether no part of the text depends on a run."""
    return PRIVATE.search(text) is None


def is_unclear(text: str) -> bool:
    """Whether part of the text is completely unknown, as opposed to a glob or a home directory."""
    return UNKNOWN in text or MANY in text


def split_fields(text: str) -> list[str]:
    """Split one word into the words that it expands to: `{a,b}` becomes two, and an unquoted variable is split at
    spaces.
    """
    words = []
    for alternative in _alternatives(text):
        fields = alternative.split(FIELD) if FIELD in alternative else [alternative]
        words += [field for field in fields if field or FIELD not in alternative]
    return words


def _alternatives(text: str) -> list[str]:
    done: list[str] = []
    waiting = [text]
    while waiting:
        each = waiting.pop()
        inner = _innermost(each)
        if inner is None:
            done.append(each.translate(_BRACES))
            continue
        start, end = inner
        choices = each[start + 1 : end].split(COMMA)
        if len(choices) == 1:
            waiting.append(f"{each[:start]}{{{choices[0]}}}{each[end + 1 :]}")
        elif len(done) + len(waiting) + len(choices) > MAX_ALTERNATIVES:
            return [MANY]
        else:
            waiting += [each[:start] + choice + each[end + 1 :] for choice in reversed(choices)]
    return done


def _innermost(text: str) -> tuple[int, int] | None:
    end = text.find(CLOSE)
    while end != -1:
        start = text.rfind(OPEN, 0, end)
        if start != -1:
            return start, end
        end = text.find(CLOSE, end + 1)
    return None
