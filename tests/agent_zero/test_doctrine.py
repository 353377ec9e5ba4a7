"""PACE, SALUTE, signals and the supervisor in a running host."""

from __future__ import annotations

import pytest

from tests.agent_zero.double_loop import RepairableException, Response
from tests.agent_zero.installing import activate
from tests.agent_zero.neighbors import add_neighbors, publish_plain_warnings
from tests.agent_zero.saying import MISSING, answer, archived, call, org_lines, reports, shell

BUG = "Fix the bug in parser.py"


def failing(host, *results):
    """The shell answers these, one after the other."""
    left = iter(results)
    host.tools["code_execution_tool"] = lambda **_: next(left)


def cats(count):
    return [shell("cat", number) for number in range(count)]


def test_the_supervisor_says_once_what_a_tier_asks_for_and_only_to_the_model(started):
    """Its word is in the next prompt, in no later one, and never in the history, where it would be read as a task."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, MISSING, MISSING, MISSING, Response("a"), Response("b"), Response("c"))
    started.host.say(agent, BUG, cats(6))
    spoken = [
        number for number, prompt in enumerate(started.host.seen) if "[ORG supervisor]" in prompt.extras
    ]
    assert spoken == [3, 6], (
        "once for the tier in the first prompt after it, once when it is over and the cool-down is"
    )
    assert "went from PACE tier primary to alternate" in started.host.seen[3].extras
    assert "from PACE tier alternate to primary" in started.host.seen[6].extras
    assert not any("[ORG supervisor]" in str(prompt.history) for prompt in started.host.seen)
    assert any(
        line.startswith("Supervisor steers Bugfix Specialist: pace alternate") for line in org_lines(agent)
    )


def test_the_tier_stands_in_the_prompt_as_long_as_it_lasts(started):
    """From the first prompt after the third failure on, with what the plan of the role says for it."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, MISSING, MISSING, MISSING, Response("a"), Response("b"))
    started.host.say(agent, BUG, cats(5))
    duty = ["PACE alternate:" in prompt.entries[-1] for prompt in started.host.seen]
    assert duty == [False, False, False, True, False, False]
    assert "Look at the fault from another side" in started.host.seen[3].entries[-1]


def test_success_of_any_tool_ends_a_row_of_failures(started):
    """A neighbor's counter waits for the same tool; ours does not."""
    add_neighbors(started.root, started.generation, "fallback")
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, MISSING, MISSING, MISSING)
    turns = [*cats(2), call("memory_load", query="x"), shell("cat", 9), answer()]
    started.host.say(agent, BUG, turns)
    assert agent.data["_tool_failures"]["consecutive"]["code_execution_tool"] == 3
    assert agent._org_pace_level == "primary"
    assert reports(started.root)["bugfix_specialist"]["environment"]["tool_failures_consecutive"] == 1
    assert reports(started.root)["bugfix_specialist"]["environment"]["tool_failures_total"] == 3


def test_an_exception_in_a_tool_is_a_failure_and_a_refusal_of_ours_is_none(started):
    """Both come back to the model as a warning of the host."""
    activate(started.root)
    agent = started.host.open_chat()

    def breaks(**_):
        raise RepairableException("the session is gone")

    started.host.tools["code_execution_tool"] = breaks
    started.host.say(agent, BUG, [shell("ls", 1), call("browser_agent"), answer()])
    report = reports(started.root)["bugfix_specialist"]
    assert report["environment"]["tool_failures_total"] == 1
    assert "the session is gone" in str(started.host.seen[1].history)


def test_another_task_begins_in_primary_and_the_same_one_goes_on(started):
    """After failures: about something else the counters begin anew; about the same thing they stay."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 8)
    started.host.say(agent, BUG, [*cats(4), answer()])
    assert agent._org_pace_level == "alternate"
    started.host.say(agent, "Try it again, the bug is still there in parser.py", [shell("cat", 8), answer()])
    assert agent._org_pace_level == "contingent"
    started.host.say(agent, "Create a git branch and commit", [answer()])
    assert agent._org_pace_level == "primary"
    started.host.say(agent, "Fix the bug in lexer.py", [answer()])
    assert agent._org_pace_level == "primary"


def test_no_progress_in_too_many_turns_is_an_emergency(started):
    """The same command with the same answer is not progress, however often it succeeds."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.tools["code_execution_tool"] = lambda **_: Response("nothing new")
    started.host.say(agent, BUG, [*cats(26), answer()])
    told = [line for line in org_lines(agent) if line.startswith("PACE Bugfix Specialist")]
    assert len(told) == 1
    assert "escalated from primary to emergency: turns_without_progress 23 > max * 1.5 (22.5)" in told[0]
    assert reports(started.root)["bugfix_specialist"]["status"]["health"] == "critical"


def test_a_tier_that_a_plan_of_a_neighbor_raises_counts(started):
    """Its escalation is written to the attribute that we write, too; it is restored when nothing trips."""
    activate(started.root)
    agent = started.host.open_chat()

    def escalate(_):
        agent._org_pace_level = "contingent"
        return shell("ls", 1)

    started.host.say(agent, BUG, [escalate, shell("ls", 2), answer()])
    assert agent._org_pace_level == "primary"


def test_counters_stand_still_in_small_talk_and_are_forgotten_when_the_task_ends(started):
    """Small talk pauses the task and its counters. Without a role, there are none."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 4)
    started.host.say(agent, BUG, [*cats(4), answer()])
    assert set(agent.data["_orgkernel"].roles) == {"bugfix_specialist"}
    started.host.say(agent, "what time is it")
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    started.host.say(agent, "thanks, that is all")
    assert agent.data["_orgkernel"].roles == {}
    assert agent._org_pace_level == "primary"


def test_reports_carry_what_was_read_and_written(started):
    """Files, working directory and the plan's progress are real values."""
    add_neighbors(started.root, started.generation, "belief", "selector")
    activate(started.root)
    agent = started.host.open_chat()
    turns = [call("text_editor:read", path="a.py"), call("text_editor:patch", path="b.py"), answer()]
    started.host.say(agent, BUG, turns)
    report = reports(started.root)["bugfix_specialist"]
    assert report["location"]["files_read"] == ["a.py"]
    assert report["location"]["files_modified"] == ["b.py"]
    assert report["location"]["working_directory"]
    assert report["activity"]["htn_plan"] == "bugfix_workflow"
    assert report["activity"]["htn_total_steps"] == 4
    assert report["status"]["progress"] == 0.25


def test_copies_of_one_moment_do_not_overwrite_each_other(started):
    """Every change of tier is in the archive, however fast they come."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *([MISSING] * 3 + [Response("a")]) * 4)
    started.host.say(agent, BUG, [shell("cat", number) for number in range(16)])
    tiers = [each["status"]["pace_level"] for each in archived(started.root)]
    assert tiers.count("alternate") == 4


def test_signals_say_role_and_switch_of_the_turn(started):
    """Other layers read them in the agent's data."""
    activate(started.root)
    agent = started.host.open_chat()
    said = []

    def look(_):
        said.append(dict(agent.data["_layer_signals"]["org_kernel"]))
        return shell("ls", len(said))

    started.host.say(agent, BUG, [look, look, answer()])
    assert [(each["current_role"], each["switched_this_turn"], each["turn"]) for each in said] == [
        ("bugfix_specialist", True, 1),
        ("bugfix_specialist", False, 2),
    ]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("every", [True, False])
def test_the_supervisor_waits_when_another_layer_has_warned(started, plain, every):
    """One warning in a prompt: it waits for one turn, however often others warn, also where warnings are plain strings."""
    if plain:
        publish_plain_warnings(started.root)
    activate(started.root)
    agent = started.host.open_chat()
    calls = []

    def warn(**_):
        calls.append(1)
        if every or len(calls) == 3:
            agent.hist_add_warning("Somebody warns")
        return MISSING

    started.host.tools["code_execution_tool"] = warn
    started.host.say(agent, BUG, cats(6))
    from usr.organizations.lib.orgkernel_agent_zero.runtime import signals

    assert signals.read_counts(agent.data).get("conflict", 0) == 0
    spoken = [
        number for number, prompt in enumerate(started.host.seen) if "[ORG supervisor]" in prompt.extras
    ]
    assert spoken[0] == 4
    assert "PACE alternate:" in started.host.seen[3].entries[-1], "the duty of the tier does not wait"


def test_a_message_that_waited_is_about_the_tier_of_now(started):
    """A neighbor warns with the third failure, so the supervisor waits. Then a call succeeds, and the tier is over."""
    activate(started.root)
    agent = started.host.open_chat()
    results = iter([MISSING, MISSING, MISSING, Response("a"), Response("b")])
    calls = []

    def warn(**_):
        calls.append(1)
        if len(calls) == 3:
            agent.hist_add_warning("A neighbor warns")
        return next(results)

    started.host.tools["code_execution_tool"] = warn
    started.host.say(agent, BUG, [*cats(5), answer()])
    duties = ["PACE alternate:" in prompt.entries[-1] for prompt in started.host.seen]
    assert duties == [False, False, False, True, False, False]
    assert not any("to alternate" in prompt.extras for prompt in started.host.seen)


def test_an_emergency_ends_with_progress(started):
    """No stock host reports whether an error is unrecoverable; an agent that makes progress is not stuck."""
    activate(started.root)
    agent = started.host.open_chat()
    results = iter([Response("nothing new")] * 26 + [Response("found it")])
    started.host.tools["code_execution_tool"] = lambda **_: next(results)
    started.host.say(agent, BUG, [*cats(27), answer()])
    shown = ["PACE emergency:" in prompt.entries[-1] for prompt in started.host.seen]
    assert shown == [False] * 24 + [True] * 3 + [False]
    (line,) = [line for line in org_lines(agent) if "restored from emergency" in line]
    assert line.endswith("restored from emergency to primary: progress was made")
    assert "went from PACE tier emergency to primary: progress was made" in started.host.seen[27].extras


@pytest.mark.parametrize("enforcement", ["observe"])
def test_under_observe_reports_are_written_and_nothing_is_steered(started, enforcement):
    """What a role would have done is still seen."""
    activate(started.root, enforcement=enforcement)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 6)
    started.host.say(agent, BUG, cats(6))
    assert reports(started.root)["bugfix_specialist"]["status"]["pace_level"] == "contingent"
    assert "[ORG supervisor]" not in str(started.host.seen)
    assert "_layer_signals" not in agent.data


def test_a_tier_of_the_task_before_is_not_spoken_of_in_the_next(started):
    """Another task of the same role begins in primary, and there is nothing to take back."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 4, Response("a"), Response("b"), Response("c"), Response("d"))
    started.host.say(agent, BUG, [*cats(4), answer()])
    begun = len(started.host.seen)
    logs = "Read the access log and the audit trail, and make a timeline of events from the log file"
    started.host.say(agent, logs, [*(shell("tail", number) for number in range(4)), answer("a timeline")])
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    assert not any("[ORG supervisor]" in prompt.extras for prompt in started.host.seen[begun:])


def test_a_tier_ends_with_its_task_and_the_log_says_so(started):
    """Also one that the number of all failures raised, which no success takes back."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 4)
    started.host.say(agent, BUG, [*cats(4), answer()])
    assert agent._org_pace_level != "primary"
    started.host.say(agent, "thanks, that is all")
    (line,) = [line for line in org_lines(agent) if line.startswith("Role released")]
    assert "Its PACE tier alternate ends with the task, and its 4 failures no longer count" in line
    assert agent._org_pace_level == "primary"


@pytest.mark.parametrize("generation", ["G2"])
def test_the_supervisor_names_only_tools_that_the_host_has(started):
    """The catalogs list `text_editor`, which only the third generation has."""
    activate(started.root)
    agent = started.host.open_chat()
    failing(started.host, *[MISSING] * 4)
    started.host.say(agent, BUG, [*cats(4), answer()])
    (steering,) = [
        prompt.extras for prompt in started.host.seen if "went from PACE tier primary" in prompt.extras
    ]
    assert "search_engine" in steering
    assert "text_editor" not in steering
