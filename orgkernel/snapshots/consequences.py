"""Decides what an error takes out of service: an agent, a skill, nothing, or the whole organization.

In another format, every agent has an author of its own, so an error in one file takes out only what this file declares.
In orgkernel documents, only the errors of docs/adr/0031 concern a single role.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.sources import Tree

_ROLE_KINDS = frozenset({"role_profile", "standing_order"})
# Documents of other formats without which the agents are only less able: skills, tools and tasks.
_MISSED_KINDS = frozenset({"cognitive_skill", "tool_catalog", "procedure_catalog", "skill_catalog"})
# Formats in which these documents also take rights away, so without them a role could do more.
_POLICIES_IN_TOOLS = frozenset({"agent-zero"})
OF_ALL = frozenset({"ORG203", "ORG204", "ORG205", "ORG206", "ORG211", "ORG213"})
"""Errors about a role that concern the whole chain of command."""
WITHOUT_EFFECT = frozenset({"ORG704"})
"""Errors that no answer depends on, although they must be mended."""
# An unknown domain, plan, tool or skill has no effect in a role. In a policy, a catalog or an organization it could mean that
# something is not denied.
_UNKNOWN_NAMES = frozenset({"ORG301", "ORG302", "ORG303", "ORG304", "ORG626", "ORG628"})
# A skill with one of these errors is withheld from every subject; a procedure without its fallback falls to the next tier.
_SHUT = frozenset({"ORG621", "ORG622", "ORG623", "ORG627", "ORG628"})


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


def list_declared_by_file(tree: Tree) -> DeclaredByFile:
    """The kinds, roles and formats of all files in other formats."""
    kinds: dict[str, set[str | None]] = defaultdict(set)
    roles: dict[str, set[str]] = defaultdict(set)
    formats: dict[str, str] = {}
    for document in tree.documents:
        if document.format and not document.context:
            kinds[document.name].add(document.kind)
            formats[document.name] = document.format
            if document.kind == "role_profile":
                roles[document.name].add(document.record.role_id)  # type: ignore[attr-defined]
    for broken in tree.broken:
        if broken.format:
            kinds[broken.name].add(broken.kind)
            formats[broken.name] = broken.format
            if broken.kind in _ROLE_KINDS:
                roles[broken.name] |= broken.declared_ids
    return DeclaredByFile(
        {name: frozenset(each) for name, each in kinds.items()},
        {name: frozenset(each) for name, each in roles.items()},
        formats,
    )


def find_consequences(
    records: OrgRecords, declared: DeclaredByFile, diagnostics: Iterable[Diagnostic]
) -> Consequences:
    """What the findings of an organization take out of service."""
    withheld: dict[str, Diagnostic] = {}
    is_held_back = False
    for each in diagnostics:
        if each.severity is not Severity.ERROR or _is_of_one_role(each):
            continue
        roles = _find_roles(records, declared, each)
        if roles is None or any(_has_subordinates(records, role) for role in roles):
            is_held_back = True
            continue
        for role in roles:
            withheld.setdefault(role, each)
    return Consequences(withheld, is_held_back)


def _is_of_one_role(diagnostic: Diagnostic) -> bool:
    """Whether a finding concerns a single role, skill or procedure, so the organization can answer without it
    (docs/adr/0031).
    """
    if diagnostic.subject.startswith("case:"):
        return True  # a mistake in a test, which no answer depends on
    if diagnostic.subject.startswith(("cognitive_skill:", "procedure:")):
        return diagnostic.code in _SHUT
    return diagnostic.code in _UNKNOWN_NAMES and diagnostic.subject.startswith("role:")


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
        return None
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


def _has_subordinates(records: OrgRecords, role_id: str) -> bool:
    entry = records.organization.hierarchy.get(role_id)
    return entry is not None and bool(entry.subordinates)


def take_out_of_service(records: OrgRecords, withheld: Mapping[str, Diagnostic]) -> OrgRecords:
    """The records without the posts of some roles."""
    hierarchy = {
        role_id: entry for role_id, entry in records.organization.hierarchy.items() if role_id not in withheld
    }
    return replace(
        records,
        organization=replace(records.organization, hierarchy=hierarchy),
        posts={role_id: post for role_id, post in records.posts.items() if role_id not in withheld},
        without_profile={
            role_id: place for role_id, place in records.without_profile.items() if role_id not in withheld
        },
        withheld=dict(withheld),
    )
