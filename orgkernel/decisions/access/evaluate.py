"""How an access decision is made (design §6, "Access").

Error policy: fails closed. A name that is given and that nothing declares denies, and so does any error on the way,
with `EVALUATION_ERROR` (policies and governance §3.6).

Three values accumulate for a resource. What is *granted* only grows: role bindings and stored grants give to roles and
agents, allow policies and stored grants to people, system origins and webhooks. The *ceiling* only falls: visibility,
rank, qualification, `ceiling` policies, restrictions, position, delegation, PACE and the lock. What is *stopped* stays
so: a deny or ask policy, and unknown names. Since joins and meets can be taken in any order, the layers are only the
order in which an explanation tells them. A layer nothing is declared for leaves all three as they are.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import DISPATCH, ESCALATE, FULL, LOCK, Cell
from orgkernel.decisions.access.command import command_sources
from orgkernel.decisions.access.holders import Holder, rank_number, rank_of_trust
from orgkernel.decisions.access.qualified import missing_qualifications
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.stored import NOTHING_GIVEN, Given, gather_grants, lowest_restriction
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView

WORKING = ("active", "probationary")


class Verdict(NamedTuple):
    """The three values of one question, and what led to them."""

    failing: int
    """The bits of everything that keeps the subject from the level required."""
    granted: int
    ceiling: int
    sources: int
    """The bits of what grants the level required."""
    given: Given

    @property
    def level(self) -> int:
        """What is left: nothing where it is stopped, the lower of granted and ceiling otherwise."""
        return 0 if self.failing & _STOPPING else min(self.granted, self.ceiling)


class Recorder(Protocol):
    """What an explanation is told while a decision is made: the state of the values after each layer."""

    def note(self, layer: str, value: str, before: int, after: int) -> None:
        """A layer has been passed."""


_STOPPING = (
    codes.UNKNOWN_PRINCIPAL | codes.AGENT_INACTIVE | codes.TOOL_UNKNOWN | codes.CREDENTIAL_UNKNOWN | codes.DATA_UNKNOWN
    | codes.ROLE_UNKNOWN | codes.RESOURCE_UNKNOWN | codes.ACTION_UNKNOWN | codes.TOOL_DISABLED | codes.POLICY_DENY
    | codes.INPUT_INVALID
)  # fmt: skip
