"""The manifests of agents and roles tell which tools were called, and every statement of it has a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.agents import move_agent
from orgkernel.operations.commissions import CommissionOrder, commission_agents
from orgkernel.operations.context import OPERATOR, Context, build_actor
from orgkernel.operations.permissions import RestrictionDraft, issue_restriction
from orgkernel.state.location import parse_location
from tests.support.trees import TEMPLATES

ORG, AGENT = "starship", "number_one"


def iterate_empty_whys(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key.endswith("why") and not each:
                yield f"{path}.{key}"
            yield from iterate_empty_whys(each, f"{path}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from iterate_empty_whys(each, f"{path}[{number}]")


def test_recorded_calls_make_a_tool_used_and_wired(tmp_path: Path) -> None:
    """Through Python and HTTP, at once: a tool that has answered is wired, one that only failed is used, others are neither."""
    place = parse_location("state.db", str(tmp_path))
    with open_store(place) as store:
        kernel = Kernel.open(TEMPLATES, store=store)
        context = Context(kernel, store, build_actor(OPERATOR))
        commission_agents(context, [CommissionOrder(agent=AGENT, role="first_officer")], org=ORG)
        app = create_app(Kernel.open(TEMPLATES), store=place)
        with TestClient(app, client=("127.0.0.1", 1)) as client:
            url = f"http://127.0.0.1/v1/orgs/{ORG}/agents/{AGENT}"
            before = client.get(url)
            assert {(each["wired"], each["used"]) for each in before.json()["tools"]} == {(None, False)}
            store.usage.record(AGENT, "codebase_query", org_id=ORG).result()
            store.usage.record(AGENT, "fleet_query", ok=False, code="TOOL_FAILED", org_id=ORG).result()
            after = client.get(url)
            role = client.get(f"http://127.0.0.1/v1/orgs/{ORG}/roles/first_officer").json()
            crew = client.get(f"http://127.0.0.1/v1/orgs/{ORG}/manifest").json()
        tools = {each["id"]: (each["wired"], each["used"]) for each in after.json()["tools"]}
        assert tools["codebase_query"] == (True, True)
        assert tools["fleet_query"] == (None, True)
        assert tools["ward_room_post"] == (None, False)
        assert after.headers["etag"] != before.headers["etag"]
        manifest = kernel.agent_manifest(ORG, AGENT)
        assert {each.id: (each.wired, each.used) for each in manifest.tools} == tools
        # A role is told what its agents called. What they did not call may have been called in the name of the role.
        of_role = {name: (wired, used or None) for name, (wired, used) in tools.items()}
        for each in (role, *(each for each in crew["roles"] if each["role_id"] == "first_officer")):
            listed = {tool["id"]: (tool["wired"], tool["used"]) for tool in each["tools"]}
            assert {name: of_role[name] for name in listed} == listed
            assert listed["codebase_query"] == (True, True)
        assert msgspec.json.decode(kernel.manifest_bytes(ORG, "first_officer"))["tools"] == role["tools"]
        others = kernel.manifest(ORG, "chief_medical").tools
        assert {(each.wired, each.used) for each in others} == {(None, None)}


def test_every_statement_about_an_agent_has_a_line(tmp_path: Path) -> None:
    """Rank, next rank, trust, lifecycle, hand-offs, credentials and restrictions, for every agent of the crew."""
    with open_store(parse_location("state.db", str(tmp_path))) as store:
        kernel = Kernel.open(TEMPLATES, store=store)
        context = Context(kernel, store, build_actor(OPERATOR))
        draft = RestrictionDraft(
            subject=f"agent:{AGENT}", resources=("tool:fleet_query",), org_id=ORG, reason="leaks"
        )
        issue_restriction(context, draft)
        move_agent(context, AGENT, "suspended", org=ORG)
        for agent_id in kernel.organization(ORG).snapshot.index.records.agents:
            manifest = kernel.agent_manifest(ORG, agent_id)
            assert [*iterate_empty_whys(msgspec.to_builtins(manifest))] == [], agent_id
        manifest = kernel.agent_manifest(ORG, AGENT)
    assert [each.text for each in manifest.lifecycle_why] == ["agent number_one is recorded as suspended"]
    assert manifest.trust_why[0].file.endswith("starship/crew.yaml")
    (restriction,) = manifest.restrictions
    assert restriction.why[0].text.endswith("limits agent:number_one to none, because leaks")
