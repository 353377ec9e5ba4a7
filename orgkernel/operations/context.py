"""The context of every operation: the documents, the store, and the actor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from orgkernel.errors import NothingToRead, Refused

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

OPERATOR = "system:cli"
"""The actor of a command line call without `--by`."""


class Actor(msgspec.Struct, frozen=True):
    """The actor of a change. The surface has authenticated it and checked its scopes."""

    name: str
    """The name in rows and in the audit: `caller:KEY_ID`, `oidc:SUBJECT`, `person:owner`, `system:cli` …"""
    member: str = ""
    """The subject that the actor acts as, whose rights limit it: `agent:ID`, `role:ID`, `person:ID` … Empty for an
    operator, which only the scopes of the credential limit.
    """
    uses_grants: bool = False
    """Whether a decision for this actor uses up grants with a limited number of uses."""
    person: str = ""
    """The `person:ID` who runs the agent that the actor acts as; empty if the credential names none."""
    orgs: frozenset[str] | None = None
    """The organizations that the credential is valid in; None for all."""

    def is_good_for(self, org_id: str) -> bool:
        """Whether the credential is valid in an organization. Agents of two organizations are different agents
        even if they have the same name.
        """
        return self.orgs is None or org_id in self.orgs

    @property
    def agent_id(self) -> str:
        """The agent that the actor acts as; empty if there is none."""
        kind, _, name = self.member.partition(":")
        return name if kind == "agent" else ""


def build_actor(subject: str) -> Actor:
    """The actor for a subject named on the command line. It acts as itself, with its own rights.

    Raises `Refused` for an empty name. A script with an unset variable passes one, and it must not become an operator.
    """
    if not subject:
        raise Refused(
            "no caller given", "name a subject such as `person:ID`; without `--by` an operator acts"
        )
    return Actor(subject, "" if subject == OPERATOR else subject)


class Context(msgspec.Struct, frozen=True):
    """The context of one operation."""

    kernel: Kernel | None
    """The documents, deciding with the state of `store`. None if there are no documents; then names are not checked."""
    store: Store
    actor: Actor

    @property
    def documents(self) -> Kernel:
        """The documents, for an operation that needs them. Raises `NothingToRead` if there are none."""
        if self.kernel is None:
            raise NothingToRead("there are no documents here", "name some with `--path`")
        return self.kernel
