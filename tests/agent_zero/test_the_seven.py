"""The seven tests of the kernel specification ("Testing Criteria"), in a host of each generation."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.agent_zero.double import build_host, running
from tests.agent_zero.double_loop import Response
from tests.agent_zero.installing import activate, compiled
from tests.agent_zero.neighbors import add_neighbors
from tests.agent_zero.saying import MISSING, answer, archived, call, org_lines, reports, shell
from tests.support.trees import REPOSITORY

PLANS = "_org_htn_allowed_plans"


@pytest.fixture
def neighbors(root, generation):
    """With a belief state tracker, a plan selector and the rest beside us."""
    add_neighbors(root, generation)


@pytest.fixture(params=["with_neighbors", "alone"])
def beside(request, root, generation):
    """Once with the layers that hosts of this kind have, once without any; puts them into another host, too."""

    def add(folder):
        if request.param == "with_neighbors":
            add_neighbors(folder, generation)

    add(root)
    return add


def test_1_backward_compatibility(tmp_path, generation, root, beside):
    """Without `active.json` every prompt, tool call and log line is as it is without us, and nothing is written."""
    bare = build_host(tmp_path / "bare", generation)
    beside(bare)
    turns = [shell(), call("browser_agent", query="x"), call("scheduler:list"), answer()]
    seen = []
    for folder in (bare, root):
        with running(folder, generation) as host:
            agent = host.open_chat()
            said = host.say(agent, "Fix the bug in parser.py", turns)
            lines = agent.context.log.entries
            plan = getattr(agent, "_htn_state", None)
            ours = sorted({**agent.__dict__, **agent.data})
            seen.append((said, host.ran, [each.system for each in host.seen], lines, ours, plan))
    assert seen[0] == seen[1]
    assert not [key for key in seen[1][4] if "org" in key]
    assert sorted(path.name for path in (root / "usr/organizations").iterdir()) == ["lib"]


def test_2_role_activation(started, beside):
    """A message about a bug activates the Bugfix Specialist, says so, and lets its plans match only."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, "Fix the bug in parser.py", [shell(), answer()])
    assert any(line.startswith("Role activated: Bugfix Specialist") for line in org_lines(agent))
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    assert agent._org_active["org_id"] == "software_dev"
    assert agent._org_pace_level == "primary"
    assert agent.get_data(PLANS) == ["bugfix_workflow", "log_investigation"]


def test_3_role_switching(started, beside):
    """A message about git activates the DevOps Specialist; both transitions are told, and the plan filter changes."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, "Fix the bug in parser.py")
    before = agent.get_data(PLANS)
    started.host.say(agent, "Create a git branch for it and commit the change")
    told = [line for line in org_lines(agent) if line.startswith("Role activated")]
    assert [line.split(";")[0] for line in told] == [
        "Role activated: Bugfix Specialist",
        "Role activated: DevOps Specialist (instead of Bugfix Specialist)",
    ]
    assert agent._org_active_role["role_id"] == "devops_specialist"
    assert agent.get_data(PLANS) != before
    assert "git_feature_branch" in agent.get_data(PLANS)


def test_4_salute_emission(started, beside):
    """After more turns than the interval there is a report that fits its schema, and copies with their moments."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, "Fix the bug in parser.py", [shell("ls", number) for number in range(7)])
    schema = json.loads((REPOSITORY / "ontology/schemas/salute_report.json").read_text(encoding="utf-8"))
    report = reports(started.root)["bugfix_specialist"]
    for each in (report, *archived(started.root)):
        Draft202012Validator(schema).validate(each)
    assert report["status"]["state"] == "complete"
    assert report["unit"] == {
        "role_id": "bugfix_specialist",
        "role_name": "Bugfix Specialist",
        "agent_number": 0,
        "reports_to": "engineering_xo",
        "organization": "software_dev",
    }
    assert report["activity"]["current_task"] == "Fix the bug in parser.py"
    assert report["activity"]["bst_domain"] == "bugfix"
    assert report["time"]["turns_elapsed"] == 8
    assert report["time"]["task_started"] <= report["time"]["timestamp"]
    assert report["environment"]["model"] == "openrouter/example/large"
    assert report["environment"]["context_tokens_max"] == 100_000
    assert 0 < report["environment"]["context_fill_pct"] < 20
    assert [each["time"]["turns_elapsed"] for each in archived(started.root)] == [1, 6, 8]


def test_5_pace_escalation(started, beside):
    """Failure after failure goes from primary to alternate to contingent, each told and reported; success restores."""
    activate(started.root)
    host, agent = started.host, started.host.open_chat()
    results = iter([MISSING] * 6 + [Response("42 lines")] * 3)
    host.tools["code_execution_tool"] = lambda **_: next(results)
    host.say(agent, "Fix the bug in parser.py", [shell("cat", number) for number in range(9)])
    told = [line.split("; ", 1)[1] for line in org_lines(agent) if line.startswith("PACE Bugfix Specialist")]
    assert [line.split(":")[0] for line in told] == [
        "escalated from primary to alternate",
        "escalated from alternate to contingent",
        "restored from contingent to primary",
    ]
    assert "consecutive_tool_failures 3 >= 3" in told[0]
    tiers = [each["status"]["pace_level"] for each in archived(started.root)]
    assert [tier for tier, before in zip(tiers, ["", *tiers], strict=False) if tier != before] == [
        "primary",
        "alternate",
        "contingent",
        "primary",
    ]
    assert agent._org_pace_level == "primary"


def test_6_htn_filtering(started, neighbors):
    """The codegen specialist follows its own plans only: one that belongs to another role is not begun."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, "Write a Python module that parses log lines, and mind the bug")
    allowed = list(compiled("software_dev")["roles"]["codegen_specialist"]["plans"])
    assert agent._org_active_role["role_id"] == "codegen_specialist"
    assert agent.get_data(PLANS) == allowed
    assert agent._htn_state["plan_id"] == "codegen_module"
    assert "bugfix_workflow" not in allowed


def test_7_no_false_role_assignment(started, beside):
    """Small talk activates no role: no report, no PACE, the whole prompt, and an answer."""
    activate(started.root)
    agent = started.host.open_chat()
    assert started.host.say(agent, "what time is it", [answer("noon")]) == "noon"
    assert agent._org_active_role is None
    assert reports(started.root) == {}
    assert org_lines(agent) == []
    assert agent.get_data(PLANS) is None
    assert "scheduler" in started.host.seen[0].system
