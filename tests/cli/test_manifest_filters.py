"""Filters of the crew, joined on one assignment; words that nothing declares; and the profile of the crew specification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel import AgentFilter, Kernel, RoleFilter
from orgkernel.manifest.v1 import AgentManifest
from tests.support.in_process import run_here
from tests.support.trees import write_tree

FILES = {
    "org.yaml": """
_schema: orgkernel:organization
org_id: ward
departments: {care: {}, stores: {}}
hierarchy: {chief: {subordinates: [nurse, clerk]}}
external: [user]
---
_schema: orgkernel:role_profile
role_id: chief
role_type: commander
description: Leads.
---
_schema: orgkernel:role_profile
role_id: nurse
description: Cares.
department: care
clearance: full
chain_of_command: {reports_to: chief}
---
_schema: orgkernel:role_profile
role_id: clerk
description: Counts.
department: stores
chain_of_command: {reports_to: chief}
---
_schema: orgkernel:crew_roster
org: ward
agents:
  ann: {assignments: [{role: nurse, watches: [alpha]}, {role: clerk, watches: [beta]}]}
  bob: {assignments: [{role: nurse, watches: [beta]}]}
  box: {crew_tier: utility, assignments: [{role: clerk}]}
""",
}


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel.open(write_tree(tmp_path / "ward", FILES))


def client_of(kernel: Kernel) -> TestClient:
    return TestClient(create_app(kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))


def test_conditions_on_an_assignment_are_joined(kernel: Kernel) -> None:
    """An agent that is a nurse in one watch and a clerk in another one is no nurse in the other watch."""
    wanted = AgentFilter(department="care", watch="beta")
    assert [each.agent_id for each in kernel.agents("ward", wanted).agents] == ["bob"]
    assert [
        each.agent_id for each in kernel.agents("ward", AgentFilter(role="clerk", watch="alpha")).agents
    ] == ["box"]


def test_the_crew_manifest_takes_the_filters_of_agents(kernel: Kernel) -> None:
    """A role matches if one agent fills it in an assignment that meets all conditions, from Python and over HTTP."""
    for watch, roles in (("alpha", ["nurse", "clerk"]), ("beta", ["nurse", "clerk"]), ("gamma", [])):
        page = kernel.crew("ward", RoleFilter(), agents=AgentFilter(watch=watch))
        assert [each.role_id for each in page.roles] == roles
        response = client_of(kernel).get("/api/ontology/crew-manifest", params={"watch": watch})
        assert [each["role_id"] for each in response.json()["roles"]] == roles
    params = {"department": "stores", "watch": "beta", "lifecycle": "active", "role": "clerk"}
    answer = client_of(kernel).get("/api/ontology/crew-manifest", params=params).json()
    assert ([each["role_id"] for each in answer["roles"]], answer["unknown_words"]) == (["clerk"], [])


def test_a_word_that_nothing_declares_is_told_with_the_nearest(kernel: Kernel, tmp_path: Path) -> None:
    """A misspelled filter does not look like an empty crew."""
    page = kernel.agents("ward", AgentFilter(department="cares", watch="bet", rank="admiral"))
    assert page.unknown_words == (
        "there is no department `cares`; did you mean `care`?",
        "there is no rank `admiral`; there are `ensign`, `lieutenant`, `commander`, `senior`",
        "there is no watch `bet`; did you mean `beta`?",
    )
    response = client_of(kernel).get(
        "/api/ontology/crew-manifest", params={"rank": "ensing", "department": "care"}
    )
    assert response.json()["unknown_words"] == ["there is no rank `ensing`; did you mean `ensign`?"]
    done = run_here("crew", "--department", "cares", cwd=tmp_path / "ward")
    assert "note: there is no department `cares`; did you mean `care`?" in done.stderr
    done = run_here("manifest", "--watch", "bet", cwd=tmp_path / "ward")
    assert "note: there is no watch `bet`; did you mean `beta`?" in done.stderr


def test_rank_recall_tier_and_asset_tag_name_their_lines(kernel: Kernel) -> None:
    """The clearance of a role is above the recall tier of the rank; equipment has a tag in place of an identity."""
    ann = kernel.agent_manifest("ward", "ann")
    assert ann.recall_tier is not None
    assert ann.rank is not None
    assert ann.next_rank is not None
    assert (ann.recall_tier.tier, [why.text for why in ann.recall_tier.why]) == (
        "full",
        ["clearance of role nurse"],
    )
    assert [each.why[0].file for each in (ann.rank, ann.next_rank)] == ["ontology/ranks.yaml"] * 2
    assert ann.asset_tag is None
    box = kernel.agent_manifest("ward", "box").asset_tag
    assert box is not None
    assert (box.asset_id, box.tier, box.slots) == ("ward/box", "utility", ("clerk",))


def test_the_profile_of_the_specification(kernel: Kernel, tmp_path: Path) -> None:
    """It has the fields of section 10 in their order, as YAML and as JSON, and names its losses."""
    done = run_here("manifest", "--agent", "ann", "--as", "seed004", cwd=tmp_path / "ward")
    profile = yaml.safe_load(done.stdout)
    assert list(profile)[:8] == [
        "agent_id", "callsign", "agent_type", "post", "department", "rank", "trust_score", "lifecycle_state",
    ]  # fmt: skip
    assert (profile["post"], profile["department"]) == ("nurse", "care")
    assert profile["losses"][:2] == [
        "post: only the first one; `clerk` left out", "department: only the first one; `stores` left out",
    ]  # fmt: skip
    assert {"cognitive_skills", "handled_intents", "tools", "executable_skills", "skill_profile"} < set(
        profile
    )
    as_json = run_here(
        "manifest", "--agent", "ann", "--as", "seed004", "--format", "json", cwd=tmp_path / "ward"
    )
    assert json.loads(as_json.stdout) == profile
    refused = run_here("manifest", "--as", "seed004", cwd=tmp_path / "ward")
    assert (refused.returncode, "`--as` needs `--agent`" in refused.stderr) == (2, True)


def test_every_intent_is_described(kernel: Kernel) -> None:
    """By its means, or by the role that serves it."""
    starship = Kernel.open()
    for agent in starship.agents("starship").agents[:6]:
        manifest: AgentManifest = starship.agent_manifest("starship", agent.agent_id)
        assert all(intent.description for intent in manifest.handled_intents)
