"""One decision with everything it was made from, and the lines its reasons rest on."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.access.cells import FULL, Cell
from orgkernel.decisions.access.evaluate import Verdict
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.decisions.state_view import StateView
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.schema import Edge

Said = tuple[str, tuple[Why, ...]]


class Case(msgspec.Struct, frozen=True):
    """One decision, with everything it was made from."""

    tables: AccessTables
    state: StateView
    request: AccessRequest
    holder: Holder | None
    cell: Cell
    path: str | None
    verdict: Verdict | None

    @property
    def required(self) -> int:
        """The level the action requires; full where the resource has no such action."""
        return self.cell.required.get(self.request.action, FULL)

    @property
    def who(self) -> str:
        """The subject, in words."""
        kind, _, name = self.request.subject.partition(":")
        return f"{kind} {quote(name)}"

    @property
    def what(self) -> str:
        """The resource, in words."""
        return f"{self.cell.kind} {quote(self.cell.id)}"


def why_edges(edges: Iterable[Edge]) -> tuple[Why, ...]:
    """The lines of edges, each once."""
    return tuple(dict.fromkeys(why_edge(edge) for edge in edges))


def why_tool(case: Case, field: str) -> tuple[Why, ...]:
    """The line of a tool's field."""
    definition = case.tables.view.records.tools[case.cell.id]
    return (why_place(f"{field} of tool {case.cell.id}", definition.place(field, key=True)),)


def roles_of(case: Case) -> tuple[str, ...]:
    """The roles of the subject."""
    return () if case.holder is None else case.holder.identity.roles


def why_profiles(case: Case, *route: str) -> tuple[Why, ...]:
    """The lines of a field in the profiles of the subject's roles."""
    posts = case.tables.view.records.posts
    return tuple(
        why_place(f"{route[-1]} of role {role}", posts[role].place(*route, key=True))
        for role in roles_of(case)
    )
