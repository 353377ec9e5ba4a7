"""What decisions about one organisation are made from, compiled as it is asked for and kept with the view."""

from __future__ import annotations

from orgkernel.decisions.access.cells import Cell, build_cell
from orgkernel.decisions.access.holders import NO_RANK, Holder, rank_now
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.decisions.access.subjects import Identity, identify, identify_role
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.questions import OrgView


class AccessTables:
    """Subjects and resources of one organisation."""

    def __init__(
        self,
        view: OrgView,
        policies: PolicyTable,
        cells: dict[str, Cell],
        removed: frozenset[str] = frozenset(),
    ) -> None:
        self.view = view
        self.org_id = view.org_id
        self.snapshot = view.digest
        self.policies = policies
        self.cells = cells
        self.declares_policies = not removed.issuperset(view.records.policies)
        """Whether anything is declared about people, system origins and webhooks, enabled or not."""
        self._holders: dict[str, Holder] = {}

    def holder(self, subject: str) -> Holder | None:
        """A subject; None for a name that nothing declares."""
        found = self._holders.get(subject)
        if found is None:
            identity = identify(self.view, subject)
            if identity is None:
                return None
            found = Holder(self.view, self.policies, identity)
            if subject == found.subject:
                self._holders[subject] = found
        return found

    def holder_in_roles(self, identity: Identity, roles: tuple[str, ...]) -> Holder:
        """A subject that fills these roles besides its own: what a remedy assumes."""
        everything = tuple(dict.fromkeys((*identity.roles, *roles)))
        if identity.kind == "role":
            return Holder(self.view, self.policies, identify_role(self.view, everything))
        keys = (identity.subject, *(f"role:{role}" for role in everything))
        agent = Identity(identity.subject, identity.kind, identity.id, keys, everything, name=identity.name)
        return Holder(self.view, self.policies, agent)

    def lacking(self, policies: frozenset[str]) -> AccessTables:
        """The same without some policies: what a remedy assumes."""
        return AccessTables(self.view, self.policies.without(policies), self.cells, policies)

    def find(self, resource: str) -> tuple[Cell, str | None]:
        """A resource, and the path within it that is asked for, if one is."""
        found = self.cells.get(resource)
        if found is not None:
            return found, None
        cell, path = build_cell(self.view, resource)
        known = self.cells.get(cell.resource)
        if known is None:
            known = cell
            if not cell.unknown:
                self.cells[cell.resource] = cell
        return known, path

    def rank_of(self, state: StateView, holder: Holder) -> str | None:
        """The rank of a holder; None for one the ladder does not have."""
        step = rank_now(self.view, state, holder)
        return None if step == NO_RANK else self.view.records.ranks[step].id


def tables_of(view: OrgView) -> AccessTables:
    """The tables of a view."""
    return view.remember(
        "access", lambda: AccessTables(view, PolicyTable.of(view.records.policies.values()), {})
    )
