"""What decisions about one organization are made from, compiled as it is asked for and kept with the view."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from orgkernel.decisions.access.cells import Cell, build_cell
from orgkernel.decisions.access.holders import NO_RANK, Holder, rank_now, role_rank
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.decisions.access.subjects import UNKNOWN_SENDER, Identity, identify, identify_role
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView
from orgkernel.records.directory import BUILT_IN_ORIGINS
from orgkernel.records.organization import USER

# The departments and the rank of a role.
Standing = tuple[frozenset[str], int]


class AccessTables:
    """Subjects and resources of one organization."""

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
        self.standing_kinds: dict[Standing, int] = {}
        """The departments and ranks of roles, as far as they were asked for: many roles, few that differ."""
        self._standing_of = [-1] * len(view.roles)
        self.holders: dict[str, Holder] = {}
        """Subjects as far as they were asked about."""
        self._stored: tuple[StateView, frozenset[str]] | None = None
        self.marked: tuple[StateView, object] = (EMPTY_STATE, object())
        """A state, and what stands for it in a holder: a holder that kept the state would keep it alive."""

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

    def standings(self, places: Sequence[int]) -> list[int]:
        """The number in `standing_kinds` of each of these roles, by their positions in the hierarchy."""
        known = self._standing_of
        for place in places:
            if known[place] < 0:
                known[place] = self.standing_kinds.setdefault(self._standing(place), len(self.standing_kinds))
        return list(map(known.__getitem__, places))

    def _standing(self, place: int) -> Standing:
        role = self.view.roles[place]
        department = self.view.records.posts[role].profile.department
        return frozenset(() if department is None else (department,)), role_rank(self.view, role)

    def is_stored_for(self, holder: Holder, state: StateView) -> bool:
        """Whether a state holds grants or restrictions for somebody; where not, the holder remembers it."""
        marked = self.marked
        if marked[0] is not state:
            # A new mark each time, so that one that a holder remembers never means another state.
            marked = self.marked = (state, object())
        for key in holder.keys:
            if key in state.grants or key in state.restrictions:
                return True
        holder.unstored = marked[1]
        return False

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
