"""What would change a denial: all minimal sets of up to three changes that would allow the request.

A change is a higher rank, a qualification, a grant with what it waives, another role besides one's own, or a policy
removed. Each code says which kinds could take it away. A set is minimal when no other one that works asks for less: fewer
changes, a lower rank, fewer waivers. Each has been tried by deciding again, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.candidates import helpful_roles
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import ChangeKind, Remedy, RemedyChange
from orgkernel.decisions.access.evaluation import Assumed, Evaluation, evaluate
from orgkernel.decisions.access.layer import WAIVERS, ReasonCode
from orgkernel.decisions.access.resource import named_credentials
from orgkernel.decisions.access.subject import Subject, rank_number
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.records.levels import LEVELS

MOST_CHANGES = 3
MOST_ROLES = 5
"""Roles that are looked at, nearest in the hierarchy first: whoever has thousands of colleagues needs no list of them."""
_AT_MOST_ONE: tuple[ChangeKind, ...] = ("rank", "role")

Changes = frozenset[RemedyChange]


def find_remedies(evaluation: Evaluation) -> tuple[Remedy, ...]:
    """Every minimal remedy, the shortest first."""
    search = _Search(evaluation)
    search.run()
    ordered = sorted(
        (tuple(sorted(changes)) for changes in search.minimal()), key=lambda each: (len(each), each)
    )
    return tuple(Remedy(changes, " and ".join(map(render_change, changes))) for changes in ordered)


def render_change(change: RemedyChange) -> str:
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


class _Search:
    """A walk over sets of changes: whatever fails first has to be answered by one of the changes that touch it."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._failing: dict[Changes, int] = {}
        self._assumed: dict[tuple[frozenset[str], str], tuple[AccessTables, Subject]] = {}
        """The tables without some policies, and the subject, in another role where one is named."""
        self._known: dict[ChangeKind, tuple[RemedyChange, ...]] = {}
        """The changes of each kind, as far as they were asked for."""

    def run(self) -> None:
        """Try every set that could work."""
        order = self._evaluation.tables.order
        hopeless = order.bits(code for code in order.failures if not code.remedies)
        pending: list[Changes] = [frozenset()]
        seen: set[Changes] = set()
        while pending:
            changes = pending.pop()
            if changes in seen:
                continue
            seen.add(changes)
            failing = self._failing[changes] = self._try(changes)
            if failing & hopeless or not failing:
                continue
            options = min((tuple(self._options(changes, code)) for code in order.codes_in(failing)), key=len)
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

    def _is_less(self, one: RemedyChange, other: RemedyChange) -> bool:
        if one.kind != other.kind:
            return False
        if one.kind == "rank":
            view = self._evaluation.view
            return rank_number(view, one.value) <= rank_number(view, other.value)
        if one.kind == "grant":
            return set(one.waives) <= set(other.waives)
        return one == other

    def _options(self, changes: Changes, code: ReasonCode) -> Iterator[Changes]:
        """The sets that come from these by one change that could take a failing code away."""
        kinds = {change.kind for change in changes}
        for kind in code.remedies:
            if kind == "grant":
                yield from self._wider_grants(changes, code)
            elif kind not in kinds or kind not in _AT_MOST_ONE:
                yield from (changes | {change} for change in self._changes(kind) if change not in changes)

    def _wider_grants(self, changes: Changes, code: ReasonCode) -> Iterator[Changes]:
        evaluation = self._evaluation
        grant = next((change for change in changes if change.kind == "grant"), None)
        waives = {*(() if grant is None else grant.waives), *(() if code.waiver is None else (code.waiver,))}
        level = LEVELS[evaluation.required]
        wider = RemedyChange("grant", evaluation.request.resource, tuple(sorted(waives)), level)
        if wider != grant:
            yield (changes - {grant} if grant is not None else changes) | {wider}

    def _changes(self, kind: ChangeKind) -> tuple[RemedyChange, ...]:
        if kind not in self._known:
            found = self._other_roles() if kind == "role" else self._of_layer(kind)
            self._known[kind] = tuple(found)
        return self._known[kind]

    def _of_layer(self, kind: ChangeKind) -> Iterable[RemedyChange]:
        return self._evaluation.tables.order.changes[kind](self._evaluation)

    def _other_roles(self) -> Iterable[RemedyChange]:
        """Roles that are given the resource, that see it, or that it is restricted to."""
        evaluation = self._evaluation
        if not evaluation.subject.is_crew:
            return ()
        near = helpful_roles(evaluation.tables, evaluation.resource, MOST_ROLES)
        others = [role for role in near if role not in evaluation.roles][:MOST_ROLES]
        return (RemedyChange("role", role) for role in others)

    def _try(self, changes: Changes) -> int:
        """What fails when the request is decided again with the changes made."""
        evaluation = self._evaluation
        removed = frozenset(change.value for change in changes if change.kind == "policy_removed")
        if removed and evaluation.resource.kind == "credential":
            named = named_credentials(evaluation.view.records, removed)
            if evaluation.resource.id not in named:
                return evaluation.tables.order.codes["CREDENTIAL_UNKNOWN"].bit
        roles = [change.value for change in changes if change.kind == "role"]
        tables, subject = self._assume(removed, roles[0] if roles else "")
        ranks = [rank_number(evaluation.view, change.value) for change in changes if change.kind == "rank"]
        assumed = Assumed(
            ranks[0] if ranks else None,
            frozenset(change.value for change in changes if change.kind == "qualification"),
            tuple(_grant(change) for change in changes if change.kind == "grant"),
        )
        return evaluate(evaluation.again(tables=tables, subject=subject, assumed=assumed)).failing

    def _assume(self, removed: frozenset[str], role: str) -> tuple[AccessTables, Subject]:
        known = self._assumed.get((removed, role))
        if known is None:
            evaluation = self._evaluation
            tables = evaluation.tables.lacking(removed) if removed else evaluation.tables
            subject = tables.subject(evaluation.request.subject)
            assert subject is not None
            if role:
                subject = tables.subject_in_role(subject, role, evaluation.resource)
            known = self._assumed[removed, role] = tables, subject
        return known


def _grant(change: RemedyChange) -> Grant:
    level = next(level for level in LEVELS if level == change.level)
    waives = tuple(waiver for waiver in WAIVERS if waiver in change.waives)
    return Grant("", "", (change.value,), level, waives)
