"""Edges that access decisions are made from: qualifications, policies and the crew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place
from orgkernel.graph.definition import Definition
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.access_policies import STAR, Policy
from orgkernel.records.crew_roster import CrewRoster, Member
from orgkernel.records.qualification_catalog import Qualification
from orgkernel.records.tool_catalog import Tool


def extract_access_edges(records: OrgRecords) -> Iterator[Edge]:
    """In the order of declaration; ids that nothing declares are kept as written."""
    yield from _qualifications(records)
    for policy in records.policies.values():
        yield from _covers(policy, records.tools)
    for agent in records.agents.values():
        yield from _fills(records, agent)


def _qualifications(records: OrgRecords) -> Iterator[Edge]:
    said: set[tuple[str, str]] = set()
    for tool in records.tools.values():
        for number, qualification_id in enumerate(tool.record.qualifications):
            if (tool.id, qualification_id) not in said:
                said.add((tool.id, qualification_id))
                place = tool.place("qualifications", number)
                yield Edge(EdgeKind.NEEDS_QUALIFICATION, tool.id, qualification_id, "", place)
    for qualification in records.qualifications.values():
        for number, tool_id in enumerate(qualification.record.unlocks):
            if (tool_id, qualification.id) not in said:
                said.add((tool_id, qualification.id))
                place = qualification.place("unlocks", number)
                yield Edge(EdgeKind.NEEDS_QUALIFICATION, tool_id, qualification.id, "", place)
    for qualification in records.qualifications.values():
        yield from _raises(qualification)
        for number, other_id in enumerate(qualification.record.prerequisites):
            place = qualification.place("prerequisites", number)
            yield Edge(EdgeKind.BUILDS_ON, qualification.id, other_id, "", place)


def _raises(qualification: Definition[Qualification]) -> Iterator[Edge]:
    raises = qualification.record.raises
    if isinstance(raises, dict):
        for skill_id, level in raises.items():
            place = qualification.place("raises", skill_id, key=True)
            yield Edge(
                EdgeKind.RAISES, qualification.id, skill_id, "" if level is None else str(level), place
            )
        return
    first = {skill_id: number for number, skill_id in reversed(list(enumerate(raises)))}
    for skill_id, number in sorted(first.items(), key=lambda each: each[1]):
        yield Edge(EdgeKind.RAISES, qualification.id, skill_id, "", qualification.place("raises", number))


def _covers(policy: Definition[Policy], tools: Mapping[str, Definition[Tool]]) -> Iterator[Edge]:
    """One edge for each tool and word: what is denied in an allowing policy is covered with `deny`."""
    record, permissions = policy.record, policy.record.permissions
    if record.effect == "annotate":
        return
    written = permissions.tools
    route: tuple[str, ...] = ("permissions", "tools")
    if permissions.named_tools is None:
        silent = permissions.credentials is None and permissions.data is None
        if record.effect != "allow" and silent:
            yield from _matching(policy, STAR, record.effect, policy.place("effect"), tools)
        return
    if isinstance(written, str):
        yield from _matching(policy, written, record.effect, policy.place(*route), tools)
        return
    allow_route = route if isinstance(written, tuple) else (*route, "allow")
    said: set[str] = set()
    for number, glob in enumerate(permissions.named_tools):
        for edge in _matching(policy, glob, record.effect, policy.place(*allow_route, number), tools):
            if edge.target not in said:
                said.add(edge.target)
                yield edge
    said = set()
    for number, glob in enumerate(permissions.excepted_tools):
        if glob == STAR and permissions.named_tools:
            continue  # what the list above leaves out, not the list itself (policies and governance §2.9)
        for edge in _matching(policy, glob, "deny", policy.place(*route, "deny", number), tools):
            if edge.target not in said:
                said.add(edge.target)
                yield edge


def _matching(
    policy: Definition[Policy], glob: str, effect: str, place: Place, tools: Mapping[str, Definition[Tool]]
) -> Iterator[Edge]:
    if not glob.endswith(STAR):
        yield Edge(EdgeKind.COVERS, policy.id, glob, effect, place)
        return
    for tool_id in tools:
        if matches_glob(tool_id, glob):
            yield Edge(EdgeKind.COVERS, policy.id, tool_id, effect, place)


def matches_glob(tool_id: str, glob: str) -> bool:
    """Whether a tool is one that a name, the beginning of names with a star, or a star alone speaks of.

    >>> matches_glob("credentials_read", "credentials_*"), matches_glob("credentials", "credentials_*")
    (True, False)
    """
    return tool_id.startswith(glob[:-1]) if glob.endswith(STAR) else tool_id == glob


def _fills(records: OrgRecords, agent: Definition[Member]) -> Iterator[Edge]:
    roster = agent.document.record
    assert isinstance(roster, CrewRoster)
    said: set[str] = set()
    for number, assignment in enumerate(agent.record.assignments):
        org_id = assignment.org or roster.org
        if org_id not in (None, records.org_id) or assignment.role in said:
            continue
        if org_id is None and not agent.own and not is_role_here(records, assignment.role):
            continue  # a roster shared by several organizations: another one's role
        said.add(assignment.role)
        place = agent.place("assignments", number, "role")
        yield Edge(EdgeKind.FILLS, agent.id, assignment.role, ",".join(assignment.watches), place)


def is_role_here(records: OrgRecords, role_id: str) -> bool:
    """Whether the organization names the role."""
    return role_id in records.posts or role_id in records.without_profile
