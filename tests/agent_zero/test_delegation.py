"""Delegation keeps to the chart: who may be called, in which role, and what a subordinate may use."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from extension.host import delegation
from extension.host.delegation import Existing, RunPlace, SubordinateCall, decide
from orgkernel.runtime.bundle import Bundle, read_bundle
from tests.agent_zero.double import build_host, running
from tests.agent_zero.installing import activate, compiled, install
from tests.agent_zero.saying import answer, call, org_lines, role_of, shell

BUNDLE: Bundle = read_bundle(compiled("software_dev"))
ALL = [*BUNDLE.roles["co"].delegates_to]
BUG = "Find out why parser.py crashes and fix the bug"
OSINT = "Search the web for what is known about this company"
NOBODY = "Do what is needed"


FIRST = RunPlace()


def ask(role_id: str, place: RunPlace = FIRST, **of_call) -> delegation.Delegation:
    return decide(BUNDLE, BUNDLE.text_index, BUNDLE.roles[role_id], SubordinateCall(**of_call), place)


def codegen(profile: str = "codegen_specialist") -> Existing:
    return Existing(profile, "codegen_specialist")


ALLOWED = {
    "the profile is a role below": ("engineering_xo", {"profile": "bugfix_specialist"}, "bugfix_specialist", None),
    "a role below a role below": ("co", {"profile": "bugfix_specialist"}, "bugfix_specialist", None),
    "the name of the role": ("engineering_xo", {"profile": "Bugfix Specialist"}, "bugfix_specialist", "bugfix_specialist"),
    "a hyphen": ("engineering_xo", {"profile": "bugfix-specialist"}, "bugfix_specialist", "bugfix_specialist"),
    "one wrong letter": ("engineering_xo", {"profile": "bugfix_specialst"}, "bugfix_specialist", "bugfix_specialist"),
    "no profile, and the message says it": ("engineering_xo", {"message": BUG}, "bugfix_specialist", "bugfix_specialist"),
    "a profile of the host that is no role": ("engineering_xo", {"message": BUG, "profile": "developer"}, "bugfix_specialist", "bugfix_specialist"),
    "more to the subordinate that is there": ("engineering_xo", {"message": NOBODY, "existing": codegen()}, "codegen_specialist", "codegen_specialist"),
    "the same role again": ("engineering_xo", {"message": BUG, "profile": "codegen_specialist", "existing": codegen()}, "codegen_specialist", None),
    "another role, with reset": ("engineering_xo", {"message": BUG, "reset": True, "existing": codegen()}, "bugfix_specialist", "bugfix_specialist"),
    "no role of its own, more to it": ("engineering_xo", {"message": BUG, "existing": Existing("agent0", None)}, None, None),
    "the profile that it has": ("engineering_xo", {"message": BUG, "profile": "agent0", "existing": codegen("agent0")}, "codegen_specialist", None),
    "its role, which is not its profile": ("engineering_xo", {"profile": "codegen_specialist", "existing": codegen("agent0")}, "codegen_specialist", ""),
}  # fmt: skip
"""The caller, the call, the role of the subordinate, and the profile that is written into the call."""

REFUSED = {
    "a role of another branch": ("engineering_xo", {"profile": "osint_specialist"}, ["may not delegate to OSINT Specialist", "`bugfix_specialist` ("]),
    "its superior": ("engineering_xo", {"profile": "co"}, ["may not delegate to Commanding Officer"]),
    "itself": ("engineering_xo", {"profile": "engineering_xo"}, ["may not delegate to Engineering XO"]),
    "the message fits nobody": ("engineering_xo", {"message": NOBODY}, ["fits no role clearly", "`codegen_specialist` ("]),
    "the message fits somebody else": ("research_xo", {"message": "hello there"}, ["fits no role clearly", "`osint_specialist` ("]),
    "no role, and the message fits nobody": ("engineering_xo", {"message": NOBODY, "profile": "developer"}, ["`developer` is not a role here"]),
    "a role that delegates to nobody": ("bugfix_specialist", {"message": BUG}, ["may not delegate.", "Engineering XO is needed"]),
    "another role than the subordinate's": ("engineering_xo", {"profile": "bugfix_specialist", "existing": codegen()}, ["Codegen Specialist", "`profile`: `bugfix_specialist`", '`reset`: "true"']),
    "a message for another one": ("engineering_xo", {"message": BUG, "profile": "developer", "existing": codegen()}, ["`profile`: `bugfix_specialist`", '`reset`: "true"']),
    "a subordinate from before": ("research_xo", {"message": OSINT, "existing": codegen()}, ["to whom Research XO may not delegate", '`reset`: "true"', "`osint_specialist` ("]),
}  # fmt: skip


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed(case):
    """The role of the subordinate is known, and so is what has to be written for the host to give it this role."""
    caller, of_call, role_id, profile = ALLOWED[case]
    found = ask(caller, **of_call)
    assert (found.refusal, found.role_id, found.profile) == (None, role_id, profile)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    """The refusal says why, and what to do instead."""
    caller, of_call, words = REFUSED[case]
    found = ask(caller, **of_call)
    assert found.refusal is not None
    assert found.role_id is None
    assert "`profile`" in found.refusal or "`response`" in found.refusal
    for each in words:
        assert each in found.refusal


def test_limits_of_a_run():
    """No agent delegates at the maximum depth, and no agent starts while the maximum number is at work."""
    deepest, most = BUNDLE.limits.max_spawn_depth, BUNDLE.limits.max_children
    assert ask("co", RunPlace(depth=deepest - 1), profile="engineering_xo").refusal is None
    assert "`max_spawn_depth`" in str(ask("co", RunPlace(depth=deepest), profile="engineering_xo").refusal)
    assert ask("co", RunPlace(children=most - 1), profile="engineering_xo").refusal is None
    assert "subordinates at work" in str(ask("co", RunPlace(children=most), profile="engineering_xo").refusal)


@pytest.fixture
def chief(started):
    """An agent in the role of the commander."""
    activate(started.root)
    agent = started.host.open_chat()
    agent.config.profile = "co"
    return SimpleNamespace(
        agent=agent, host=started.host, say=lambda *turns: started.host.say(agent, "Lead", turns)
    )


def warnings(host) -> list[str]:
    """What the caller was refused, as its last prompt shows it."""
    history = host.seen[-1].history
    return [each["content"]["system_warning"] for each in history if "system_warning" in each["content"]]


def test_a_subordinate_has_a_role_in_every_generation(chief):
    """No profile, a stock profile, an empty call: the role is chosen or the call is refused, and told in the log."""
    for arguments, role_id in (
        ({"message": BUG}, "bugfix_specialist"),
        ({"message": OSINT, "profile": "researcher", "reset": "true"}, "osint_specialist"),
        ({"message": BUG, "agent_profile": "hacker", "reset": "True "}, "bugfix_specialist"),
        ({"message": NOBODY, "prompt_profile": " codegen_specialist", "reset": True}, "codegen_specialist"),
    ):
        chief.say(call("call_subordinate", **arguments), answer("below"), answer("ended"))
        below = chief.agent.data["_subordinate"]
        assert (below.config.profile, below._org_active_role["role_id"]) == (role_id, role_id)
    assert "Commanding Officer delegates to Bugfix Specialist; the message says" in " ".join(
        org_lines(chief.agent)
    )
    chief.say(call("call_subordinate"), answer("ended"))
    assert chief.agent.data["_subordinate"] is below  # it continues, in its role
    assert below._org_active_role["role_id"] == role_id
    made = len(chief.host.ran)
    chief.say(call("call_subordinate", reset="true"), answer("ended"))
    assert len([each for each in chief.host.ran[made:] if each[1] == "call_subordinate"]) == 0


@pytest.mark.parametrize("generation", ["G2"])
def test_the_way_on_of_a_refusal_works(chief):
    """What a refusal names is what the gate then allows."""
    first = call("call_subordinate", message=BUG, profile="bugfix_specialist")
    chief.say(first, answer("below"), answer("ended"))
    again = call("call_subordinate", message=OSINT, profile="osint_specialist")
    with_reset = call("call_subordinate", message=OSINT, profile="osint_specialist", reset="true")
    chief.say(again, with_reset, answer("below"), answer("ended"))
    assert len(warnings(chief.host)) == 1
    assert '`profile`: `osint_specialist` and `reset`: "true"' in warnings(chief.host)[0]
    assert chief.agent.data["_subordinate"]._org_active_role["role_id"] == "osint_specialist"


@pytest.mark.parametrize("generation", ["G2"])
def test_a_foreign_tool_names_a_call_that_is_allowed(chief):
    """The commander may not browse; whom the refusal names it may call, reset included where it has to be."""
    chief.say(
        call("call_subordinate", message=BUG, profile="bugfix_specialist"), answer("below"), answer("ended")
    )
    chief.say(call("browser_agent", message="x"), answer("ended"))
    assert "`call_subordinate` with profile `osint_specialist` and reset `true`" in warnings(chief.host)[-1]


@pytest.mark.parametrize("generation", ["G2"])
def test_a_subordinate_from_before_activation_gets_a_role(started):
    """It was made without a role. Called by a role, it has the nearest one below it; else that of its superior."""
    agent = started.host.open_chat()
    started.host.say(
        agent, "Lead", [call("call_subordinate", message="wait", profile="developer"), answer("x")]
    )
    below = agent.data["_subordinate"]
    activate(started.root)
    agent.config.profile = "co"
    more = [call("call_subordinate", message=BUG), shell(), answer("fixed"), answer("ended")]
    assert started.host.say(agent, "Go on", more) == "ended"
    assert agent.data["_subordinate"] is below
    assert below._org_active_role["role_id"] == "bugfix_specialist"
    started.host.say(agent, "Go on", [call("call_subordinate", message=NOBODY), answer("x"), answer("ended")])
    assert below._org_active_role["role_id"] in ("bugfix_specialist", "co")


@pytest.mark.parametrize("generation", ["G2"])
def test_without_a_role_and_under_observe_calls_are_those_of_the_host(started):
    """Nothing is refused and nothing is written into them."""
    made = []
    for settings in ({}, {"enforcement": "observe"}):
        activate(started.root, **settings)
        agent = started.host.open_chat()
        if settings:
            agent.config.profile = "co"
        turns = [call("call_subordinate", message="hello", profile="developer"), answer("x"), answer("ended")]
        started.host.say(agent, "what time is it", turns)
        made.append(agent.data["_subordinate"].config.profile)
    assert made == ["developer", "developer"]


@pytest.mark.parametrize("generation", ["G3"])
def test_a_subordinate_of_an_agent_without_a_role_gets_the_nearest_role_or_the_reason(started):
    """The main agent has no role. The message to the subordinate chooses one, or the log says why none does."""
    activate(started.root)
    for message, role_id in (
        ("Fix the bug in parser.py", "bugfix_specialist"),
        ("Polish the periscope", None),
    ):
        agent = started.host.open_chat()
        below = call("call_subordinate", message=message, reset="true")
        started.host.say(agent, "hello", [below, answer("done"), answer()])
        assert role_of(agent) is None
        assert role_of(agent.data["_subordinate"]) == role_id
        reasons = [line for line in org_lines(agent) if line.startswith("This subordinate has no role")]
        assert len(reasons) == (role_id is None)


@pytest.mark.parametrize("generation", ["G2"])
def test_what_the_chain_narrows(started):
    """Under `strict`, a subordinate may not do what its superior may not; below the deepest level, hardly anything."""

    def strict(bundle):
        bundle["limits"] |= {"delegation": "strict"}

    seen, shown = {}, {}
    for name, change in (("envelope", None), ("strict", strict)):
        activate(started.root, change=change)
        agent = started.host.open_chat()
        agent.config.profile = "co"
        turns = [call("call_subordinate", message=BUG), shell(), answer("x"), answer("ended")]
        started.host.say(agent, "Lead", turns)
        seen[name] = [
            tool for number, tool in started.host.ran if number == 1 and tool == "code_execution_tool"
        ]
        prompts = [
            each.system for each in started.host.seen if "You are the Bugfix Specialist" in each.system
        ]
        shown[name] = '"tool_name": "code_execution_tool"' in prompts[0]
        started.host.ran.clear()
        started.host.seen.clear()
    assert shown == {"envelope": True, "strict": False}
    assert seen == {"envelope": ["code_execution_tool"], "strict": []}
    assert "Commanding Officer, for whom Bugfix Specialist works, may not do this itself" in warnings_below(
        agent
    )


def warnings_below(agent) -> str:
    return json.dumps(agent.data["_subordinate"].history.output())


@pytest.fixture(params=["listed", "not_listed"])
def newest(tmp_path, request):
    """A build after 1.7: subordinates have chats of their own, several calls run at once, unlisted profiles are errors."""
    root = build_host(tmp_path / "a0", "G3")
    install(root, "G3")
    activate(root)
    for role_id in compiled("software_dev")["roles"]:
        profile = root / "usr/agents" / role_id / "agent.yaml"
        profile.parent.mkdir(parents=True, exist_ok=True)
        profile.write_text(f"enabled: {str(request.param == 'listed').lower()}\n", encoding="utf-8")
    with running(root, "G3") as host:
        host.newest = True
        agent = host.open_chat()
        agent.config.profile = "co"
        yield SimpleNamespace(agent=agent, host=host, say=lambda *turns: host.say(agent, "Lead", turns))


def test_newest_builds(newest):
    """The subordinate's chat is named, its superior is known, and another role still needs a reset."""
    newest.say(call("call_subordinate", message=BUG), answer("below"), answer("ended"))
    (chat,) = newest.agent.data["_subordinates"]
    below = newest.agent.data["_subordinates"][chat]
    assert below._org_active_role["role_id"] == "bugfix_specialist"
    assert below.context is not newest.agent.context
    more = call("call_subordinate", message="more", context_id=chat)
    other = call("call_subordinate", message=OSINT, profile="osint_specialist", context_id=chat)
    newest.say(more, answer("below"), other, answer("ended"))
    assert below._org_active_role["role_id"] == "bugfix_specialist"
    assert '`reset`: "true"' in warnings(newest.host)[-1]
    assert list(newest.agent.data["_subordinates"]) == [chat]


def test_several_calls_at_once_are_judged_one_by_one(newest):
    """A host runs them without the hooks of the agent that asks; a refused one stops them all, a role is chosen for each."""
    mixed = [call("memory_load", query="x"), call("browser_agent", message="x")]
    newest.say(call("parallel", tool_calls=mixed), answer("ended"))
    assert newest.host.ran[-1] == (0, "response")
    assert [tool for _, tool in newest.host.ran] == ["response"]
    assert "`browser_agent` is refused" in warnings(newest.host)[-1]
    assert "None of the calls" in warnings(newest.host)[-1]
    calls = [
        call("call_subordinate", message=BUG, reset=True),
        call("call_subordinate", message=OSINT, reset=True),
    ]
    newest.say(call("parallel", tool_calls=json.dumps(calls)), answer("a"), answer("b"), answer("ended"))
    made = [each._org_active_role["role_id"] for each in newest.agent.data["_subordinates"].values()]
    assert made == ["bugfix_specialist", "osint_specialist"]
    too_many = [call("call_subordinate", message=BUG, reset=True)] * 6
    newest.say(call("parallel", tool_calls=too_many), answer("ended"))
    assert "has 5 subordinates at work" in warnings(newest.host)[-1]
    newest.say(call("parallel", tool_calls=[{"name": "browser_agent"}]), answer("ended"))
    assert "cannot be read" in warnings(newest.host)[-1]
    newest.say(call("parallel", tool_calls=[call("memory_laod", query="x")]), answer("ended"))
    assert "Did you mean `memory_load`?" in warnings(newest.host)[-1]
