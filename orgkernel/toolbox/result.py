"""What a call of the toolbox says: the output or why there is none, and every step that was taken."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why

StepKind = Literal["tool", "alternative", "own_reasoning", "superior", "top"]
StepOutcome = Literal[
    "done", "failed", "timeout", "unavailable", "denied", "ask", "skipped", "offered", "no_answer", "reported"
]
ToolOutcome = Literal["done", "failed", "timeout", "denied", "ask", "handed_back", "reported", "unavailable"]

# Codes of the toolbox itself; the others are those of access decisions.
NOTHING_SERVES = "NOTHING_SERVES"
TOOL_FAILED = "TOOL_FAILED"
TOOL_UNAVAILABLE = "TOOL_UNAVAILABLE"
TIMEOUT = "TIMEOUT"
TOOL_LOCKED = "TOOL_LOCKED"
LOCK_LOST = "LOCK_LOST"
ACTION_NEEDED = "ACTION_NEEDED"
INPUT_INVALID = "INPUT_INVALID"
MAY_HAVE_HAPPENED = "MAY_HAVE_HAPPENED"
NO_SUCH_ACTION = "NO_SUCH_ACTION"
NO_ANSWER = "NO_ANSWER"
PERMIT_REFUSED = "PERMIT_REFUSED"
NOT_ASKED = "NOT_ASKED"


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step on the way to a result, whether it led there or not."""

    kind: StepKind
    who: str
    """`tool:ID`, `role:ID`, or the subject itself."""
    outcome: StepOutcome
    code: str = ""
    """Why, as a stable word: of the decision, or of the toolbox."""
    text: str = ""
    action: str = ""
    why: tuple[Why, ...] = ()
    """The lines this step rests on."""
    seconds: float = 0.0
    metadata: Mapping[str, Any] = MappingProxyType({})
    audit_id: str = ""
    """The audit row of the decision."""
    remedies: tuple[str, ...] = ()
    """What would allow it, where it was denied."""
    who_can: tuple[str, ...] = ()
    """Who already can, where it was denied; the first few."""


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How asking for a tool ended.

    `done`: there is an output; `by` says whose. `failed`: the tool said no, or the input does not fit. `denied`, `ask`:
    the decision. `handed_back`: no tool can; the caller's own reasoning is next, and `next` says who comes after it.
    `reported`: nobody could, and the top knows. `unavailable`: nobody could.
    """

    tool: str
    action: str
    outcome: ToolOutcome
    output: Any = None
    error: str = ""
    code: str = ""
    """Of the first step that led to no output."""
    by: str = ""
    """Whose output it is: `tool:ID`, the subject itself, or `role:ID` of a superior."""
    seconds: float = 0.0
    metadata: Mapping[str, Any] = MappingProxyType({})
    steps: tuple[Step, ...] = ()
    next: tuple[str, ...] = ()
    """Who is to be asked next, from the nearest superior to the top, where it was handed back."""
    input: Mapping[str, Any] = MappingProxyType({})

    @property
    def ok(self) -> bool:
        """Whether there is an output.

        >>> ToolResult("search_engine", "use", "done", output=["a page"], by="tool:search_engine").ok
        True
        """
        return self.outcome == "done"
