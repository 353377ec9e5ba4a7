"""What one load yields: immutable, built once, swapped whole (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UnknownRole
from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.records import OrgRecords
from orgkernel.index.org_index import OrgIndex
from orgkernel.loading.sources import SourceDocument, Tree

if TYPE_CHECKING:
    from orgkernel.graph.org_graph import OrgGraph


FoundInDocuments = Mapping[SourceDocument, tuple[Diagnostic, ...]]


class FoundBefore(NamedTuple):
    """What rules that look at one document at a time found in each: the next load takes it over with the document."""

    in_documents: FoundInDocuments
    in_profiles: FoundInDocuments
    """In profiles that count as they are written."""


NOTHING_FOUND = FoundBefore({}, {})


@dataclass(frozen=True)
class OrgSnapshot:
    """One organization as it was read, with everything found about it."""

    records: OrgRecords
    columns: EdgeColumns
    index: OrgIndex
    diagnostics: tuple[Diagnostic, ...] = ()

    @cached_property
    def graph(self) -> OrgGraph:
        """The organization as a graph; networkx is imported when it is first asked for."""
        from orgkernel.graph.org_graph import OrgGraph

        return OrgGraph(self.records, self.columns)

    def findings_about(self, subject: str) -> tuple[Diagnostic, ...]:
        """What was found about one subject, such as `role:co`."""
        return self._by_subject.get(subject, ())

    @cached_property
    def _by_subject(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        found: dict[str, list[Diagnostic]] = {}
        for each in self.diagnostics:
            found.setdefault(each.subject, []).append(each)
        return {subject: tuple(those) for subject, those in found.items()}

    @property
    def org_id(self) -> str:
        """Id of the organization."""
        return self.records.org_id

    @property
    def digest(self) -> str:
        """Of the names and contents of everything the organization is made of."""
        return self.records.digest

    def require_role(self, role_id: str) -> None:
        """Raise `UnknownRole` where the organization has no such role."""
        view = self.index
        if not view.is_role(role_id):
            help = did_you_mean(role_id, view.roles) or f"roles are {listing(view.roles)}"
            raise UnknownRole(f"organization {quote(self.org_id)} has no role {quote(role_id)}", help)

    @property
    def has_errors(self) -> bool:
        """Whether anything found about it is an error."""
        return any(found.severity is Severity.ERROR for found in self.diagnostics)


@dataclass(frozen=True)
class Snapshot:
    """Everything that was read at once."""

    organizations: Mapping[str, OrgSnapshot]
    diagnostics: tuple[Diagnostic, ...]
    """All findings to report, in the order a reader goes through the files."""
    tree: Tree
    digest: str
    found_before: FoundBefore = NOTHING_FOUND
    """For the next load, which reads few documents anew; empty where the snapshot comes from the cache."""

    @property
    def read_anything(self) -> bool:
        """Whether there was a document, readable or not, at the paths."""
        return any(not document.context for document in self.tree.documents) or bool(self.diagnostics)


def covers(name: str, file: str) -> bool:
    """Whether a shown name is that of this file, or of a folder the file lies in."""
    return name in ("", ".", file) or file.startswith(f"{name}/")
