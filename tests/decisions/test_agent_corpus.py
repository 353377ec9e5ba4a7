"""Which agents can take a dispatched task: complete answers, the same from the function, the kernel and HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.dispatch.agent_choice import AgentChoice
from orgkernel.decisions.dispatch.by_agent import choose_agents
from orgkernel.decisions.dispatch.by_domain import DispatchDecision, decide_dispatch
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState
from tests.support.agent_states import NOW, build_agent_state
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

FILE = read_yaml_file(Path(__file__).parent / "agent_corpus/garage.yaml")
ORG = FILE["org"]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return Kernel.open(write_tree(tmp_path_factory.mktemp("garage"), FILE["files"]))


def ask_function(kernel: Kernel, case: dict[str, Any], state: StateView) -> DispatchDecision:
    view = kernel.organization(ORG).snapshot.graph
    needs = case.get("needs", ())
    decision = decide_dispatch(view, case["domain"], needs=needs)
    return choose_agents(view, state, decision, needs, AccessContext(now=NOW))


def ask_kernel(kernel: Kernel, case: dict[str, Any], state: StateView) -> DispatchDecision:
    stored = kernel.with_store(FixedState(state), lambda: (NOW, 0))
    return stored.dispatch(ORG, case["domain"], needs=case.get("needs", ()))


def ask_http(kernel: Kernel, case: dict[str, Any], state: StateView) -> DispatchDecision:
    stored = kernel.with_store(FixedState(state), lambda: (NOW, 0))
    client = TestClient(create_app(stored), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    body = {"domain": case["domain"], "needs": case.get("needs", [])}
    response = client.post(f"/v1/orgs/{ORG}/dispatch", json=body)
    assert response.status_code == 200, response.text
    return msgspec.json.decode(response.content, type=DispatchDecision)


SURFACES: dict[str, Callable[[Kernel, dict[str, Any], StateView], DispatchDecision]] = {
    "function": ask_function, "kernel": ask_kernel, "http": ask_http,
}  # fmt: skip


def summarize(crew: AgentChoice) -> dict[str, Any]:
    return {
        "agents": [each.agent_id for each in crew.agents],
        "acting_role": crew.acting_role,
        "order": [reason.code for each in crew.agents for reason in each.reasons],
        "unavailable": {each.agent_id: [reason.code for reason in each.reasons] for each in crew.unavailable},
        "because": [reason.code for reason in crew.reasons],
    }


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in FILE["cases"]])
def test_case(kernel: Kernel, case: dict[str, Any], surface: str) -> None:
    """The agents, the acting role, the order and every condition that is not met. Each reason names its lines."""
    decision = SURFACES[surface](kernel, case, build_agent_state(case.get("stored", {}), ORG))
    crew = decision.crew
    assert crew is not None
    role = {"repair": "mechanic", "paint": "painter", "wash": "washer"}[case["domain"]]
    absent = {"acting_role": role, "order": [], "unavailable": {}, "because": []}
    expected = absent | {key: case[key] for key in (*absent, "agents") if key in case}
    assert summarize(crew) == expected
    assert (crew.agent_id, crew.agent_count) == (
        next(iter(expected["agents"]), None),
        len(expected["agents"]),
    )
    unavailable = [reason for each in crew.unavailable for reason in each.reasons]
    assert all(reason.why for reason in (*crew.reasons, *unavailable))


def test_the_documents_alone_name_no_agents(kernel: Kernel) -> None:
    """Neither without a store, nor with `as_documents`, nor for a task that no role takes."""
    assert kernel.dispatch(ORG, "repair").crew is None
    stored = kernel.with_store(FixedState(build_agent_state({}, ORG)))
    assert stored.dispatch(ORG, "repair", as_documents=True).crew is None
    assert stored.dispatch(ORG, "unknown").crew is None
    assert stored.dispatch(ORG, "repair").crew is not None


def test_every_agent_is_listed_on_request(kernel: Kernel, tmp_path: Path) -> None:
    """Otherwise the first five, and a count."""
    roster = {f"worker_{number}": {"assignments": [{"role": "hand"}]} for number in range(9)}
    files = {
        "org.yaml": "{_schema: 'orgkernel:organization', org_id: yard, hierarchy: {hand: {}}}",
        "domains.yaml": "{_schema: 'orgkernel:domain_catalog', domains: {dig: {}}}",
        "hand.yaml": "{_schema: 'orgkernel:role_profile', role_id: hand, capabilities: {bst_domains: [dig]}}",
        "roster.yaml": f"{{_schema: 'orgkernel:crew_roster', agents: {roster}}}",
    }
    yard = Kernel.open(write_tree(tmp_path, files)).with_store(FixedState(build_agent_state({}, "yard")))
    few, every = (yard.dispatch("yard", "dig", all_considered=all_).crew for all_ in (False, True))
    assert few is not None
    assert every is not None
    assert (len(few.agents), few.agent_count) == (5, 9)
    assert [each.agent_id for each in every.agents] == list(roster)
