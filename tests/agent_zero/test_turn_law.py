"""Law: what a model call was shown, what is enforced in it and what is reported of it are about one role."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from tests.agent_zero.double_loop import Response
from tests.agent_zero.double_prompts import STOCK_TOOLS
from tests.agent_zero.installing import activate, compiled
from tests.agent_zero.neighbors import add_neighbors, publish_plain_warnings
from tests.agent_zero.saying import MISSING, call, role_of, shown_by

ROLES = compiled("software_dev")["roles"]
TALK = ["Fix the bug in parser.py", "Create a git branch and commit the change", "Prepare everything for Monday", "what time is it", "go on", "do that again", "Write a Python module that parses log lines",
        "write a poem about git", "Bitte repariere den Fehler im Parser", "/role osint_specialist", "/role auto", "/role",
        "/role devops deploy the container", "Investigate who owns acme.example and look up public records"]  # fmt: skip
RESULTS = [
    "done",
    "the git branch is behind",
    "a bug in module seven",
    "docker owns it",
    "cat: x: No such file or directory",
]


@pytest.mark.parametrize("seed", range(3))
def test_shown_enforced_and_reported_agree_in_every_call(started, seed):
    """Law: over any sequence of messages, results, refusals, warnings and moods of a tracker, for every model call."""
    chance = random.Random(seed)
    add_neighbors(started.root, started.generation)
    if chance.random() < 0.5:
        publish_plain_warnings(started.root)

    def report_each_call(bundle):
        for role in bundle["roles"].values():
            role["doctrine"]["salute_interval_turns"] = 1

    activate(started.root, change=report_each_call)
    host, agent = started.host, started.host.open_chat()
    from usr.organizations.lib.orgkernel_agent_zero import doctrine

    made, calls = [], []
    write = doctrine.report

    def note(*arguments):
        made.append((arguments[3].role_id, arguments[4].tier))
        return write(*arguments)

    def result(**_):
        mood = chance.random()
        if mood < 0.2:
            agent.hist_add_warning(chance.choice(RESULTS))
        elif mood < 0.4:
            domain = chance.choice(["bugfix", "git_ops", "osint", "codegen", "astrology"])
            agent._bst_store = {"__bst_belief_state__": {"domain": domain, "confidence": 0.9}}
        elif mood < 0.5:
            agent._bst_store = {}
        elif mood < 0.6:
            agent.intervention = chance.choice(TALK)
        return MISSING if chance.random() < 0.5 else Response(chance.choice(RESULTS))

    def step(prompt):
        tool = chance.choice(["browser_agent", "scheduler", "code_execution_tool", "code_execution_tool"])
        calls.append(
            SimpleNamespace(
                prompt=prompt, message=agent.last_user_message, role=role_of(agent), tier=agent._org_pace_level,
                signal=agent.data["_layer_signals"]["org_kernel"]["current_role"], reports=list(made), tool=tool, ran=len(host.ran),
            )
        )  # fmt: skip
        made.clear()
        return call(tool, code=str(len(calls)))

    for tool in ("browser_agent", "scheduler", "code_execution_tool"):
        host.tools[tool] = result
    doctrine.report = note
    try:
        for _ in range(5):
            host.say(agent, chance.choice(TALK), [step] * chance.randint(1, 6))
            made.clear()  # the report at the end of a turn
            calls.append(SimpleNamespace(message=None, ran=len(host.ran)))
    finally:
        doctrine.report = write
    everything = set().union(*(tools for tools, old, new in STOCK_TOOLS.values() if (new if started.generation == "G3" else old)))  # fmt: skip
    if started.generation == "G1":
        everything.discard("skills_tool")
    for before, now, after in zip([None, *calls], calls, [*calls[1:], None], strict=False):
        if now.message is None:
            continue
        role = ROLES.get(now.role)
        shown = shown_by(now.prompt, started.generation)
        may = set(role["host_tools"]) | set(role["essential"]) | {"response"} if role else everything
        # A file that serves a tool of the role is shown whole.
        served = {tool for tools, _, _ in STOCK_TOOLS.values() if may & set(tools) for tool in tools}
        assert shown - {"call_subordinate"} == (served & everything) - {"call_subordinate"}
        assert [each["role_name"] for each in ROLES.values() if f"You are the {each['role_name']}" in now.prompt.system] in ([], [role["role_name"]] if role else [])  # fmt: skip
        assert now.signal == now.role
        assert now.reports == ([(now.role, now.tier)] if role else [])
        duty = "primary" if "PACE " not in now.prompt.system else now.prompt.system.rpartition("PACE ")[2].split(":")[0]  # fmt: skip
        assert duty == now.tier
        assert (host.ran[now.ran : now.ran + 1] == [(0, now.tool)] and after.ran > now.ran) == (
            now.tool in may
        )
        if before is not None and before.message is now.message and before.role != now.role:
            # Words chose no role, and a tracker did before the first call; it is in force from the second on.
            assert before.role is None
            assert calls.index(before) == 0 or calls[calls.index(before) - 1].message is not now.message
