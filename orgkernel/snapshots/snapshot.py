"""The immutable result of one load (docs/architecture.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UnknownAgent, UnknownRole
from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.out_of_service import describe_refusal
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.spoken_names import suggest_role
from orgkernel.loading.sources import LoadedFiles, SourceDocument

if TYPE_CHECKING:
    from orgkernel.graph.org_graph import OrgGraph


FoundInDocuments = Mapping[SourceDocument, tuple[Diagnostic, ...]]
"""The findings of rules about single documents, by document."""


class FoundBefore(NamedTuple):
    """The findings that the next load can reuse, because each depends on only one document."""

    in_documents: FoundInDocuments
    in_profiles: FoundInDocuments
    """Findings about profiles without overrides that belong to at most one organization."""


NOTHING_FOUND = FoundBefore({}, {})


class OrgSnapshot(msgspec.Struct, frozen=True, dict=True, weakref=True):
    """One organization with its findings."""

    records: OrgRecords
    columns: EdgeColumns
    index: OrgIndex
    diagnostics: tuple[Diagnostic, ...] = ()
    may_answer: bool = True
    """Whether none of its errors concerns more than single roles, skills or procedures."""

    @cached_property
    def graph(self) -> OrgGraph:
        """The organization as a graph. networkx is imported on first use."""
        from orgkernel.graph.org_graph import OrgGraph

        return OrgGraph(self.records, self.columns)

    def list_findings_about(self, subject: str) -> tuple[Diagnostic, ...]:
        """The findings about one subject, such as `role:co`."""
        return self._by_subject.get(subject, ())

    @cached_property
    def _by_subject(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        diagnostics_by_subject: dict[str, list[Diagnostic]] = {}
        for each in self.diagnostics:
            diagnostics_by_subject.setdefault(each.subject, []).append(each)
        return {subject: tuple(those) for subject, those in diagnostics_by_subject.items()}

    @property
    def org_id(self) -> str:
        """The id of the organization."""
        return self.records.org_id

    @property
    def digest(self) -> str:
        """The digest of the names and contents of all documents of the organization."""
        return self.records.digest

    def require_role(self, role_id: str) -> None:
        """Raise `UnknownRole` if the organization does not have the role."""
        view = self.index
        if (refusal := describe_refusal(self.records, f"role:{role_id}")) is not None:
            raise UnknownRole(*refusal)
        if not view.is_role(role_id):
            raise UnknownRole(
                f"organization {quote(self.org_id)} has no role {quote(role_id)}", suggest_role(view, role_id)
            )

    @property
    def has_errors(self) -> bool:
        """Whether one of its findings is an error."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)


def require_declared_agent(records: OrgRecords, agent_id: str) -> None:
    """Raise `UnknownAgent` if no roster of the organization declares the agent."""
    if (refusal := describe_refusal(records, f"agent:{agent_id}")) is not None:
        raise UnknownAgent(*refusal)
    agents = records.agents
    if agent_id not in agents:
        help = did_you_mean(agent_id, agents) or (f"agents are {listing(agents)}" if agents else "")
        raise UnknownAgent(f"organization {quote(records.org_id)} has no agent {quote(agent_id)}", help)


class Snapshot(msgspec.Struct, frozen=True, dict=True, weakref=True):
    """The result of one load: all organizations and findings."""

    organizations: Mapping[str, OrgSnapshot]
    diagnostics: tuple[Diagnostic, ...]
    """All findings to report, by file, line and column."""
    tree: LoadedFiles
    digest: str
    found_before: FoundBefore = NOTHING_FOUND
    """Findings for the next load, which reads only changed documents."""

    def list_reported(self, selection: frozenset[str]) -> frozenset[str]:
        """Names of the requested files: those at the paths, and the profiles that their organizations include."""
        return list_files_to_report(
            self.tree, (each.records for each in self.organizations.values()), selection
        )

    @property
    def names_of_documents(self) -> frozenset[str]:
        """Names of the files with documents, readable or not, without the catalogs that come with the package."""
        read = {
            each.name
            for each in self.tree.documents
            if not each.shared and not (each.format and each.context)
        }
        return frozenset(read | {each.name for each in self.tree.broken})

    @property
    def read_anything(self) -> bool:
        """Whether there was a document at the paths, readable or not."""
        return any(not document.context for document in self.tree.documents) or bool(self.diagnostics)


def does_cover_file(name: str, file: str) -> bool:
    """Whether a shown name is that of this file, or of a folder above it."""
    if name in ("", "."):
        return not os.path.isabs(file)  # names of files outside the current folder are full paths
    return name == file or file.startswith(f"{name}/")


def _is_selected(file: str, selection: frozenset[str]) -> bool:
    """Whether one of these names is that of a file, or of a folder above it. A tree can have thousands of both."""
    name = file
    while name not in selection:
        name = name.rpartition("/")[0]
        if not name:
            return any(does_cover_file(each, file) for each in selection & {"", ".", "/"})
    return True


def list_files_to_report(
    tree: LoadedFiles, organizations: Iterable[OrgRecords], selection: frozenset[str] | None
) -> frozenset[str]:
    """Names of the files whose findings are reported."""
    context = {document.name for document in tree.documents if document.context}
    reported = {
        name
        for name in tree.paths
        if (name not in context if selection is None else _is_selected(name, selection))
    }
    homes: set[str] = set()
    for records in organizations:
        if records.document.name in reported:
            reported |= {post.document.name for post in records.posts.values()}
            homes.add(os.path.dirname(records.document.path))
    # A request for an organization includes its sources.
    for file in tree.files:
        if not homes.isdisjoint(file.located.root.homes):
            reported.add(file.located.name)
    return frozenset(reported)
