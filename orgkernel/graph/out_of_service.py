"""Describes why a role or an agent is out of service (docs/adr/0094)."""

from __future__ import annotations

from typing import NamedTuple

from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import OrgRecords


class OutOfService(NamedTuple):
    """A role or an agent that is out of service."""

    name: str
    """Its kind and id, as in a sentence."""
    like: str
    """For an agent, the role that takes it out of service. Empty for a role."""
    fault: Diagnostic
    """The error in the file of the role."""

    @property
    def reason(self) -> str:
        """A sentence with the error, without its place."""
        return f"{self.name} is out of service{self.like}: {self.fault.message}"

    @property
    def located_reason(self) -> str:
        """The sentence with the place of the error."""
        return f"{self.name} is out of service{self.like}: {self.fault.place}: {self.fault.message}"


def find_out_of_service(records: OrgRecords, subject: str) -> OutOfService | None:
    """A subject that is out of service, such as `role:clerk`. None for every other subject."""
    kind, _, name = subject.partition(":")
    if kind == "role" and (fault := records.withheld.get(name)) is not None:
        return OutOfService(f"role {quote(name)}", "", fault)
    if kind == "agent" and (agent := records.withheld_agents.get(name)) is not None:
        return OutOfService(f"agent {quote(name)}", f", as its role {quote(agent.role_id)} is", agent.fault)
    return None


def list_out_of_service(records: OrgRecords) -> tuple[OutOfService, ...]:
    """All roles and agents that are out of service, roles first."""
    subjects = (
        *(f"role:{each}" for each in records.withheld),
        *(f"agent:{each}" for each in records.withheld_agents),
    )
    return tuple(out for each in subjects if (out := find_out_of_service(records, each)) is not None)


def list_unknown_subjects(records: OrgRecords) -> frozenset[str]:
    """The ids of the roles that are declared in a file that cannot be read or is out of service, and, as `agent:ID`, the agents
    that are out of service. A comparison of two versions knows nothing about them.
    """
    unread = frozenset(records.without_profile) & records.excused | records.withheld.keys()
    return unread | {f"agent:{each}" for each in records.withheld_agents}


def describe_refusal(records: OrgRecords, subject: str) -> tuple[str, str] | None:
    """The message and the help for a question about a subject that is out of service. None for every other subject."""
    out = find_out_of_service(records, subject)
    if out is None:
        return None
    message = f"{out.name} of organization {quote(records.org_id)} is out of service{out.like}: {out.fault.place}: {out.fault.message}"
    return message, "correct the error; the other roles answer without it"
