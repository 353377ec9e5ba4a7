"""Run a user's decision cases: does the organisation answer as its author expects?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orgkernel.decisions.dispatch import DispatchDecision
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.sources import SourceDocument
from orgkernel.records.decision_cases import DecisionCases, DispatchCase


@dataclass(frozen=True, slots=True)
class Expectation:
    """One question of a case, and what is wrong with the answer."""

    case: str
    question: str
    failures: tuple[tuple[Place, str], ...]


def run_cases(kernel: Kernel, document: SourceDocument) -> Iterator[Expectation]:
    """Every question of a document of cases; failures stand at the line that expects otherwise."""
    cases = document.record
    assert isinstance(cases, DecisionCases)
    for number, case in enumerate(cases.cases):
        for asked, expected in enumerate(case.dispatch):
            route = ("cases", number, "dispatch", asked)
            question = f"dispatch {expected.ask.domain} in {case.org}"
            try:
                decision = kernel.dispatch(
                    case.org, expected.ask.domain, needs=expected.ask.needs, all_considered=True
                )
            except OrgkernelError as error:
                place = document.place("cases", number, "org")
                yield Expectation(case.name, question, ((place, error.message),))
                continue
            failures = tuple(
                (document.place(*route, field), message) for field, message in _compare(expected, decision)
            )
            yield Expectation(case.name, question, failures)


def _compare(expected: DispatchCase, decision: DispatchDecision) -> Iterator[tuple[str, str]]:
    because = "; ".join(reason.text for reason in decision.reasons)
    if decision.outcome != expected.outcome:
        got = f"`role` ({quote(decision.role_id)})" if decision.role_id else "`not_applicable`"
        yield "outcome", f"the outcome is {got}, {quote(expected.outcome)} is expected, because {because}"
        return
    if expected.role_id is not None and decision.role_id != expected.role_id:
        yield (
            "role_id",
            f"the role is {quote(decision.role_id)}, {quote(expected.role_id)} is expected, because {because}",
        )
    for field in ("plans", "tools"):
        wanted, got_list = getattr(expected, field), getattr(decision, field)
        if wanted is not None and wanted != got_list:
            yield field, f"the {field} are {_list(got_list)}, {_list(wanted)} are expected"
    codes = tuple(reason.code for reason in decision.reasons)
    if expected.because is not None and expected.because != codes:
        yield "because", f"the reasons are {_list(codes)}, {_list(expected.because)} are expected"


def _list(words: tuple[str, ...]) -> str:
    return f"[{', '.join(words)}]"
