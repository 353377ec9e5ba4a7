"""What parsing a trigger yields: a tree or problems, and every use of a name, all placed in the trigger's text.

Offsets are 0-based characters of the text that was parsed, the end one past the last; whoever knows the file turns
them into file, line and column. A trigger is bad input, so its problems are values and never exceptions (style §5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from orgkernel.runtime.triggers import TriggerTree

ProblemKind: TypeAlias = Literal["syntax", "unknown-name", "type"]


@dataclass(frozen=True, slots=True)
class TriggerProblem:
    """One thing wrong with a trigger: what is (message), where (start to end), and what to write instead (help)."""

    kind: ProblemKind
    message: str
    start: int
    end: int
    help: str | None = None


@dataclass(frozen=True, slots=True)
class NameUse:
    """One occurrence of a name: as written, where, and the listed name it stands for (None when unknown)."""

    name: str
    start: int
    end: int
    target: str | None
    is_alias: bool


@dataclass(frozen=True, slots=True)
class ParsedTrigger:
    """A trigger's text, read. It has a tree exactly when it has no problems.

    `uses` is complete whenever the syntax is sound, so a misused or unknown name still shows up there. The tree names
    only listed names: aliases are resolved, so a host needs no alias table.
    """

    text: str
    tree: TriggerTree | None
    uses: tuple[NameUse, ...]
    problems: tuple[TriggerProblem, ...]
