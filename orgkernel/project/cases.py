"""Run a user's decision cases: does the organization decide as its author expects?"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.crew_records import OrgStatus, OrgStatusKind
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
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
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
from orgkernel.errors import OrgkernelError
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument

# The problems of an answer: the field with the other expectation, and a sentence.
Wrong = Iterator[tuple[str, str]]
# Noon: a question without a time is not about the night.
_NOON = 43_200.0


@dataclass(frozen=True, slots=True)
class Expectation:
    """One question of a case, and the problems of the answer."""

    case: str
    question: str
    failures: tuple[tuple[Place, str], ...]


def run_cases(kernel: Kernel, document: SourceDocument) -> Iterator[Expectation]:
    """Every question of a document of cases. A failure points to the line of the expectation."""
    cases = document.record
    assert isinstance(cases, DecisionCases)
    for number, case in enumerate(cases.cases):
        if not (case.dispatch or case.access or case.who_can or case.what_can):
            place = document.place("cases", number, "name")
            yield Expectation(case.name, "nothing", ((place, "the case asks nothing"),))
        for route, question, ask in _questions(kernel, case):
            try:
                wrong = tuple(
                    (document.place("cases", number, *route, field), message) for field, message in ask()
                )
            except OrgkernelError as error:
                wrong = ((document.place("cases", number, "org"), error.message),)
            except ValueError as error:
                # A date that does not exist.
                wrong = ((document.place("cases", number, *route), str(error)),)
            yield Expectation(case.name, question, wrong)


def _questions(
    kernel: Kernel, case: Case
) -> Iterator[tuple[tuple[RouteStep, ...], str, Callable[[], Wrong]]]:
    """Each question of a case: its place, its text, and a function that asks it."""
    org = case.org
    for number, dispatch in enumerate(case.dispatch):
        question = f"dispatch {dispatch.ask.domain or dispatch.ask.intent or dispatch.ask.text} in {org}"
        yield ("dispatch", number), question, partial(_dispatch, kernel, org, dispatch)
    for number, access in enumerate(case.access):
        ask = access.ask
        question = f"{ask.subject} {ask.action} {ask.resource} in {org}"
        yield ("access", number), question, partial(_access, kernel, case, access)
    for number, who in enumerate(case.who_can):
        question = f"who can {who.action} {who.resource} in {org}"
        yield ("who_can", number), question, partial(_who_can, kernel, case, who)
    for number, what in enumerate(case.what_can):
        question = f"what can {what.subject} in {org}"
        yield ("what_can", number), question, partial(_what_can, kernel, case, what)


def _dispatch(kernel: Kernel, org: str, expected: DispatchCase) -> Wrong:
    ask = expected.ask
    if sum(each is not None for each in (ask.domain, ask.intent, ask.text)) != 1:
        yield "ask", "the question does not have exactly one of `domain`, `intent` and `text`"
        return
    decision = kernel.dispatch(
        org, ask.domain, intent=ask.intent, text=ask.text, needs=ask.needs, all_considered=True
    )
    because = "; ".join(reason.text for reason in decision.reasons)
    if decision.outcome != expected.outcome:
        got = f"`role` ({quote(decision.role_id)})" if decision.role_id else "`not_applicable`"
        yield "outcome", f"the outcome is {got}, not {quote(expected.outcome)}, because {because}"
        return
    if expected.role_id is not None and decision.role_id != expected.role_id:
        yield (
            "role_id",
            f"the role is {quote(decision.role_id)}, not {quote(expected.role_id)}, because {because}",
        )
    for field in ("plans", "tools"):
        wanted, got_list = getattr(expected, field), getattr(decision, field)
        if wanted is not None and wanted != got_list:
            yield field, f"the {field} are {_list(got_list)}, not {_list(wanted)}"
    codes = tuple(reason.code for reason in decision.reasons)
    if expected.because is not None and expected.because != codes:
        yield "because", f"the reasons are {_list(codes)}, not {_list(expected.because)}"


def _state_of(kernel: Kernel, case: Case) -> StateView:
    return build_state(case.given, case.org, kernel.organization(case.org).snapshot.records)


def _access(kernel: Kernel, case: Case, access_case: AccessCase) -> Wrong:
    there = kernel.with_store(FixedState(_state_of(kernel, case)))
    explanation = there.why(case.org, build_request(access_case.ask))
    decision = explanation.decision
    because = "; ".join(reason.text for reason in explanation.reasons)
    if decision.outcome != access_case.outcome:
        yield (
            "outcome",
            f"the outcome is {quote(decision.outcome)}, not {quote(access_case.outcome)}, because {because}",
        )
        return
    remedies = tuple(remedy.text for remedy in explanation.remedies)
    reasons = tuple(reason.code for reason in explanation.reasons)
    for field, what, got in (
        ("because", "reasons", reasons),
        ("obligations", "obligations", decision.obligations),
        ("remedies", "remedies", remedies),
    ):
        wanted = getattr(access_case, field)
        if wanted is not None and wanted != got:
            yield field, f"the {what} are {_list(got)}, not {_list(wanted)}"
    if access_case.level is not None and access_case.level != decision.level_effective:
        yield "level", f"the level is {quote(decision.level_effective)}, not {quote(access_case.level)}"


def _who_can(kernel: Kernel, case: Case, who_can_case: WhoCanCase) -> Wrong:
    there = kernel.with_store(FixedState(_state_of(kernel, case)))
    context = build_context(who_can_case.context)
    rows = there.who_can(
        case.org, who_can_case.action, who_can_case.resource, context=context, kinds=who_can_case.kinds
    )
    for field, outcome, wanted in (
        ("are", "allow", who_can_case.are),
        ("must_ask", "ask", who_can_case.must_ask),
    ):
        got = tuple(row.subject for row in rows if row.outcome == outcome)
        if got != wanted:
            yield field, f"the subjects are {_list(got)}, not {_list(wanted)}"


def _what_can(kernel: Kernel, case: Case, what_can_case: WhatCanCase) -> Wrong:
    there = kernel.with_store(FixedState(_state_of(kernel, case)))
    context = build_context(what_can_case.context)
    request = AccessRequest(what_can_case.subject, "", "", context, what_can_case.on_behalf_of)
    rows = there.what_can(case.org, what_can_case.subject, request=request, kinds=what_can_case.kinds)
    for field, outcome, wanted in (
        ("can", "allow", what_can_case.can),
        ("must_ask", "ask", what_can_case.must_ask),
    ):
        got, expected = _by_resource(rows, outcome), {key: sorted(value) for key, value in wanted.items()}
        if got != expected:
            yield field, f"the permissions are {_mapping(got)}, not {_mapping(expected)}"


def _by_resource(rows: Iterable[AccessRow], outcome: str) -> dict[str, list[str]]:
    actions_by_resource: dict[str, list[str]] = {}
    for row in rows:
        if row.outcome == outcome:
            actions_by_resource[row.resource] = sorted(
                (*actions_by_resource.get(row.resource, ()), *row.actions)
            )
    return actions_by_resource


def _list(words: Iterable[str]) -> str:
    return f"[{', '.join(words)}]"


def _mapping(rows: Mapping[str, Iterable[str]]) -> str:
    return f"{{{', '.join(f'{key}: {_list(value)}' for key, value in sorted(rows.items()))}}}"


def read_moment(written: str) -> float:
    """Local date and time as seconds since 1970; local time counts as UTC. Raises `ValueError` for a day that does not exist.

    >>> read_moment("1970-01-02 00:01")
    86460.0
    """
    return float(calendar.timegm(datetime.fromisoformat(written).timetuple()))


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
            snapshot=grant.snapshot,
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
