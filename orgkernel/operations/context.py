"""What every operation is given: the documents, the store, and who acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import NothingToRead, Refused

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

MEMBERS = ("agent", "role")
OTHER_REQUESTER = "OTHER_REQUESTER"


class Actor(msgspec.Struct, frozen=True, gc=False):
    """Who makes a change. The surface has authenticated them and checked their scopes."""

    name: str
    """Their name in the rows and the audit: `caller:KEY_ID`, `oidc:SUBJECT`, `person:owner`, `system:cli` …"""
    member: str = ""
    """The `agent:ID` or `role:ID` they act as, whose rights limit them; empty for somebody outside the organization."""
    uses_grants: bool = False
    """Whether a decision made for them uses up grants for a number of uses."""

    @property
    def agent_id(self) -> str:
        """The agent they act as; empty where there is none."""
        kind, _, name = self.member.partition(":")
        return name if kind == "agent" else ""

    def speaks_for(self, named: str | None, field: str) -> str:
        """The subject they ask for: an agent asks for itself, anybody else names a subject in `field`. Raises `Refused`."""
        if self.agent_id:
            if named not in (None, self.member):
                raise Refused(
                    f"the credential belongs to {quote(self.member)}", f"leave `{field}` out", OTHER_REQUESTER
                )
            return self.member
        if named is None:
            raise Refused(
                f"the credential belongs to no agent, and no {field} is named",
                f"name the `{field}`",
                OTHER_REQUESTER,
            )
        return named


def actor_named(subject: str) -> Actor:
    """The actor for a subject named on the command line; an agent or a role acts as itself."""
    return Actor(subject, subject if subject.partition(":")[0] in MEMBERS else "")


class Context(msgspec.Struct, frozen=True):
    """What one operation works with."""

    kernel: Kernel | None
    """The documents, deciding with the state of `store`; None if there are none; then names are not checked."""
    store: Store
    actor: Actor

    @property
    def documents(self) -> Kernel:
        """The documents, for an operation that needs them; raises `NothingToRead` if there are none."""
        if self.kernel is None:
            raise NothingToRead("there are no documents here", "name some with `--path`")
        return self.kernel
