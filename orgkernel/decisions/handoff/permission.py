"""What is asked of a hand-off permission, and what it says."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.decisions.reasons import Reason, Why

PermissionOutcome = Literal["allow", "deny", "cannot_tell"]
HandoffStep = Literal[
    "names",
    "edge",
    "right to delegate",
    "depth and children",
    "pace",
    "brief",
    "permissions",
    "file scope",
    "sacred scopes",
    "live claims",
    "batch rules",
]
STEPS: tuple[HandoffStep, ...] = (
    "names", "edge", "right to delegate", "depth and children", "pace", "brief", "permissions", "file scope",
    "sacred scopes", "live claims", "batch rules",
)  # fmt: skip
"""The steps in their order. The first that fails names the answer."""


class HandoffQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May the sender hand work to the receiver?

    The receiver is a role or a layer. The sender is a role, a layer, or a subject such as `agent:ID` or `person:ID`.
    What is left out is not known: the answer then says among its obligations what is to be stated.

    >>> from orgkernel import HandoffQuestion
    >>> HandoffQuestion(sender="L3", receiver="L5").receiver
    'L5'
    """

    sender: str = msgspec.field(name="from")
    receiver: str = msgspec.field(name="to")
    depth: int | None = None
    """How many hand-offs lie above the sender."""
    children: int | None = None
    """Agents the sender has handed work to and that have not ended."""
    concurrent: int | None = None
    """Those of them that run at this moment."""
    pace: PaceTierName | None = None
    """PACE tier of the sender. Without it, its latest SALUTE report counts."""
    on_behalf_of: str | None = None
    """Who triggered the run."""
    budget_guard: bool = False
    """Whether a budget guard has fired, so that a read-only layer may act."""
    context: AccessContext = AccessContext()
    """Other circumstances, as questions about access state them."""


class HandoffFinding(msgspec.Struct, frozen=True):
    """A step that failed."""

    step: HandoffStep
    code: str
    text: str
    why: tuple[Why, ...] = ()
    remedies: tuple[str, ...] = ()
    """What would change it, each in a sentence."""


class HandoffRouting(msgspec.Struct, frozen=True):
    """How the host should deliver the work. The kernel runs no queue."""

    queue_mode: str
    session_key: str
    why: tuple[Why, ...] = ()
    """The lines of the edge; empty where the defaults count."""


class HandoffVerdict(msgspec.Struct, frozen=True, gc=False):
    """The same as a permission says, without texts, lines and remedies."""

    outcome: PermissionOutcome
    code: str
    sender: str
    receiver: str
    failures: tuple[tuple[HandoffStep, str], ...]
    """The step and the code of every failure, in the order of the steps."""
    obligations: tuple[str, ...]
    routing: HandoffRouting | None
    snapshot: str
    state_version: int


class HandoffPermission(msgspec.Struct, frozen=True):
    """Whether a sender may hand work to a receiver, and every step that fails.

    >>> from orgkernel import HandoffQuestion, Kernel
    >>> Kernel.open().handoff_permission("omega", HandoffQuestion(sender="L3", receiver="L5")).outcome
    'deny'
    """

    outcome: PermissionOutcome
    code: str
    """What decided: the first failure, or what gives the right."""
    sender: str
    """The subject that was decided about, such as `role:oracle`."""
    receiver: str
    reasons: tuple[Reason, ...]
    """What gives the right; for a refusal its first failure."""
    findings: tuple[HandoffFinding, ...]
    """Every failure, in the order of the steps."""
    obligations: tuple[str, ...]
    """What the caller still has to show or to state: `brief`, `verify_command`, `state:depth`, …"""
    routing: HandoffRouting | None
    depth_left: int | None
    """How many more levels work may be handed down below the receiver. Null where the depth is not stated."""
    governance: str
    """The file of the governance document; empty where the organization has none and its chain of command decides."""
    snapshot: str
    """Digest of the organization the answer came from."""
    state_version: int
