"""Find remedies for a denial: all minimal sets of up to three changes that would allow the request.

Each code lists the kinds of changes that could remove it. A set is minimal if no other working set needs less: fewer
changes, a lower rank, fewer waivers. Every set is verified by deciding again. Only changes that a command or an edit of
the documents can make are included: a role cannot pass a test, and a role cannot be granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from msgspec.structs import replace

from orgkernel.decisions.access.candidates import find_helpful_roles
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import MAX_CHANGES, ChangeKind, Remedy, RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation, evaluate
from orgkernel.decisions.access.layer import WAIVERS, ReasonCode
from orgkernel.decisions.access.layers.chain_of_command import MAY_HAND_OFF, TARGET_NOT_ALLOWED
from orgkernel.decisions.access.layers.delegation import PARENT_CAP
from orgkernel.decisions.access.layers.identity import RESUMED_AS, is_misspelled
from orgkernel.decisions.access.layers.policies import ALL_APPROVERS
from orgkernel.decisions.access.layers.role_binding import NOT_BOUND_TO_ROLE
from orgkernel.decisions.access.opened import count_opened
from orgkernel.decisions.access.remedy_steps import STATED, render_remedy
from orgkernel.decisions.access.resource import HANDOFF, LOCK, find_named_credentials
from orgkernel.decisions.access.stored import add_grant, drop_restrictions
from orgkernel.decisions.access.subject import Subject, find_essential_tools, get_rank_number
from orgkernel.decisions.evidence.qualifications import build_passing_result
from orgkernel.decisions.evidence.state_view import AgentState, Grant, StateView, ToolLock
from orgkernel.documents.records import DATA_TIERS, LEVELS
from orgkernel.graph.out_of_service import find_out_of_service

MAX_ROLES = 5
"""The number of roles that are tried, in the order of the hierarchy."""
_ONCE_PER_REMEDY: tuple[ChangeKind, ...] = ("rank", "role", "equip")
_OF_OTHERS: tuple[ChangeKind, ...] = ("grant", "lift", "resume", "rank", "qualification")
"""The kinds of changes that can be made for a principal of the subject."""
_WEIGHT = {kind: number for number, kind in enumerate(get_args(ChangeKind))}

Changes = frozenset[RemedyChange]


def find_remedies(evaluation: Evaluation, counted: int = 0) -> tuple[Remedy, ...]:
    """Every minimal remedy, sorted by how much it would allow, least first. For an undeclared subject it is to declare
    it.

    A misspelled subject has no remedy: declaring the misspelled name is not what the caller wants, and the reason of the
    decision already suggests the right one. Nor has a subject that is out of service, whose reason names the error.

    For the first `counted` remedies, the other requests that they would allow are counted, which takes many more decisions.
    """
    if not evaluation.is_declared or evaluation.subject.identity.kind == "unknown":
        if is_misspelled(evaluation) or find_out_of_service(
            evaluation.view.records, evaluation.request.subject
        ):
            return ()
        stranger = RemedyChange("declare", evaluation.request.subject, subject=evaluation.request.subject)
        return (render_remedy(evaluation, (stranger,)),)
    search = RemedySearch(evaluation)
    search.run()
    change_sets = (search.add_circumstances(changes) for changes in search.select_minimal())
    ordered = sorted(
        (tuple(sorted(changes, key=_get_sort_key)) for changes in change_sets), key=_sort_key_widest_first
    )
    return tuple(
        render_remedy(
            evaluation,
            changes,
            count_opened(evaluation, search.apply(frozenset(changes)), changes) if number < counted else "",
        )
        for number, changes in enumerate(ordered)
    )


def _get_sort_key(change: RemedyChange) -> tuple[int, RemedyChange]:
    return _WEIGHT[change.kind], change


def _sort_key_widest_first(changes: tuple[RemedyChange, ...]) -> tuple[object, ...]:
    """Sort key of a remedy: its most permissive change, then the number of changes."""
    return sorted((_WEIGHT[change.kind] for change in changes), reverse=True), len(changes), changes


class RemedySearch:
    """A search over sets of changes. The first failure must be removed by one of the changes that can remove it."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._failing: dict[Changes, int] = {}
        self._assumed: dict[tuple[frozenset[str], str, bool], tuple[AccessTables, Subject]] = {}
        """Cached tables without some policies, and the subject in another role or with additional entries in its own."""
        tool = evaluation.resource.tool
        self._may_become_essential = tool is not None and not isinstance(tool.essential, bool)
        """Whether the tool is essential depending on the other tools of a subject."""

    def run(self) -> None:
        """Try every set that could work."""
        order = self._evaluation.tables.order
        hopeless = order.sum_bits(code for code in order.failures if not code.remedies)
        pending: list[Changes] = [frozenset()]
        seen: set[Changes] = set()
        while pending:
            changes = pending.pop()
            if changes in seen:
                continue
            seen.add(changes)
            tried = self.apply(changes)
            if not tried.failing and self._does_take_lock(changes):
                tried = self._evaluate_taking_lock(tried)
            failing = self._failing[changes] = tried.failing
            # No change removes a hopeless code, and a set that works needs no further change.
            if failing & hopeless or not failing:
                continue
            # Every failing code must be removed, so branching on one is enough. The one with the fewest options is cheapest.
            options = min(
                (tuple(self._find_options(changes, code, tried)) for code in order.list_codes(failing)),
                key=len,
            )
            if self._may_become_essential:
                # Few limits apply to an essential tool, so another role could remove any code.
                options = (*options, *self._add_change(changes, "role", self._evaluation, NOT_BOUND_TO_ROLE))
            pending += (each for each in options if len(each) <= MAX_CHANGES)

    def select_minimal(self) -> list[Changes]:
        """The working sets, without those that need more than another."""
        # Smallest first, so a set is compared with all that could make it superfluous.
        working = sorted((changes for changes, failing in self._failing.items() if not failing), key=len)
        least: list[Changes] = []
        for changes in working:
            if not any(self._does_ask_less(other, changes) for other in least):
                least = [
                    other
                    for other in least
                    if len(other) < len(changes) or not self._does_ask_less(changes, other)
                ]
                least.append(changes)
        return least

    def add_circumstances(self, changes: Changes) -> Changes:
        """The changes, and the circumstances that the caller has to state in addition."""
        tried = self.apply(changes, treats_unstated_as_unmet=False)
        names = dict.fromkeys(name for each in tried.unstated for name in each.needed)
        return changes | {RemedyChange("state", ",".join(names))} if names else changes

    def _does_ask_less(self, less: Changes, more: Changes) -> bool:
        return all(one in more or any(self._is_less(one, other) for other in more) for one in less)

    def _is_less(self, one: RemedyChange, other: RemedyChange) -> bool:
        if one.kind != other.kind or one.subject != other.subject:
            return False
        if one.kind == "rank":
            view = self._evaluation.view
            return get_rank_number(view, one.value) <= get_rank_number(view, other.value)
        if one.kind == "grant":
            return set(one.waives) <= set(other.waives)
        return one == other or one.kind in STATED

    # -- candidate changes -------------------------------------------------------------------------------------------

    def _find_options(self, changes: Changes, code: ReasonCode, trial: Evaluation) -> Iterator[Changes]:
        """The sets that extend these changes by one that could remove a failing code."""
        for kind in code.remedies:
            if kind == "grant":
                about = self._evaluation if trial.action == self._evaluation.action else trial
                yield from self._find_wider_grants(changes, code, about)
            elif kind in STATED:
                # After a change of roles, the file scope and policies are those of the new roles.
                if any(each.kind == kind for each in changes):
                    continue
                yield from (changes | {each} for each in trial.tables.order.changes[kind](trial))
            else:
                # A role brings its own policies and restrictions, which apply once it is filled.
                about = self._evaluation if kind in _ONCE_PER_REMEDY else trial
                yield from self._add_change(changes, kind, about, code)
        if code is PARENT_CAP:
            yield from self._find_options_of_principals(changes, trial)

    def _find_options_of_principals(self, changes: Changes, trial: Evaluation) -> Iterable[Changes]:
        """Changes that could help one of the principals of the subject. Each principal needs help."""
        order = trial.tables.order
        for parent in trial.parents:
            failing = parent.failing & ~(order.asking | order.unstated)
            if failing:
                alternatives = (
                    tuple(self._find_options_for_principal(changes, code, parent))
                    for code in order.list_codes(failing)
                )
                return min(alternatives, key=len)
        return ()

    def _find_options_for_principal(
        self, changes: Changes, code: ReasonCode, parent: Evaluation
    ) -> Iterator[Changes]:
        for kind in code.remedies:
            if kind == "grant":
                yield from self._find_wider_grants(changes, code, parent)
            elif kind in _OF_OTHERS:
                yield from self._add_change(changes, kind, parent, code)

    def _add_change(
        self, changes: Changes, kind: ChangeKind, subject_evaluation: Evaluation, code: ReasonCode
    ) -> Iterator[Changes]:
        if kind == "role" and subject_evaluation.subject.group == "role":
            if not self._can_equip(code):
                return
            kind = "equip"
        used = {(change.kind, change.subject) for change in changes}
        if kind not in _ONCE_PER_REMEDY or (kind, subject_evaluation.subject.subject) not in used:
            yield from (
                changes | {change} for change in self._find(kind, subject_evaluation) if change not in changes
            )

    def _can_equip(self, code: ReasonCode) -> bool:
        """Whether an entry in the profile of a role could remove a code.

        A role that may not delegate is not given a right to hand work down.
        """
        if self._evaluation.resource.kind == "role":
            return self._evaluation.action == HANDOFF and code is TARGET_NOT_ALLOWED
        return code is NOT_BOUND_TO_ROLE

    def _find_wider_grants(
        self, changes: Changes, code: ReasonCode, subject_evaluation: Evaluation
    ) -> Iterator[Changes]:
        if subject_evaluation.resource.kind == "role":
            return
        subject = subject_evaluation.subject.subject
        grant = next((each for each in changes if each.kind == "grant" and each.subject == subject), None)
        waives = {*(() if grant is None else grant.waives), *(() if code.waiver is None else (code.waiver,))}
        level = LEVELS[self._evaluation.required]
        resource = subject_evaluation.request.resource
        wider = RemedyChange("grant", resource, tuple(sorted(waives)), level, subject)
        if wider != grant:
            yield (changes - {grant} if grant is not None else changes) | {wider}

    def _find(self, kind: ChangeKind, subject_evaluation: Evaluation) -> Iterable[RemedyChange]:
        subject = subject_evaluation.subject
        if kind == "role":
            return self._find_other_roles()
        if kind == "equip":
            resource = self._evaluation.resource
            required = self._evaluation.required
            level = LEVELS[required] if resource.kind == "tool" else ""
            # The lowest tier contains no data, so the next one is granted.
            is_tier = resource.kind == "data" and resource.id in DATA_TIERS
            wanted = f"data:{resource.levels[required]}" if is_tier else resource.resource
            return (RemedyChange("equip", wanted, level=level, subject=subject.subject),)
        if kind == "qualification" and not subject.is_agent:
            return ()
        changes = subject_evaluation.tables.order.changes[kind](subject_evaluation)
        if kind in ("rank", "qualification"):
            return (replace(change, subject=subject.subject) for change in changes)
        return changes

    def _find_other_roles(self) -> Iterable[RemedyChange]:
        """Other roles that have the resource, can see it, or are listed in its `restricted_to`."""
        evaluation = self._evaluation
        if not evaluation.subject.is_crew:
            return ()
        near = find_helpful_roles(evaluation.tables, evaluation.resource, MAX_ROLES)
        others = [role for role in near if role not in evaluation.roles][:MAX_ROLES]
        return (RemedyChange("role", role, subject=evaluation.subject.subject) for role in others)

    # -- trying changes ----------------------------------------------------------------------------------------------

    def apply(self, changes: Changes, *, treats_unstated_as_unmet: bool = True) -> Evaluation:
        """Evaluate the request again with the changes made."""
        evaluation = self._evaluation
        values: dict[str, list[RemedyChange]] = {}
        for change in changes:
            values.setdefault(change.kind, []).append(change)
        removed = frozenset(change.value for change in values.get("policy_removed", ()))
        roles = [change.value for change in values.get("role", ())]
        tables, subject = self._assume(removed, roles[0] if roles else "", "equip" in values)
        ranks = [
            change for change in values.get("rank", ()) if change.subject == f"role:{subject.identity.id}"
        ]
        assumed = Assumptions(get_rank_number(evaluation.view, ranks[0].value)) if ranks else None
        if "enable" in values:
            assumed = (assumed or Assumptions())._replace(is_enabled=True)
        state = apply_state_changes(evaluation, values) if values else evaluation.state
        passed = {change.value: change.level for change in values.get("envelope", ())}
        request = evaluation.request
        if passed:
            request = replace(request, envelope={**(request.envelope or {}), **passed})
        again = evaluation.copy_with(
            tables=tables,
            subject=subject,
            state=state,
            assumed=assumed,
            request=request,
            treats_unstated_as_unmet=treats_unstated_as_unmet,
        )
        evaluate(again)
        # The permitted paths, commands and arguments depend on the roles and policies after the changes.
        find = again.tables.order.changes
        flags = (kind in values and values[kind][0] in find[kind](again) for kind in STATED)
        in_file_scope, off_paths, off_commands, off_input = flags
        if any((in_file_scope, off_paths, off_commands, off_input)):
            stated = (assumed or Assumptions())._replace(
                in_file_scope=in_file_scope,
                off_paths=off_paths,
                off_commands=off_commands,
                off_input=off_input,
            )
            again = evaluate(
                again.copy_with(assumed=stated, treats_unstated_as_unmet=treats_unstated_as_unmet)
            )
        if removed and evaluation.resource.kind == "credential":
            named = find_named_credentials(evaluation.view.records, removed)
            if evaluation.resource.id not in named and "equip" not in values:
                again.failing |= evaluation.tables.order.codes["CREDENTIAL_UNKNOWN"].bit
        return again

    def _does_take_lock(self, changes: Changes) -> bool:
        return self._evaluation.action != LOCK and any(each.kind == "lock" for each in changes)

    def _evaluate_taking_lock(self, trial: Evaluation) -> Evaluation:
        """Evaluate taking the lock with the changes made. The lock is for the whole tool, and is taken before the run."""
        resource, request, tables = trial.resource, trial.request, trial.tables
        locks = {tool: lock for tool, lock in trial.state.locks.items() if tool != resource.id}
        alone = replace(
            request, action=LOCK, resource=resource.resource, on_behalf_of=None, via=(), envelope=None
        )
        tool_input = request.context.input
        taking = Evaluation(
            tables, replace(trial.state, locks=locks), alone, LOCK, trial.subject, resource,
            None if tool_input is None else tables.read_paths(resource, None, tool_input), trial.assumed,
        )  # fmt: skip
        taking.treats_unstated_as_unmet = True
        return evaluate(taking)

    def _assume(self, removed: frozenset[str], role: str, equip: bool) -> tuple[AccessTables, Subject]:
        known = self._assumed.get((removed, role, equip))
        if known is None:
            evaluation = self._evaluation
            tables = evaluation.tables.copy_without_policies(removed) if removed else evaluation.tables
            subject = tables.find_subject(evaluation.request.subject)
            assert subject is not None
            if role:
                subject = tables.add_role_to_subject(subject, role, evaluation.resource)
            if equip:
                subject = _equip(evaluation, subject)
            known = self._assumed[removed, role, equip] = tables, subject
        return known


# -- assumptions -----------------------------------------------------------------------------------------------------


def _equip(evaluation: Evaluation, subject: Subject) -> Subject:
    """A role whose profile also lists the requested resource."""
    resource, view = evaluation.resource, evaluation.view
    if resource.kind == "role":
        return subject.equip_with(resource, 0, evaluation.action, MAY_HAND_OFF.bit)
    wider = subject.equip_with(resource, evaluation.required, "", 0)
    if resource.kind == "tool":
        (role,) = subject.identity.roles
        levels = {**view.get_tool_levels(role), resource.id: LEVELS[evaluation.required]}
        wider.essential = subject.essential | find_essential_tools(view, role, levels)
    return wider


def apply_state_changes(evaluation: Evaluation, values: Mapping[str, list[RemedyChange]]) -> StateView:
    """The stored state after the changes that concern it."""
    state, now = evaluation.state, evaluation.request.context.now
    agents, results, locks = dict(state.agents), dict(state.results), state.locks
    for change in values.get("resume", ()):
        agents[change.value] = replace(
            agents[change.value], lifecycle=RESUMED_AS[agents[change.value].lifecycle]
        )
    for change in values.get("rank", ()):
        kind, _, name = change.subject.partition(":")
        if kind == "agent":
            agent = agents.get(name) or AgentState(name)
            agents[name] = replace(agent, rank=change.value, org_id=evaluation.tables.org_id)
    for change in values.get("qualification", ()):
        name = change.subject.partition(":")[2]
        passed = build_passing_result(evaluation.view.records, name, change.value, now)
        results[name] = (*results.get(name, ()), passed)
    for change in values.get("lock", ()):
        lock = ToolLock(evaluation.tables.org_id, change.value, change.subject, token=0, acquired_at=now)
        rest = {tool: each for tool, each in locks.items() if tool != change.value}
        locks = rest if evaluation.action == LOCK else {**rest, change.value: lock}
    if agents != state.agents or results != state.results or locks is not state.locks:
        state = replace(state, agents=agents, results=results, locks=locks)
    for change in (*values.get("grant", ()), *values.get("approvals", ())):
        state = add_grant(state, _grant(change))
    lifted = {change.value for change in values.get("lift", ())}
    return drop_restrictions(state, {change.subject for change in values.get("lift", ())}, lifted)


def _grant(change: RemedyChange) -> Grant:
    level = next(level for level in LEVELS if level == change.level)
    waives = tuple(waiver for waiver in WAIVERS if waiver in change.waives)
    approved_by = (ALL_APPROVERS,) if change.kind == "approvals" else ()
    return Grant("", change.subject, (change.value,), level, waives, approved_by=approved_by)
