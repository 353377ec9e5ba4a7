"""Documents that several organizations see: only findings that apply to all of them are reported (families 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from orgkernel.diagnostics import Place
from orgkernel.documents.records import CrewRoster
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference
from orgkernel.rules.rule import Finding

FindReferences = Callable[[OrgRecords], Iterable[tuple[Reference, bool]]]
"""Returns the references in an organization's documents, each with whether the organization declares the id or cannot
tell."""
FindDefects = Callable[[OrgRecords], Iterable[tuple[Place, Finding | None]]]
"""Returns places in an organization's documents, each with its finding, if there is one."""


def find_unknown_to_all(assembly: Assembly, find: FindReferences) -> Iterator[Reference]:
    """The references whose id is unknown to every organization that sees them."""
    references: dict[Place, Reference] = {}

    def defects(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
        for reference, is_known in find(records):
            references.setdefault(reference.place, reference)
            yield reference.place, None if is_known else Finding(reference.place, "")

    yield from (references[finding.place] for finding in find_wrong_for_all(assembly, defects))


def find_wrong_for_all(assembly: Assembly, find: FindDefects) -> Iterator[Finding]:
    """Findings that apply in every organization that sees the place. Empty while an organization cannot be read."""
    if not assembly.strays_are_known:
        return
    findings_by_place: dict[Place, Finding] = {}
    fine: set[Place] = set()
    for records in assembly.organizations:
        for place, finding in find(records):
            if finding is None:
                fine.add(place)
            else:
                findings_by_place.setdefault(place, finding)
    yield from (finding for place, finding in findings_by_place.items() if place not in fine)


def does_know_role(records: OrgRecords, role_id: str) -> bool:
    """Whether the organization names the role, or an unreadable file could declare it."""
    return role_id in records.posts or role_id in records.without_profile or role_id in records.excused


def does_know_agent(records: OrgRecords, agent_id: str) -> bool:
    """Whether a roster that the organization sees has the agent, or a roster cannot be read."""
    return agent_id in records.agents or "crew_roster" in records.incomplete


def list_ids(assembly: Assembly, choose: Callable[[OrgRecords], Collection[str]]) -> tuple[str, ...]:
    """The ids of all organizations without duplicates, for suggestions."""
    return tuple(dict.fromkeys(each for records in assembly.organizations for each in choose(records)))


def find_roster(records: OrgRecords, agent_id: str) -> CrewRoster:
    """The roster that declares an agent."""
    roster = records.agents[agent_id].document.record
    assert isinstance(roster, CrewRoster)
    return roster
