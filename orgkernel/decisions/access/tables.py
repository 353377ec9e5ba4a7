"""What decisions about one organisation are made from, compiled as it is asked for and kept with the view."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from orgkernel.decisions.access.cells import Cell, build_cell
from orgkernel.decisions.access.holders import NO_RANK, Holder, rank_now, role_rank
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.decisions.access.subjects import UNKNOWN_SENDER, Identity, identify, identify_role
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.questions import OrgView
from orgkernel.records.directory import BUILT_IN_ORIGINS
from orgkernel.records.organization import USER

# The departments and the rank of a role.
Standing = tuple[frozenset[str], int]


class Standings(NamedTuple):
    """The departments and ranks of all roles: many roles, few that differ."""

    kinds: tuple[Standing, ...]
    of_place: list[int]
    """Which of them each role has, in the order of the hierarchy."""


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
        self.able_roles: dict[tuple[str, str], Any] = {}
        """Action and tool to the roles that can, as far as it was asked."""
        self.holders: dict[str, Holder] = {}
        """Subjects as far as they were asked about."""
        self._stored: tuple[StateView, frozenset[str]] | None = None

    @cached_property
    def outside(self) -> dict[str, tuple[str, ...]]:
        """Everybody outside the crew by kind, in the order of declaration."""
        records = self.view.records
        names = {
            "person": (*records.people, USER, UNKNOWN_SENDER),
            "system": (*BUILT_IN_ORIGINS, *records.system_origins),
            "webhook": tuple(records.webhooks),
        }
        return {kind: tuple(f"{kind}:{name}" for name in dict.fromkeys(names[kind])) for kind in names}

    def holder(self, subject: str) -> Holder | None:
        """A subject; None for a name that nothing declares."""
        found = self.holders.get(subject)
        if found is None:
            identity = identify(self.view, subject)
            if identity is None:
                return None
            found = Holder(self.view, self.policies, identity)
            if subject == found.subject:
                self.holders[subject] = found
        return found

    def holder_in_roles(self, holder: Holder, role: str, cell: Cell) -> Holder:
        """A subject that fills a role besides its own, for one resource: what a remedy assumes."""
        identity = holder.identity
        roles = (*identity.roles, role)
        if identity.kind == "role":
            wider = identify_role(self.view, roles)
        else:
            keys = (identity.subject, *(f"role:{each}" for each in roles))
            wider = Identity(identity.subject, identity.kind, identity.id, keys, roles, name=identity.name)
        other = self.holder(f"role:{role}")
        assert other is not None
        return holder.joined(self.view, self.policies, wider, other, cell.resource)

    @cached_property
    def role_subjects(self) -> tuple[str, ...]:
        """Every role as a subject, in the order of the hierarchy."""
        return tuple(f"role:{role}" for role in self.view.roles)

    @cached_property
    def named_places(self) -> frozenset[int]:
        """Positions in the hierarchy of the roles that policies name."""
        order = self.view.order
        return frozenset(order[role] for role in self.policies.named_roles if role in order)

    @cached_property
    def standings(self) -> Standings:
        """What caps each role, in the order of the hierarchy: to read a profile costs more than to decide."""
        view = self.view
        numbers: dict[Standing, int] = {}
        of_place = []
        for role in view.roles:
            department = view.records.posts[role].profile.department
            standing = frozenset(() if department is None else (department,)), role_rank(view, role)
            of_place.append(numbers.setdefault(standing, len(numbers)))
        return Standings(tuple(numbers), of_place)

    def roles_with_stored(self, state: StateView) -> frozenset[str]:
        """The roles a state holds grants or restrictions for, or a raised tier, as subjects; looked up once for a state."""
        known = self._stored
        if known is None or known[0] is not state:
            keys = (
                key for key in (*state.grants, *state.restrictions, *state.raised) if key.startswith("role:")
            )
            known = self._stored = state, frozenset(keys)
        return known[1]

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
    """The tables of a view. Two threads may both compile them; either are kept."""
    tables: AccessTables | None = view.access
    if tables is None:
        tables = AccessTables(view, PolicyTable.of(view.records.policies.values()), {})
        view.access = tables
    return tables
