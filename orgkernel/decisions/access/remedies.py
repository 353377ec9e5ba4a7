"""What would change a denial: all minimal sets of up to three changes that would allow the request (design §6).

A change is a higher rank, a qualification, a grant with what it waives, another role besides one's own, or a policy
removed. A set is minimal when no other one that works asks for less: fewer changes, a lower rank, fewer waivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.candidates import helpful_roles
from orgkernel.decisions.access.case import Case
from orgkernel.decisions.access.cells import is_named
from orgkernel.decisions.access.decision import Change, Remedy
from orgkernel.decisions.access.holders import Assumed, Holder, rank_now, rank_number
from orgkernel.decisions.access.qualified import missing_qualifications
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.stored import WAIVED
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import Grant, Waiver
from orgkernel.diagnostics.wording import quote
from orgkernel.records.levels import LEVELS

MOST_CHANGES = 3
# Roles that are looked at, nearest in the hierarchy first: whoever has thousands of colleagues needs no list of them.
MOST_ROLES = 5

_COMMAND = (
    codes.TARGET_NOT_ALLOWED
    | codes.CANNOT_DELEGATE
    | codes.DISPATCH_EDGE_FORBIDDEN
    | codes.WORKER_CANNOT_DISPATCH
)
_BY_GRANT = codes.NOT_BOUND_TO_ROLE | codes.NO_POLICY_MATCH | codes.ASK_APPROVAL | _COMMAND
_BY_POLICY = (
    codes.POLICY_DENY | codes.POLICY_CEILING | codes.ASK_APPROVAL | codes.NO_POLICY_MATCH | codes.PARENT_CAP
)
_BY_ROLE = (
    codes.NOT_VISIBLE | codes.NOT_IN_RESTRICTED_TO | codes.NOT_BOUND_TO_ROLE | codes.RANK_TOO_LOW
    | codes.QUALIFICATION_MISSING | codes.POLICY_DENY | codes.POLICY_CEILING | codes.ASK_APPROVAL | codes.POSITION_CAP
    | codes.PARENT_CAP | codes.PACE_CAP | _COMMAND
)  # fmt: skip
_WAIVERS: tuple[Waiver, ...] = get_args(Waiver)
_WAIVER_OF = {WAIVED[waiver]: waiver for waiver in _WAIVERS}
_FIXABLE = _BY_GRANT | _BY_POLICY | _BY_ROLE | codes.QUALIFICATION_MISSING

Changes = frozenset[Change]
_Assumption = tuple[AccessTables, Holder]


def find_remedies(case: Case) -> tuple[Remedy, ...]:
    """Every minimal remedy, the shortest first; each has been tried by deciding again."""
    search = _Search(case)
    search.run()
    ordered = sorted(
        (tuple(sorted(changes)) for changes in search.minimal()), key=lambda each: (len(each), each)
    )
    return tuple(Remedy(changes, " and ".join(map(render_change, changes))) for changes in ordered)


def render_change(change: Change) -> str:
    """A change as something to do.

    >>> render_change(Change("grant", "tool:deploy", ("rank",), "full"))
    'grant `tool:deploy` at level `full`, waiving rank'
    """
    if change.kind == "grant":
        waiving = f", waiving {', '.join(change.waives)}" if change.waives else ""
        return f"grant {quote(change.value)} at level {quote(change.level)}{waiving}"
    verbs = {
        "rank": "promote to",
        "qualification": "pass",
        "role": "fill role",
        "policy_removed": "remove policy",
    }
    return f"{verbs[change.kind]} {quote(change.value)}"


def failing_after(
    case: Case,
    changes: Iterable[Change],
    assumed: dict[tuple[frozenset[str], str], _Assumption] | None = None,
) -> int:
    """What fails when the request is decided again with the changes made.

    `assumed` keeps the subject in another role and with policies removed, for more questions about the same case.
    """
    assert case.holder is not None
    view = case.tables.view
    chosen = list(changes)
    removed = frozenset(change.value for change in chosen if change.kind == "policy_removed")
    if removed and case.cell.kind == "credential" and not is_named(view.records, case.cell.id, removed):
        return codes.CREDENTIAL_UNKNOWN
    role = next((change.value for change in chosen if change.kind == "role"), "")
    kept = {} if assumed is None else assumed
    if (removed, role) not in kept:
        kept[removed, role] = _assume(case, removed, role)
    tables, holder = kept[removed, role]
    ranks = [rank_number(view, change.value) for change in chosen if change.kind == "rank"]
    holder.assumed = Assumed(
        ranks[0] if ranks else None,
        frozenset(change.value for change in chosen if change.kind == "qualification"),
        tuple(_grant(change) for change in chosen if change.kind == "grant"),
    )
    return weigh_run(tables, case.state, holder, case.cell, case.request.action, case.path, case.request)[0]


def _assume(case: Case, removed: frozenset[str], role: str) -> _Assumption:
    """The tables without some policies, and the subject, in another role where one is named."""
    tables = case.tables.lacking(removed) if removed else case.tables
    holder = tables.holder(case.request.subject)
    assert holder is not None
    return tables, tables.holder_in_roles(holder, role, case.cell) if role else holder.copied()


def _grant(change: Change) -> Grant:
    level = next(level for level in LEVELS if level == change.level)
    waives = tuple(waiver for waiver in _WAIVERS if waiver in change.waives)
    return Grant("", "", (change.value,), level, waives)


class _Search:
    """A walk over sets of changes: whatever fails first has to be answered by one of the changes that touch it."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._failing: dict[Changes, int] = {}
        self._roles: tuple[str, ...] | None = None
        self._assumed: dict[tuple[frozenset[str], str], _Assumption] = {}

    def run(self) -> None:
        """Try every set that could work."""
        pending: list[Changes] = [frozenset()]
        seen: set[Changes] = set()
        while pending:
            changes = pending.pop()
            if changes in seen:
                continue
            seen.add(changes)
            failing = self._failing[changes] = failing_after(self._case, changes, self._assumed)
            if failing & ~_FIXABLE or not failing:
                continue
            options = min(
                (tuple(self._options(changes, bit)) for bit in codes.NAMES if failing & bit), key=len
            )
            pending += (each for each in options if len(each) <= MOST_CHANGES)

    def minimal(self) -> list[Changes]:
        """The sets that work, without those that ask for more than another."""
        working = sorted(
            (changes for changes, failing in self._failing.items() if not failing and changes), key=len
        )
        least: list[Changes] = []
        for changes in working:
            if not any(self._asks_less(other, changes) for other in least):
                least = [
                    other
                    for other in least
                    if len(other) < len(changes) or not self._asks_less(changes, other)
                ]
                least.append(changes)
        return least

    def _asks_less(self, less: Changes, more: Changes) -> bool:
        return all(one in more or any(self._is_less(one, other) for other in more) for one in less)

    def _is_less(self, one: Change, other: Change) -> bool:
        if one.kind != other.kind:
            return False
        if one.kind == "rank":
            view = self._case.tables.view
            return rank_number(view, one.value) <= rank_number(view, other.value)
        if one.kind == "grant":
            return set(one.waives) <= set(other.waives)
        return one == other

    def _options(self, changes: Changes, bit: int) -> Iterator[Changes]:
        """The sets that come from these by one change that could take a failing bit away."""
        case, kinds = self._case, {change.kind for change in changes}
        assert case.holder is not None
        crew = case.holder.is_crew
        if bit & codes.RANK_TOO_LOW and crew and "rank" not in kinds:
            yield from (changes | {change} for change in self._ranks())
        if bit & codes.QUALIFICATION_MISSING and crew:
            passed = {change.value for change in changes if change.kind == "qualification"}
            missing = missing_qualifications(
                case.tables.view.records, case.state, case.holder, case.cell, case.request.context.now
            )
            # All of them have to be passed, so one after the other is enough.
            yield from (changes | {Change("qualification", each)} for each in missing if each not in passed)
        if bit & _BY_GRANT or (crew and bit in _WAIVER_OF):
            yield from self._grants(changes, bit)
        if bit & _BY_ROLE and crew and "role" not in kinds:
            yield from (changes | {Change("role", role)} for role in self._other_roles())
        if bit & _BY_POLICY:
            removed = {change.value for change in changes if change.kind == "policy_removed"}
            yield from (
                changes | {Change("policy_removed", policy)}
                for policy in self._policies()
                if policy not in removed
            )

    def _ranks(self) -> Iterator[Change]:
        """The lowest rank that is high enough."""
        case = self._case
        levels = case.cell.rank_levels
        assert case.holder is not None
        if levels is None:
            return
        now = rank_now(case.tables.view, case.state, case.holder)
        for step, rank in enumerate(case.tables.view.records.ranks):
            if step > now and levels[step] >= case.required:
                yield Change("rank", rank.id)
                return

    def _grants(self, changes: Changes, bit: int) -> Iterator[Changes]:
        grant = next((change for change in changes if change.kind == "grant"), None)
        waives = set() if grant is None else set(grant.waives)
        if bit in _WAIVER_OF:
            waives.add(_WAIVER_OF[bit])
        wider = Change(
            "grant", self._case.request.resource, tuple(sorted(waives)), LEVELS[self._case.required]
        )
        if wider != grant:
            yield (changes - {grant} if grant is not None else changes) | {wider}

    def _other_roles(self) -> tuple[str, ...]:
        """Roles that are given the resource, that see it, or that it is restricted to."""
        if self._roles is None:
            case = self._case
            assert case.holder is not None
            own = case.holder.identity.roles
            near = case.tables.view.remember(
                ("helpful roles", case.cell.resource),
                lambda: helpful_roles(case.tables, case.cell, MOST_ROLES),
            )
            self._roles = tuple([role for role in near if role not in own][:MOST_ROLES])
        return self._roles

    def _policies(self) -> tuple[str, ...]:
        """Policies that decide now, about the subject or whom it acts for."""
        case = self._case
        parents = [
            case.tables.holder(each) for each in (case.request.on_behalf_of, *case.request.via) if each
        ]
        found = {
            policy.id
            for holder in (case.holder, *parents)
            if holder is not None
            for policy in holder.matching(case.request.context)
            if policy.decisive
        }
        return tuple(sorted(found))
