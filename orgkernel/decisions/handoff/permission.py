"""Questions about hand-off permission, and their answers."""

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
"""The steps in order. The first one that fails determines the code."""


class HandoffQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question: may the sender hand work to the receiver?

    The receiver is a role or a layer. The sender is a role, a layer, or a subject such as `agent:ID` or `person:ID`.
    A missing value is unknown; the obligations of the answer then list what has to be stated.

    >>> from orgkernel import HandoffQuestion
    >>> HandoffQuestion(sender="L3", receiver="L5").receiver
    'L5'
    """

    sender: str = msgspec.field(name="from")
    receiver: str = msgspec.field(name="to")
    depth: int | None = None
    """The number of hand-offs above the sender."""
    children: int | None = None
    """The number of agents that the sender has handed work to and that have not ended."""
    concurrent: int | None = None
    """The number of these agents that are running now."""
    pace: PaceTierName | None = None
    """The PACE tier of the sender. If it is missing, its latest SALUTE report applies."""
    on_behalf_of: str | None = None
    """The principal that triggered the run."""
    budget_guard: bool = False
    """Whether a budget guard has fired, so a read-only layer may act."""
    context: AccessContext = AccessContext()
    """Other circumstances, as in access requests."""


class HandoffFinding(msgspec.Struct, frozen=True):
    """A failing step."""

    step: HandoffStep
    code: str
    text: str
    why: tuple[Why, ...] = ()
    remedies: tuple[str, ...] = ()
    """The possible remedies, each as a sentence."""


class HandoffRouting(msgspec.Struct, frozen=True):
    """How the host should deliver the work. The kernel does not run a queue."""

    queue_mode: str
    session_key: str
    why: tuple[Why, ...] = ()
    """The lines of the edge; empty if the defaults apply."""


class HandoffVerdict(msgspec.Struct, frozen=True, gc=False):
    """A hand-off permission without texts, lines and remedies."""

    outcome: PermissionOutcome
    code: str
    sender: str
    receiver: str
    failures: tuple[tuple[HandoffStep, str], ...]
    """The step and code of every failure, in the order of the steps."""
    obligations: tuple[str, ...]
    routing: HandoffRouting | None
    snapshot: str
    state_version: int


class HandoffPermission(msgspec.Struct, frozen=True):
    """Whether a sender may hand work to a receiver, and every failing step.

    >>> from orgkernel import HandoffQuestion, Kernel
    >>> Kernel.open().handoff_permission("omega", HandoffQuestion(sender="L3", receiver="L5")).outcome
    'deny'
    """

    outcome: PermissionOutcome
    code: str
    """The deciding code: the first failure, or the source of the right."""
    sender: str
    """The subject that was checked, such as `role:oracle`."""
    receiver: str
    reasons: tuple[Reason, ...]
    """The sources of the right, or the first failure of a refusal."""
    findings: tuple[HandoffFinding, ...]
    """Every failure, in the order of the steps."""
    obligations: tuple[str, ...]
    """Facts that the caller still has to show or state: `brief`, `verify_command`, `state:depth`, …"""
    routing: HandoffRouting | None
    depth_left: int | None
    """The number of further levels of hand-offs that are allowed below the receiver. Null if the depth is not stated."""
    governance: str
    """The file of the governance document; empty if the organization has none, so its chain of command decides."""
    snapshot: str
    """The digest of the organization that was used."""
    state_version: int
