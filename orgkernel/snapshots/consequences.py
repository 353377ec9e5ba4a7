"""Decides what an error takes out of service: an agent, a role, a skill, nothing, or the whole organization.

An error takes out only the role of its file, if the file declares one role and nothing else. In another format, every agent
has such a file; in orgkernel documents, the profile of a role is one (docs/adr/0094). The subordinates of a role that is out
of service keep their place in the chain of command, which leads through it (docs/adr/0100).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.service_rows import AGENT_OUT_OF_SERVICE, ROLE_OUT_OF_SERVICE
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CrewRoster, RoleProfile
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords, WithheldAgent
from orgkernel.graph.schema import Edge
from orgkernel.loading.sources import LoadedFiles, SourceDocument
from orgkernel.rules.effects import HARMLESS_IN_ROLES, OF_ALL, OF_ONE_SKILL, WITHOUT_EFFECT

_PROFILE: Final = "role_profile"
_ROLE_KINDS = frozenset({_PROFILE, "standing_order"})
# Documents of other formats without which the agents are only less able: skills, tools and tasks.
_MISSED_KINDS = frozenset({"cognitive_skill", "tool_catalog", "procedure_catalog", "skill_catalog"})
# Formats in which these documents also take rights away, so without them a role could do more.
_POLICIES_IN_TOOLS = frozenset({"agent-zero"})


class Consequences(NamedTuple):
    """What the errors of an organization take out of service."""

    withheld: Mapping[str, Diagnostic]
    """The roles that are out of service, each with the first error about it."""
    is_held_back: bool
    """Whether an error concerns the whole organization."""


class DeclaredByFile(NamedTuple):
    """What each file of a tree declares, readable or not."""

    kinds: Mapping[str, frozenset[str | None]]
    roles: Mapping[str, frozenset[str]]
    formats: Mapping[str, str]
    profiles: Mapping[str, frozenset[str]]
    """The roles of files that contain profiles in orgkernel documents and certainly nothing else."""


def list_declared_by_file(tree: LoadedFiles, faulty: Collection[str]) -> DeclaredByFile:
    """The kinds, roles and formats of all files in other formats, and the roles of faulty files with profiles."""
    kinds: dict[str, set[str | None]] = defaultdict(set)
    roles: dict[str, set[str]] = defaultdict(set)
    formats: dict[str, str] = {}
    profiles: dict[str, set[str]] = defaultdict(set)
    others: set[str] = set()
    for document in tree.documents:
        if document.format and not document.context:
            kinds[document.name].add(document.kind)
            formats[document.name] = document.format
            if document.kind == _PROFILE:
                roles[document.name].add(document.record.role_id)  # type: ignore[attr-defined]
        elif document.name in faulty:
            role_id = _get_profiled_role(document)
            if role_id is None:
                others.add(document.name)
            else:
                profiles[document.name].add(role_id)
    for broken in tree.broken:
        if broken.format:
            kinds[broken.name].add(broken.kind)
            formats[broken.name] = broken.format
            if broken.kind in _ROLE_KINDS:
                roles[broken.name] |= broken.declared_ids
        elif broken.kind == _PROFILE and broken.is_kind_certain:
            profiles[broken.name] |= broken.declared_ids
        else:
            others.add(broken.name)
    return DeclaredByFile(
        {name: frozenset(each) for name, each in kinds.items()},
        {name: frozenset(each) for name, each in roles.items()},
        formats,
        {name: frozenset(each) for name, each in profiles.items() if name not in others},
    )


def _get_profiled_role(document: SourceDocument) -> str | None:
    """The role of a profile. None for other documents, and for overlays, which take rights away from agents of another host."""
    record = document.record if document.kind == _PROFILE else None
    return record.role_id if isinstance(record, RoleProfile) and not record.overlay else None


def find_consequences(
    view: OrgView, declared: DeclaredByFile, diagnostics: Iterable[Diagnostic]
) -> Consequences:
    """What the findings of an organization take out of service."""
    withheld: dict[str, Diagnostic] = {}
    is_held_back = False
    for each in diagnostics:
        if each.severity is not Severity.ERROR or _is_of_one_role(each):
            continue
        roles = _find_roles(view.records, declared, each)
        if roles is None:
            is_held_back = True
            continue
        for role in roles:
            withheld.setdefault(role, each)
    records = view.records
    # Without any role in service, the last good version is the better answer.
    is_empty = bool(withheld) and withheld.keys() >= {*records.posts, *records.without_profile}
    return Consequences(withheld, is_held_back or (is_empty and not records.document.format))


def _is_of_one_role(diagnostic: Diagnostic) -> bool:
    """Whether a finding concerns a single role, skill or procedure, so the organization can answer without it
    (docs/adr/0031).
    """
    if diagnostic.subject.startswith("case:"):
        return True  # a mistake in a test, which no answer depends on
    if diagnostic.subject.startswith(("cognitive_skill:", "procedure:")):
        return diagnostic.code in OF_ONE_SKILL
    return diagnostic.code in HARMLESS_IN_ROLES and diagnostic.subject.startswith("role:")


def list_repeated_roles(
    records: OrgRecords, declared: DeclaredByFile, by_file: Mapping[str, Sequence[Diagnostic]]
) -> Iterator[Diagnostic]:
    """The findings about roles of an organization in another format, in files whose declaration of them is not used."""
    form = records.document.format
    if not form:
        return
    for file, diagnostics in by_file.items():
        if file not in records.files and declared.formats.get(file) == form:
            for each in diagnostics:
                kind, _, name = each.subject.partition(":")
                if kind == "role" and name in records.posts:
                    yield each


def _find_roles(
    records: OrgRecords, declared: DeclaredByFile, diagnostic: Diagnostic
) -> frozenset[str] | None:
    """The roles that an error takes out of service. None if it concerns the whole organization."""
    file = diagnostic.place.file
    if file not in declared.formats:
        return _find_profiled_role(records, declared, diagnostic)
    if diagnostic.code in WITHOUT_EFFECT:
        return frozenset()
    if diagnostic.code in OF_ALL:
        return None
    kind, _, name = diagnostic.subject.partition(":")
    if kind == "role" and name in records.posts and records.posts[name].document.format:
        return frozenset({name})
    if kind == "role" and name in declared.roles.get(file, ()):
        return frozenset({name})  # one of several agents in the file, which cannot be read
    kinds = declared.kinds[file]
    if kinds & _ROLE_KINDS:
        # In a file with several roles, an error without a subject could be about any of them.
        roles = declared.roles.get(file, frozenset())
        return roles if len(roles) < 2 else None
    if kinds <= _MISSED_KINDS and declared.formats[file] not in _POLICIES_IN_TOOLS:
        return frozenset()
    return None


def _find_profiled_role(
    records: OrgRecords, declared: DeclaredByFile, diagnostic: Diagnostic
) -> frozenset[str] | None:
    """The role of the organization whose profile has an error. None if the error is elsewhere, or about the chain of command."""
    roles = declared.profiles.get(diagnostic.place.file, frozenset())
    included = frozenset(each for each in roles if each in records.posts or each in records.without_profile)
    if diagnostic.code in OF_ALL:
        return None
    kind, _, name = diagnostic.subject.partition(":")
    if kind == "role":
        return frozenset({name}) if name in included else None
    # In a file with several roles, an error without a subject could be about any of them.
    return included if len(included) == 1 else None


def list_command_edges(view: OrgView, withheld: Collection[str]) -> tuple[Edge, ...]:
    """The edges from roles that are out of service to the superiors that their profiles name, for the chain of command of
    their subordinates. A chain of command ends at a profile that cannot be read.
    """
    edges = (view.get_superior_edge(role_id) for role_id in withheld)
    return tuple(each for each in edges if each is not None and each.attribute == "profile")


def take_out_of_service(records: OrgRecords, withheld: Mapping[str, Diagnostic]) -> OrgRecords:
    """The records without some roles, and without the agents that fill one of them. Subordinates of a role keep it as their
    superior.

    An agent is taken out although it can fill other roles as well: the profile that cannot be used could have limited it.
    """
    hierarchy = {
        role_id: entry
        for role_id, entry in records.organization.hierarchy.items()
        if role_id not in withheld or entry.subordinates
    }
    withheld_agents = dict(_find_withheld_agents(records, withheld))
    return replace(
        records,
        organization=replace(records.organization, hierarchy=hierarchy),
        posts={role_id: post for role_id, post in records.posts.items() if role_id not in withheld},
        without_profile={
            role_id: place for role_id, place in records.without_profile.items() if role_id not in withheld
        },
        agents={
            agent_id: agent for agent_id, agent in records.agents.items() if agent_id not in withheld_agents
        },
        withheld=dict(withheld),
        withheld_agents=withheld_agents,
    )


def _find_withheld_agents(
    records: OrgRecords, withheld: Mapping[str, Diagnostic]
) -> Iterator[tuple[str, WithheldAgent]]:
    """The agents that fill a role that is out of service."""
    for agent_id, agent in records.agents.items():
        roster = agent.document.record
        assert isinstance(roster, CrewRoster)
        for number, assignment in enumerate(agent.record.assignments):
            is_here = (assignment.org or roster.org) in (None, records.org_id)
            if is_here and assignment.role in withheld:
                place = agent.place("assignments", number, "role")
                yield agent_id, WithheldAgent(assignment.role, place, withheld[assignment.role])
                break


def digest_faults(digest: str, withheld: Mapping[str, Diagnostic]) -> str:
    """The digest of an organization whose answers also depend on errors, without the names of files, which depend on the
    current folder.
    """
    lines = [digest]
    for role_id, fault in sorted(withheld.items()):
        place = fault.place
        lines.append(f"{role_id}\0{fault.code}\0{place.line}\0{place.column}\0{fault.message}")
    return "sha256:" + hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def report_out_of_service(records: OrgRecords) -> Iterator[Diagnostic]:
    """The findings that name the roles and agents that are out of service."""
    of = f"of organization {quote(records.org_id)} is out of service"
    for role_id, fault in records.withheld.items():
        yield ROLE_OUT_OF_SERVICE.at(
            fault.place,
            f"role {quote(role_id)} {of}, because its file has an error ({fault.code})",
            "correct the error; the other roles answer",
            f"role:{role_id}",
        )
    for agent_id, agent in records.withheld_agents.items():
        yield AGENT_OUT_OF_SERVICE.at(
            agent.place,
            f"agent {quote(agent_id)} {of}, because its role {quote(agent.role_id)} is",
            f"correct the error at {agent.fault.place}, or end the assignment",
            f"agent:{agent_id}",
        )
