"""The result of a call: the output or the reason why there is none, and the steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why

StepKind = Literal["tool", "alternative", "own_reasoning", "peer", "superior", "top"]
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
    """One step on the way to a result."""

    kind: StepKind
    who: str
    """`tool:ID`, `role:ID`, or the subject itself."""
    outcome: StepOutcome
    code: str = ""
    """The reason as a stable code of the decision or of the toolbox."""
    text: str = ""
    action: str = ""
    why: tuple[Why, ...] = ()
    """The lines of documents that this step depends on."""
    seconds: float = 0.0
    metadata: Mapping[str, Any] = MappingProxyType({})
    audit_id: str = ""
    """The audit row of the decision."""
    remedies: tuple[str, ...] = ()
    """For a denial, the changes that would allow it."""
    who_can: tuple[str, ...] = ()
    """For a denial, the first few subjects that are allowed."""


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of using a tool.

    `done`: there is an output, and `by` names its source. `failed`: the tool reported an error, or the input does not
    fit. `denied` and `ask`: the decision. `handed_back`: no tool is available, and the caller's own reasoning is next;
    `next` lists who comes after it. `reported`: no tool and no agent could do it, and the top was informed.
    `unavailable`: no tool and no agent could do it.
    """

    tool: str
    action: str
    outcome: ToolOutcome
    output: Any = None
    error: str = ""
    code: str = ""
    """The code of the first step without an output."""
    by: str = ""
    """The source of the output: `tool:ID`, the subject itself, `agent:ID` of a peer, or `role:ID` of a superior."""
    seconds: float = 0.0
    metadata: Mapping[str, Any] = MappingProxyType({})
    steps: tuple[Step, ...] = ()
    next: tuple[str, ...] = ()
    """For a hand-back, the peers to ask next, then the superiors, nearest first, and the top."""
    input: Mapping[str, Any] = MappingProxyType({})

    @property
    def ok(self) -> bool:
        """Whether there is an output.

        >>> ToolResult("search_engine", "use", "done", output=["a page"], by="tool:search_engine").ok
        True
        """
        return self.outcome == "done"
