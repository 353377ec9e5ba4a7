"""Law `no_role_is_trapped`: whatever role of whatever template is in force, it can answer, and delegate where it may."""

from __future__ import annotations

import pytest

from tests.agent_zero.double import running
from tests.agent_zero.double_prompts import STOCK_TOOLS
from tests.agent_zero.installing import activate, compiled
from tests.agent_zero.saying import answer, call

TEMPLATES = ("software_dev", "sigint_alpha")
ROLES = [(org_id, role_id) for org_id in TEMPLATES for role_id in compiled(org_id)["roles"]]
TOOLS = sorted({tool for tools, _, _ in STOCK_TOOLS.values() for tool in tools})


@pytest.mark.parametrize(("org_id", "role_id"), ROLES, ids=str)
def test_no_role_is_trapped(root, generation, org_id, role_id):
    """Every tool is tried: what is refused leaves a way that works, and the turn ends with an answer."""
    activate(root, org_id, unlisted_tools="refuse")
    role = compiled(org_id)["roles"][role_id]
    with running(root, generation, mcp={"mail": ("send",)}) as host:
        agent = host.open_chat()
        agent.config.profile = role_id
        tried = [tool for tool in TOOLS if tool not in ("response", "call_subordinate")]
        turns = [*(call(tool) for tool in tried), call("mail.send"), call("no_such_tool"), answer("ended")]
        assert host.say(agent, "Do everything", turns) == "ended"
        ran = {tool for _, tool in host.ran}
        warnings = [
            item["content"]["system_warning"]
            for prompt in host.seen[-1:]
            for item in prompt.history
            if "system_warning" in item["content"]
        ]
        assert agent._org_active_role["role_id"] == role_id
        assert ran == {"response", *(set(tried) & set(role["host_tools"]))}
        refused = len(tried) + 2 - len(ran - {"response"})
        assert len(warnings) == refused
        for warning in warnings:
            way = "`response`" in warning or "`call_subordinate`" in warning
            assert way, warning
            assert "`call_subordinate`" not in warning or role["can_delegate"], warning
        shown = host.seen[0].system
        assert '"tool_name": "response"' in shown
        assert ('"tool_name": "call_subordinate"' in shown) == role["can_delegate"]


@pytest.mark.parametrize(("org_id", "role_id"), [pair for pair in ROLES if compiled(pair[0])["roles"][pair[1]]["can_delegate"]])  # fmt: skip
def test_a_role_that_may_delegate_always_can(root, generation, org_id, role_id):
    """In every tier: `call_subordinate` is essential to it."""
    activate(root, org_id, unlisted_tools="refuse")
    with running(root, generation) as host:
        agent = host.open_chat()
        agent.config.profile = role_id
        for below in compiled(org_id)["roles"][role_id]["delegates_to"]:
            turns = [
                call("call_subordinate", message="Do it", profile=below, reset="true"),
                answer("below"),
                answer("ended"),
            ]
            assert host.say(agent, f"Let {below} do it", turns) == "ended"
            assert agent.data["_subordinate"]._org_active_role["role_id"] == below


@pytest.mark.parametrize("org_id", TEMPLATES)
def test_no_tool_that_a_plan_needs_is_taken_from_its_role(org_id):
    """Trimming never makes a plan of the role impossible."""
    from orgkernel import Kernel

    view = Kernel.open().latest(org_id).index
    for role_id, role in compiled(org_id)["roles"].items():
        for plan in role["plans"]:
            needed = {
                view.records.tools[edge.target].record.names.get("agent_zero", edge.target)
                for edge in view.list_tools_needed_by(plan)
            }
            assert needed <= set(role["host_tools"]), (role_id, plan)
