"""What every operation is given: the documents, the store, and who acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from orgkernel.errors import NothingToRead, Refused

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

OPERATOR = "system:cli"
"""Whoever works on the command line and does not say who they are."""


class Actor(msgspec.Struct, frozen=True):
    """Who makes a change. The surface has authenticated them and checked their scopes."""

    name: str
    """Their name in the rows and the audit: `caller:KEY_ID`, `oidc:SUBJECT`, `person:owner`, `system:cli` …"""
    member: str = ""
    """The `agent:ID`, `role:ID`, `person:ID` … they act as, whose rights limit them; empty for an operator, who acts by the
    scopes of the credential alone."""
    uses_grants: bool = False
    """Whether a decision made for them uses up grants for a number of uses."""
    person: str = ""
    """The `person:ID` who runs the agent they act as; empty where the credential names none."""

    @property
    def agent_id(self) -> str:
        """The agent they act as; empty where there is none."""
        kind, _, name = self.member.partition(":")
        return name if kind == "agent" else ""


def build_actor(subject: str) -> Actor:
    """The actor for a subject named on the command line: it acts as itself, with its own rights.

    Raises `Refused` for an empty name, which a script writes whose variable is not set: nobody would mean an operator.
    """
    if not subject:
        raise Refused(
            "no caller given", "name a subject such as `person:ID`; without `--by` an operator acts"
        )
    return Actor(subject, "" if subject == OPERATOR else subject)


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
