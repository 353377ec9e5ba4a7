"""A reported PACE tier counts exactly as one the caller states, in every question about access."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.layers.pace import find_report
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import REPORT_COUNTS_FOR, PaceTierName, StateView, StoredReport
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.report_order import group_reports_by_subject, map_by_unit
from tests.support.salute import salute

NOW = 1_000_000.0
TIERS: tuple[PaceTierName, ...] = ("primary", "alternate", "contingent", "emergency")


@pytest.fixture(scope="module", params=["software_dev", "household"])
def view(request: pytest.FixtureRequest) -> OrgView:
    """An organization of roles that hand work down, and one with agents, people and policies."""
    return Kernel.open().organization(request.param).snapshot.index


def report(
    role: str, tier: PaceTierName, at: float = NOW, *, org: str, agent_id: str = "", agent_number: int = 0
) -> StoredReport:
    body = salute(role, tier, at, org=org, agent=agent_number)
    return StoredReport(1, org, role, agent_id, agent_number, at, at, tier, body)


def reported(*reports: StoredReport) -> StateView:
    """A state in which nothing is stored but these."""
    by_subject, raised = group_reports_by_subject(map_by_unit(reports), reports[0].org_id)
    return StateView(1, reports=by_subject, raised=raised)


def questions(view: OrgView, subject: str) -> Iterator[AccessRequest]:
    """Every action of every tool and role, at a moment."""
    context = AccessContext(now=NOW)
    resources = [f"tool:{tool}" for tool in view.records.tools] + [f"role:{role}" for role in view.roles]
    for resource in resources:
        for actions in get_access_tables(view).find(resource)[0].action_groups:
            yield from (AccessRequest(subject, action, resource, context) for action in actions)


def stating(request: AccessRequest, tier: PaceTierName) -> AccessRequest:
    return msgspec.structs.replace(request, context=msgspec.structs.replace(request.context, pace=tier))


def without_version(decision: AccessDecision) -> AccessDecision:
    return msgspec.structs.replace(decision, state_version=0)


@pytest.mark.parametrize("tier", TIERS)
def test_a_reported_tier_counts_as_a_stated_one(view: OrgView, tier: PaceTierName) -> None:
    """For every role, agent and question; the explanation decides the same and names the report."""
    empty = StateView()
    changed = 0
    for role in view.roles:
        state = reported(report(role, tier, org=view.org_id))
        fillers = [f"agent:{edge.source}" for edge in view.list_agents_in(role)]
        for subject in (f"role:{role}", *fillers):
            for request in questions(view, subject):
                decided = decide_access(view, request, state)
                assert without_version(decided) == decide_access(view, stating(request, tier), empty)
                explained = explain_access(view, request, state, remedies=False)
                assert explained.decision == decided
                (line,) = [line.statement for line in explained.trace if line.access_layer == "pace"] or [""]
                assert f"PACE tier `{tier}`, according to its SALUTE report of 1970-01-12T13:46:40Z" in line
                changed += decided != decide_access(view, request, empty) and "PACE_CAP" in decided.codes
    assert bool(changed) == (tier in ("contingent", "emergency"))


@pytest.mark.parametrize("tier", ["contingent", "emergency"])
def test_lists_say_what_decisions_say(view: OrgView, tier: PaceTierName) -> None:
    """`can`, `who_can` and `what_can` agree, with every subject in another tier; forward_and_reverse_agree."""
    roles = view.roles
    state = reported(*(report(role, tier, org=view.org_id) for role in roles[::2]))
    context = AccessContext(now=NOW)
    for role in roles:
        subject = f"role:{role}"
        rows = what_can(
            view,
            subject,
            request=AccessRequest(subject, "", "", context),
            state=state,
            kinds=("tool", "role"),
        )
        listed = {(row.resource, action) for row in rows if row.outcome == "allow" for action in row.actions}
        for request in questions(view, subject):
            allowed = decide_access(view, request, state).outcome == "allow"
            assert allowed == ((request.resource, request.action) in listed)
            found = who_can(
                view, request.action, request.resource, context=context, state=state, kinds=("role",)
            )
            assert allowed == any(row.subject == subject and row.outcome == "allow" for row in found)


def test_what_the_caller_states_counts_more() -> None:
    """The host knows best how it is now."""
    view = Kernel.open().organization("software_dev").snapshot.index
    state = reported(report("co", "emergency", org=view.org_id))
    request = AccessRequest("role:co", "use", "tool:scheduler", AccessContext(now=NOW))
    assert decide_access(view, request, state).codes == ("PACE_CAP",)
    assert decide_access(view, stating(request, "primary"), state).outcome == "allow"


def test_a_report_counts_for_an_hour() -> None:
    """A role that stops reporting does not stay in its last tier forever."""
    view = Kernel.open().organization("software_dev").snapshot.index
    state = reported(report("co", "emergency", org=view.org_id))

    def decide(now: float) -> str:
        request = AccessRequest("role:co", "use", "tool:scheduler", AccessContext(now=now))
        return decide_access(view, request, state).outcome

    assert decide(NOW + REPORT_COUNTS_FOR - 0.001) == "deny"
    assert decide(NOW + REPORT_COUNTS_FOR) == "allow"


def test_an_agent_goes_by_its_own_report() -> None:
    """The report of another agent in its role does not affect it; an unsigned report does."""
    org = "household"
    theirs = report("steward", "emergency", org=org, agent_id="other")
    unsigned = report("steward", "contingent", NOW - 1, org=org)
    own = report("errand_runner", "alternate", NOW - 2, org=org, agent_id="butler")
    keys = ("agent:butler", "role:steward", "role:errand_runner")
    assert find_report(reported(theirs, unsigned, own), keys, NOW) == own
    assert find_report(reported(unsigned, theirs), keys, NOW) == theirs
    assert find_report(reported(unsigned), keys[:2], NOW) == unsigned
    assert find_report(reported(own), keys[1:2], NOW) is None


def test_subjects_outside_the_crew_have_no_tier() -> None:
    """A person whose agent is in an emergency may do what it may."""
    view = Kernel.open().organization("household").snapshot.index
    state = reported(*(report(role, "emergency", org=view.org_id) for role in view.roles))
    for person in view.records.people:
        for request in questions(view, f"person:{person}"):
            assert without_version(decide_access(view, request, state)) == decide_access(view, request)
