"""Access questions with complete answers, the same ones through graph, index and kernel."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.layers import ORDER
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.graph.questions import OrgView
from orgkernel.project.cases import build_context, build_request, build_state, run_cases
from tests.support.access_corpus import CORPUS, Organization

CASES = [
    pytest.param(name, number, id=f"{name}: {case['name']}")
    for name, file in CORPUS.items()
    for number, case in enumerate(file["cases"])
]


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


VIEWS: dict[str, Callable[[Organization], OrgView]] = {
    "graph": lambda organization: organization.snapshot.graph,
    "index": lambda organization: organization.snapshot.index,
}


@pytest.mark.parametrize("surface", VIEWS)
@pytest.mark.parametrize(("name", "number"), CASES)
def test_case(organizations: dict[str, Organization], name: str, number: int, surface: str) -> None:
    """The functions give this answer from either view, hot and explained."""
    case = organizations[name].case(number)
    view = VIEWS[surface](organizations[name])
    state = build_state(case.given, case.org)
    for expected in case.access:
        request = build_request(expected.ask)
        explanation = explain_access(view, request, state)
        decision = decide_access(view, request, state)
        assert decision == explanation.decision
        told_codes = tuple(reason.code for reason in explanation.reasons)
        assert told_codes == tuple(reason.code for reason in decide_with_reasons(view, request, state)[1])
        told = "; ".join(reason.text for reason in explanation.reasons)
        assert decision.outcome == expected.outcome, (request, told)
        remedies = tuple(sorted(remedy.text for remedy in explanation.remedies))
        wanted = None if expected.remedies is None else tuple(sorted(expected.remedies))
        for want, got in (
            (expected.because, told_codes), (expected.level, decision.level_effective),
            (expected.obligations, decision.obligations), (wanted, remedies),
        ):  # fmt: skip
            assert want is None or want == got, (request, told)
    for who in case.who_can:
        rows = who_can(
            view, who.action, who.resource, context=build_context(who.context), state=state, kinds=who.kinds
        )
        assert tuple(row.subject for row in rows if row.outcome == "allow") == who.are
        assert tuple(row.subject for row in rows if row.outcome == "ask") == who.must_ask
    for what in case.what_can:
        asked = AccessRequest(what.subject, "", "", build_context(what.context), what.on_behalf_of)
        rows = what_can(view, what.subject, request=asked, state=state, kinds=what.kinds)
        for outcome, want in (("allow", what.can), ("ask", what.must_ask)):
            got = {row.resource: set(row.actions) for row in rows if row.outcome == outcome}
            assert got == {resource: set(actions) for resource, actions in want.items()}


@pytest.mark.parametrize("name", CORPUS)
def test_a_user_runs_the_same_cases(organizations: dict[str, Organization], name: str) -> None:
    """`orgkernel test` passes on the corpus as it is, order of remedies apart."""
    failures = [
        failure.message
        for result in run_cases(organizations[name].kernel, [organizations[name].document])
        for failure in result.failures
        if ": the remedies are" not in failure.message
    ]
    assert failures == []


def test_the_corpus_exercises_every_code() -> None:
    """Every reason code is expected by at least one case; a code without a case is untested."""
    expected = {
        code
        for file in CORPUS.values()
        for case in file["cases"]
        for access in case.get("access", ())
        for code in access.get("because", ())
    }
    assert {*ORDER.codes, *ORDER.additional_reasons} == expected & {*ORDER.codes, *ORDER.additional_reasons}


def test_an_error_of_ours_denies(organizations: dict[str, Organization]) -> None:
    """Access fails closed: where deciding itself goes wrong, nothing is allowed and the explanation says so."""
    view = organizations["layers"].snapshot.index
    request = AccessRequest("role:chief", "look", "tool:plain")
    broken = msgspec.structs.replace(
        request, context=msgspec.structs.replace(request.context, pace="no tier")
    )
    assert decide_access(view, request).outcome == "allow"
    decision = decide_access(view, broken)
    assert (decision.outcome, decision.codes) == ("deny", ("EVALUATION_ERROR",))
    assert explain_access(view, broken).decision == decision
    assert "fails closed" in explain_access(view, broken).reasons[0].text
