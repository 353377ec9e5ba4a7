"""Run a user's decision cases: does the organization decide as its author expects?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.limits import count_usage
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.dispatch.agent_choice import AgentChoice
from orgkernel.decisions.evidence.crew_records import OrgStatus, OrgStatusKind
from orgkernel.decisions.evidence.limit_usage import LimitUsage
from orgkernel.decisions.evidence.qualifications import build_passing_result
from orgkernel.decisions.evidence.state_view import (
    EMPTY_STATE,
    AgentState,
    Grant,
    QualificationResult,
    Restriction,
    StateView,
    ToolLock,
)
from orgkernel.diagnostics import Diagnostic, Place, Related, Severity
from orgkernel.diagnostics.case_rows import MALFORMED_QUESTION, UNANSWERED_CASES, UNMET_EXPECTATION
from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.wording import LISTED, quote
from orgkernel.documents.records import (
    AccessCase,
    AccessQuestion,
    Case,
    Circumstances,
    DecisionCases,
    DispatchCase,
    Given,
    WhatCanCase,
    WhoCanCase,
)
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hygiene.case_names import (
    CaseName,
    DeclaredNames,
    build_unknown_organization,
    find_undeclared_names,
    list_given_names,
    list_question_names,
)
from orgkernel.rules.hygiene.org707_empty_case import RULE as EMPTY_CASE
from orgkernel.rules.hygiene.org707_empty_case import check_case
from orgkernel.rules.hygiene.org708_undeclared_case_name import RULE as UNDECLARED_NAME

Mismatches = Iterator[tuple[str, str]]
"""How an answer differs from the expected one: the field of the expectation, and a sentence."""
# Noon: a question without a time is not about the night.
_NOON = 43_200.0


@dataclass(frozen=True, slots=True)
class Expectation:
    """One question of a case, and whether its answer is the expected one."""

    case: str
    question: str
    """The question in words; for a case that cannot be run, its problem."""
    place: Place
    failures: tuple[Diagnostic, ...] = ()
    is_asked: bool = True
    """Whether the question was asked. It is not if the case or its organization has an error."""

    @property
    def has_passed(self) -> bool:
        """Whether the question was asked and its answer is the expected one."""
        return self.is_asked and not self.failures


def run_cases(kernel: Kernel, documents: Iterable[SourceDocument]) -> Iterator[Expectation]:
    """Ask every question of some documents of cases. A failure points to the line of the expectation.

    An organization that has errors is reported once, at the first case that names it.
    """
    known = {**kernel.state.served, **kernel.state.refused}
    declared: dict[str, DeclaredNames] = {}
    unanswered: set[str] = set()
    for document in documents:
        cases = document.record
        assert isinstance(cases, DecisionCases)
        for number, case in enumerate(cases.cases):
            org = case.org
            if org not in known:
                finding = build_unknown_organization(document, number, case, known)
                error = UNDECLARED_NAME.build_diagnostic(finding)
                yield Expectation(case.name, f"organization {org}", error.place, (error,))
                yield from _skip_questions(document, number, case)
            elif org not in kernel.state.served:
                if org not in unanswered:
                    error = _build_unanswered(kernel, document, number, org)
                    yield Expectation(case.name, f"organization {org}", error.place, (error,))
                unanswered.add(org)
                yield from _skip_questions(document, number, case)
            else:
                if org not in declared:
                    declared[org] = DeclaredNames(kernel.organization(org).snapshot.records)
                yield from _run_case(kernel, document, number, case, declared[org])


def _build_unanswered(kernel: Kernel, document: SourceDocument, number: int, org: str) -> Diagnostic:
    errors = [each for each in kernel.state.refused[org] if each.severity is Severity.ERROR]
    count = f"{len(errors)} error{'s' * (len(errors) != 1)}"
    return Diagnostic(
        document.place("cases", number, "org"),
        UNANSWERED_CASES.code,
        UNANSWERED_CASES.name,
        UNANSWERED_CASES.severity,
        f"organization {quote(org)} has {count}, so its cases are not run",
        "run `orgkernel check` to see the errors",
        f"organization:{org}",
        tuple(Related(each.place, f"{each.code} {each.message}") for each in errors[:LISTED]),
    )


def _skip_questions(document: SourceDocument, number: int, case: Case) -> Iterator[Expectation]:
    for route, question in _list_questions(case):
        yield Expectation(case.name, question, document.place("cases", number, *route), is_asked=False)


def _run_case(
    kernel: Kernel, document: SourceDocument, number: int, case: Case, declared: DeclaredNames
) -> Iterator[Expectation]:
    for finding in check_case(document, number, case):
        yield Expectation(case.name, "nothing", finding.place, (EMPTY_CASE.build_diagnostic(finding),))

    def check_names(names: Iterable[CaseName]) -> tuple[Diagnostic, ...]:
        if case.undeclared:
            return ()
        findings = find_undeclared_names(document, number, case, names, declared)
        return tuple(map(UNDECLARED_NAME.build_diagnostic, findings))

    errors = check_names(list_given_names(case.given))
    access = None
    try:
        access = open_access(kernel, case)
    except ValueError as error:
        # A grant ends on a date that does not exist.
        message = f"case {quote(case.name)}, given: {error}"
        given = document.place("cases", number, "given")
        errors += (MALFORMED_QUESTION.at(given, message, "", f"case:{case.name}"),)
    if errors or access is None:
        yield Expectation(case.name, "given", errors[0].place, errors)
        yield from _skip_questions(document, number, case)
        return
    for (route, question), names, ask in zip(
        _list_questions(case), list_question_names(case), _build_questions(kernel, case, access), strict=True
    ):
        place = document.place("cases", number, *route)
        failures = check_names(names)
        if not failures:
            failures = tuple(_ask_question(document, number, case, route, question, ask))
        yield Expectation(case.name, question, place, failures)


def _ask_question(
    document: SourceDocument,
    number: int,
    case: Case,
    route: tuple[RouteStep, ...],
    question: str,
    ask: Callable[[], Mismatches],
) -> Iterator[Diagnostic]:
    def report(row: Row, message: str, *field: str) -> Diagnostic:
        place = document.place("cases", number, *route, *field)
        return row.at(place, f"case {quote(case.name)}, {question}: {message}", "", f"case:{case.name}")

    try:
        for field, message in ask():
            yield report(UNMET_EXPECTATION, message, field)
    except MalformedQuestion as error:
        yield report(MALFORMED_QUESTION, str(error), "ask")
    except ValueError as error:
        # A date that does not exist.
        yield report(MALFORMED_QUESTION, str(error))


class MalformedQuestion(Exception):
    """A question that cannot be asked."""


def _list_questions(case: Case) -> Iterator[tuple[tuple[RouteStep, ...], str]]:
    """Each question of a case: its place in the case, and its text."""
    org = case.org
    for number, dispatch in enumerate(case.dispatch):
        ask = dispatch.ask
        yield ("dispatch", number), f"dispatch {ask.domain or ask.intent or ask.text} in {org}"
    for number, access in enumerate(case.access):
        request = access.ask
        yield ("access", number), f"{request.subject} {request.action} {request.resource} in {org}"
    for number, who in enumerate(case.who_can):
        yield ("who_can", number), f"who can {who.action} {who.resource} in {org}"
    for number, what in enumerate(case.what_can):
        yield ("what_can", number), f"what can {what.subject} in {org}"


def _build_questions(
    kernel: Kernel, case: Case, access: OrganizationAccess
) -> Iterator[Callable[[], Mismatches]]:
    """A function that asks each question of a case, in the same order."""
    # Every kind of question is asked about the given state, at the same time.
    stored = kernel.with_store(FixedState(access.state), lambda: (_NOON, 0))
    for dispatch in case.dispatch:
        yield partial(_compare_dispatch, stored, case.org, dispatch)
    for access_case in case.access:
        yield partial(_compare_access, access, access_case)
    for who in case.who_can:
        yield partial(_compare_subjects, access, who)
    for what in case.what_can:
        yield partial(_compare_permissions, access, what)


def open_access(kernel: Kernel, case: Case) -> OrganizationAccess:
    """Open the organization of a case with the stored state that the case assumes.

    Raises `ValueError` if a grant or restriction ends on a date that does not exist.
    """
    records = kernel.organization(case.org).snapshot.records
    state = build_state(case.given, case.org, records)
    return kernel.with_store(FixedState(state)).access(case.org)


def _compare_dispatch(kernel: Kernel, org: str, expected: DispatchCase) -> Mismatches:
    ask = expected.ask
    if sum(each is not None for each in (ask.domain, ask.intent, ask.text)) != 1:
        raise MalformedQuestion("the question does not have exactly one of `domain`, `intent` and `text`")
    decision = kernel.dispatch(
        org, ask.domain, intent=ask.intent, text=ask.text, needs=ask.needs, all_considered=True
    )
    because = "; ".join(reason.text for reason in decision.reasons)
    if decision.outcome != expected.outcome:
        role = f"`role` ({quote(decision.role_id)})" if decision.role_id else "`not_applicable`"
        yield "outcome", f"the outcome is {role}, not {quote(expected.outcome)}, because {because}"
        return
    if expected.role_id is not None and decision.role_id != expected.role_id:
        yield (
            "role_id",
            f"the role is {quote(decision.role_id)}, not {quote(expected.role_id)}, because {because}",
        )
    for field in ("plans", "tools"):
        expected_list, actual_list = getattr(expected, field), getattr(decision, field)
        if expected_list is not None and expected_list != actual_list:
            yield field, f"the {field} are {_render_list(actual_list)}, not {_render_list(expected_list)}"
    codes = tuple(reason.code for reason in decision.reasons)
    if expected.because is not None and expected.because != codes:
        yield "because", f"the reasons are {_render_list(codes)}, not {_render_list(expected.because)}"
    yield from _compare_agents(decision.crew, expected)


def _compare_agents(crew: AgentChoice | None, expected: DispatchCase) -> Mismatches:
    agents = () if crew is None else tuple(each.agent_id for each in crew.agents)
    acting_role = None if crew is None else crew.acting_role
    unavailable = () if crew is None else crew.unavailable
    if expected.agents is not None and expected.agents != agents:
        texts = [reason.text for each in unavailable for reason in each.reasons]
        because = f", because {'; '.join(texts)}" if texts else ""
        yield "agents", f"the agents are {_render_list(agents)}, not {_render_list(expected.agents)}{because}"
    if expected.acting_role is not None and expected.acting_role != acting_role:
        role = f"role {quote(acting_role)} acts" if acting_role else "no role has an agent who can act"
        yield "acting_role", f"{role}, not role {quote(expected.acting_role)}"


def _compare_access(access: OrganizationAccess, expected: AccessCase) -> Mismatches:
    request = build_request(expected.ask)
    decision, reasons = access.decide_with_reasons(request)
    if decision.outcome != expected.outcome:
        because = "; ".join(reason.text for reason in reasons)
        yield (
            "outcome",
            f"the outcome is {quote(decision.outcome)}, not {quote(expected.outcome)}, because {because}",
        )
        return
    remedies: tuple[str, ...] = ()
    if expected.remedies is not None:  # finding them takes longer than deciding
        remedies = tuple(remedy.text for remedy in access.explain(request).remedies)
    codes = tuple(reason.code for reason in reasons)
    for field, actual in (("because", codes), ("obligations", decision.obligations), ("remedies", remedies)):
        expected_list = getattr(expected, field)
        if expected_list is not None and expected_list != actual:
            noun = "reasons" if field == "because" else field
            yield field, f"the {noun} are {_render_list(actual)}, not {_render_list(expected_list)}"
    if expected.level is not None and expected.level != decision.level_effective:
        yield "level", f"the level is {quote(decision.level_effective)}, not {quote(expected.level)}"


def _compare_subjects(access: OrganizationAccess, expected: WhoCanCase) -> Mismatches:
    context = build_context(expected.context)
    rows = access.who_can(expected.action, expected.resource, context, expected.kinds)
    for field, outcome, subjects in (
        ("are", "allow", expected.are),
        ("must_ask", "ask", expected.must_ask),
    ):
        actual = tuple(row.subject for row in rows if row.outcome == outcome)
        if actual != subjects:
            yield field, f"the subjects are {_render_list(actual)}, not {_render_list(subjects)}"


def _compare_permissions(access: OrganizationAccess, expected: WhatCanCase) -> Mismatches:
    context = build_context(expected.context)
    request = AccessRequest(expected.subject, "", "", context, expected.on_behalf_of)
    rows = access.what_can(expected.subject, request, expected.kinds)
    for field, outcome, permissions in (
        ("can", "allow", expected.can),
        ("must_ask", "ask", expected.must_ask),
    ):
        actual = _group_by_resource(rows, outcome)
        wanted = {key: sorted(value) for key, value in permissions.items()}
        if actual != wanted:
            yield field, f"the permissions are {_render_mapping(actual)}, not {_render_mapping(wanted)}"


def _group_by_resource(rows: Iterable[AccessRow], outcome: str) -> dict[str, list[str]]:
    actions_by_resource: dict[str, list[str]] = {}
    for row in rows:
        if row.outcome == outcome:
            actions_by_resource[row.resource] = sorted(
                (*actions_by_resource.get(row.resource, ()), *row.actions)
            )
    return actions_by_resource


def _render_list(words: Iterable[str]) -> str:
    return f"[{', '.join(words)}]"


def _render_mapping(rows: Mapping[str, Iterable[str]]) -> str:
    return f"{{{', '.join(f'{key}: {_render_list(value)}' for key, value in sorted(rows.items()))}}}"


def read_moment(written: str) -> float:
    """Local date and time as seconds since 1970; local time counts as UTC. Raises `ValueError` for a day that does not exist.

    >>> read_moment("1970-01-02 00:01")
    86460.0
    """
    return datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp()


def build_context(given: Circumstances) -> AccessContext:
    """The circumstances of a question. Local time counts as UTC."""
    fields = {
        name: getattr(given, name) for name in msgspec.structs.asdict(AccessContext()) if hasattr(given, name)
    }
    return AccessContext(**fields, now=_NOON if given.at is None else read_moment(given.at))


def build_request(question: AccessQuestion) -> AccessRequest:
    """The request of a question about access."""
    return AccessRequest(
        question.subject, question.action, question.resource, build_context(question.context), question.on_behalf_of, question.via,
        question.envelope,
    )  # fmt: skip


def build_state(given: Given, org_id: str, records: OrgRecords | None = None) -> StateView:
    """The state that a case assumes, with tests passed as `records` declare them."""
    if given == Given():
        return EMPTY_STATE
    grants: dict[str, tuple[Grant, ...]] = {}
    for grant_id, grant in given.grants.items():
        stored = Grant(
            grant_id, grant.subject, grant.resources, grant.level, grant.waives, org_id, grant.channel, grant.session,
            expires_at=None if grant.expires is None else read_moment(grant.expires), uses_left=grant.uses_left,
            snapshot=grant.snapshot, approved_by=grant.approved_by,
        )  # fmt: skip
        grants[grant.subject] = (*grants.get(grant.subject, ()), stored)
    restrictions: dict[str, tuple[Restriction, ...]] = {}
    for restriction_id, each in given.restrictions.items():
        bound = Restriction(
            restriction_id, each.subject, each.resources, each.level, org_id,
            expires_at=None if each.expires is None else read_moment(each.expires),
        )  # fmt: skip
        restrictions[each.subject] = (*restrictions.get(each.subject, ()), bound)
    recorded: dict[OrgStatusKind, str | None] = {"alert": given.alert, "watch": given.watch}
    return StateView(
        1,
        {
            name: AgentState(name, agent.rank, agent.trust, agent.lifecycle)
            for name, agent in given.agents.items()
        },
        grants,
        restrictions,
        {
            name: tuple(
                QualificationResult(name, each, 1.0, True, 0.0)
                if records is None
                else build_passing_result(records, name, each, 0.0)
                for each in agent.passed
            )
            for name, agent in given.agents.items()
        },
        {tool: ToolLock(org_id, tool, holder, 1, 0.0) for tool, holder in given.locks.items()},
        usage=None
        if given.usage is None
        else {
            (limit, counter): LimitUsage(limit, counter, 0, count_usage(limit, used))
            for limit, counters in given.usage.items()
            for counter, used in counters.items()
        },
        status={
            kind: OrgStatus(org_id, kind, value) for kind, value in recorded.items() if value is not None
        },
    )


class FixedState:
    """A store that always returns one state."""

    def __init__(self, state: StateView) -> None:
        self._state = state

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state, for every organization."""
        return self._state
