"""The result of parsing a trigger: a tree or problems, and every use of a name, with positions in the trigger's text.

Offsets are 0-based characters of the parsed text; the end is one past the last. Callers that know the file turn them into
file, line and column. Problems are values, never exceptions, because triggers are user input.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from .triggers import TriggerTree

ProblemKind: TypeAlias = Literal["syntax", "unknown-name", "type"]


JOIN = "join conditions with AND or OR"


def say_nested(most: int) -> str:
    """Say that parentheses are nested too deep to be readable."""
    return f"parentheses nest more than {most} levels deep"


class TriggerProblem(NamedTuple):
    """One problem of a trigger: the message, its position (start to end), and the help."""

    kind: ProblemKind
    message: str
    start: int
    end: int
    help: str | None = None


class NameUse(NamedTuple):
    """One occurrence of a name: as written, its place, and the listed name it means (None if unknown)."""

    name: str
    start: int
    end: int
    target: str | None
    is_alias: bool


class ParsedTrigger(NamedTuple):
    """A parsed trigger. It has a tree exactly when it has no problems.

    `uses` is complete whenever the syntax is valid, so it also contains misused and unknown names. The tree contains
    only listed names: aliases are resolved, so a host needs no alias table.
    """

    text: str
    tree: TriggerTree | None
    uses: tuple[NameUse, ...]
    problems: tuple[TriggerProblem, ...]
