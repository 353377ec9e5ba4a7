"""The role of a turn: settled when the message comes, from the message alone, and moved by nothing but another message."""

from __future__ import annotations

import pytest

from tests.agent_zero.double_loop import Response
from tests.agent_zero.installing import activate
from tests.agent_zero.neighbors import add_neighbors, publish_plain_warnings
from tests.agent_zero.saying import answer, archived, call, org_lines, role_of, shell, shown_by

pytestmark = pytest.mark.parametrize("generation", ["G2"], indirect=True)
"""`test_turn_law` runs all of this in every generation."""

BUG = "Fix the bug in parser.py"
GIT = "Create a git branch and commit the change"
NOBODY = "Prepare everything for Monday"
"""Words of no role; the tracker beside us takes it for a task about people."""


def watch(agent, seen, request):
    """A step of the model that notes which role is in force, and then asks for something."""

    def step(_):
        seen.append(role_of(agent))
        return request

    return step


@pytest.mark.parametrize(
    "said", ["git says: nothing to commit", "the docker daemon is up", "nothing special"]
)
def test_a_tool_result_moves_no_role(started, said):
    """A tracker takes it for a message; the task is still the same."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    started.host.tools["code_execution_tool"] = lambda **_: Response(said)
    agent, seen = started.host.open_chat(), []
    turns = [watch(agent, seen, shell("ls", number)) for number in range(3)]
    started.host.say(agent, BUG, [*turns, watch(agent, seen, answer())])
    assert seen == ["bugfix_specialist"] * 4
    assert len([line for line in org_lines(agent) if line.startswith("Role ")]) == 1


@pytest.mark.parametrize("plain", [False, True])
def test_the_same_foreign_call_is_refused_however_often_it_is_asked_for(started, plain):
    """Our own refusal names other roles; read back by a tracker, it must not lift the gate."""
    add_neighbors(started.root, started.generation)
    if plain:
        publish_plain_warnings(started.root)
    activate(started.root)
    agent = started.host.open_chat()
    asked = [call("browser_agent", query=f"who owns docker, git or module {number}") for number in range(4)]
    started.host.say(agent, BUG, [*asked, answer("fixed")])
    assert [tool for _, tool in started.host.ran] == ["response"]
    shown = [shown_by(prompt, started.generation) for prompt in started.host.seen]
    assert all(each == shown[0] for each in shown)


@pytest.mark.parametrize("plain", [False, True])
def test_a_warning_of_a_neighbor_moves_no_role(started, plain):
    """Neither as the host keeps it nor as a string."""
    add_neighbors(started.root, started.generation)
    if plain:
        publish_plain_warnings(started.root)
    activate(started.root)
    agent, seen = started.host.open_chat(), []

    def warn(**_):
        agent.hist_add_warning("Mind the git branch of the docker module")
        return Response("done")

    started.host.tools["code_execution_tool"] = warn
    started.host.say(agent, BUG, [watch(agent, seen, shell("ls", 1)), watch(agent, seen, answer())])
    assert seen == ["bugfix_specialist"] * 2


def test_small_talk_after_a_task_has_no_role_in_the_same_call(started):
    """The prompt is the host's own, and every call runs."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent = started.host.open_chat()
    stock = started.host.open_chat()
    started.host.say(stock, "what time is it", [call("browser_agent", query="x"), answer()])
    started.host.say(agent, BUG)
    begun = len(started.host.seen)
    started.host.say(agent, "what time is it", [call("browser_agent", query="x"), answer()])
    assert role_of(agent) is None
    assert [prompt.system for prompt in started.host.seen[begun:]] == [
        prompt.system for prompt in started.host.seen[:2]
    ]
    assert [tool for _, tool in started.host.ran[-2:]] == ["browser_agent", "response"]


@pytest.mark.parametrize(
    "message",
    [
        "go on",
        "do that again",
        "Nudged - continue",
        "yes",
        "Thanks! Now do the same in lexer.py",
        "great, but it still fails",
        "try it again please",
    ],
)
def test_who_is_told_to_go_on_keeps_the_role(started, message):
    """Also where a tracker makes nothing of it."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent, seen = started.host.open_chat(), []
    started.host.say(agent, BUG)
    started.host.say(agent, message, [watch(agent, seen, shell()), watch(agent, seen, answer())])
    assert seen == ["bugfix_specialist"] * 2


@pytest.mark.parametrize(
    "message",
    [
        "thanks, that is all",
        "Thank you, that works",
        "great, it works now",
        "ok cool, that's it for today",
        "perfect!",
        "bye",
    ],
)
def test_thanks_end_a_task(started, message):
    """They point back at it, and ask for nothing."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    started.host.say(agent, message)
    assert role_of(agent) is None


def test_a_tracker_that_looked_at_the_message_before_us_settles_the_role(started):
    """Its belief is new since the last message; the same record at the next message is about the one before."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, "what time is it")
    agent._bst_store = {"__bst_belief_state__": {"domain": "git_ops"}}
    started.host.say(agent, BUG)
    assert role_of(agent) == "devops_specialist"
    started.host.say(agent, BUG)
    assert role_of(agent) == "bugfix_specialist"


def test_where_words_choose_no_role_a_tracker_does_from_the_second_call_on(started):
    """The call in between shows, refuses and reports nothing, because its prompt was that of no role."""
    add_neighbors(started.root, started.generation, "belief")
    activate(started.root)
    agent, seen = started.host.open_chat(), []
    started.host.tools["code_execution_tool"] = lambda **_: Response("a bug in the docker module")
    turns = [watch(agent, seen, shell("ls", number)) for number in range(3)]
    started.host.say(agent, NOBODY, [*turns, watch(agent, seen, answer())])
    assert seen == [None, *["osint_specialist"] * 3]
    assert "scheduler" in shown_by(started.host.seen[0], started.generation)
    assert "scheduler" not in shown_by(started.host.seen[1], started.generation)
    assert [report["unit"]["role_id"] for report in archived(started.root)] == ["osint_specialist"] * 2


def test_what_a_tracker_settled_too_late_for_the_turn_is_what_goes_on(started):
    """The turn had one call; the task of the next message is the same."""
    add_neighbors(started.root, started.generation, "belief")
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, NOBODY, [answer()])
    assert role_of(agent) is None
    started.host.say(agent, "go on", [answer()])
    assert role_of(agent) == "osint_specialist"


def test_a_tracker_that_read_something_else_settles_nothing(started):
    """A warning came after the message, before the model was called."""
    add_neighbors(started.root, started.generation, "belief")
    publish_plain_warnings(started.root)
    activate(started.root)
    agent, seen = started.host.open_chat(), []
    begin = agent.call

    async def call_and_warn(hook, **kwargs):
        if hook == "message_loop_start" and kwargs["loop_data"].iteration == 0:
            agent.hist_add_warning("The git branch is behind")
        await begin(hook, **kwargs)

    def believe(_):
        believed.append(agent._bst_store["__bst_belief_state__"]["domain"])
        return shell()

    agent.call = call_and_warn
    believed: list[str] = []
    started.host.say(agent, NOBODY, [believe, watch(agent, seen, answer())])
    assert believed == ["git_ops"]
    assert seen == [None]


def test_switched_on_in_the_middle_of_a_chat_the_old_belief_counts_for_nothing(started):
    """What a tracker believes then is about an earlier message."""
    add_neighbors(started.root, started.generation)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    activate(started.root)
    started.host.say(agent, GIT)
    assert role_of(agent) == "devops_specialist"


def test_the_user_who_speaks_in_the_middle_of_a_turn_changes_the_role(started):
    """In the next prompt: an intervention is a message as any other."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent, seen = started.host.open_chat(), []

    def speak(**_):
        agent.intervention = GIT
        return Response("never mind")

    started.host.tools["code_execution_tool"] = speak
    turns = [
        watch(agent, seen, shell("ls", 1)),
        watch(agent, seen, call("browser_agent")),
        watch(agent, seen, answer()),
    ]
    started.host.say(agent, BUG, turns)
    assert seen == ["bugfix_specialist", "devops_specialist", "devops_specialist"]


def test_a_turn_that_a_host_starts_again_keeps_its_role(started):
    """After an error that is no fault of the model; the host's warning about it is not the user's word."""
    add_neighbors(started.root, started.generation)
    publish_plain_warnings(started.root)
    activate(started.root)
    agent, seen = started.host.open_chat(), []
    broken = iter([True])

    def breaks(**_):
        if next(broken, False):
            raise OSError("git was not found in the docker module")
        return Response("done")

    started.host.tools["code_execution_tool"] = breaks
    turns = [
        watch(agent, seen, shell("ls", 1)),
        watch(agent, seen, shell("ls", 2)),
        watch(agent, seen, answer()),
    ]
    started.host.say(agent, BUG, turns)
    assert seen == ["bugfix_specialist"] * 3
    assert len([line for line in org_lines(agent) if line.startswith("Role ")]) == 1


def test_without_the_hook_before_the_prompt_the_role_is_settled_at_once(started):
    """A host, or a test, that only calls the dispatcher of the specification."""
    activate(started.root)
    from usr.organizations.lib.orgkernel_agent_zero import hooks

    agent = started.host.open_chat()
    agent.hist_add_user_message(NOBODY)
    agent._bst_store = {"__bst_belief_state__": {"domain": "bugfix"}}
    for _ in range(2):
        hooks.before_main_llm_call(agent, loop_data=agent.loop_data)
        assert role_of(agent) == "bugfix_specialist"
        agent._bst_store = {"__bst_belief_state__": {"domain": "git_ops"}}
    agent.hist_add_user_message(GIT)
    hooks.before_main_llm_call(agent, loop_data=agent.loop_data)
    assert role_of(agent) == "devops_specialist"


def test_a_language_that_no_role_has_examples_in_is_said_once(started, monkeypatch):
    """And what to do about it."""
    activate(started.root)
    agent = started.host.open_chat()
    from usr.organizations.lib.orgkernel_agent_zero.runtime import text_index

    found = text_index.Ranking(outcome="language", language="Latin")
    monkeypatch.setattr(text_index, "rank_roles", lambda *_: found)
    for _ in range(2):
        started.host.say(agent, "Age quod agis")
    said = [line for line in org_lines(agent) if "Latin" in line]
    assert len(said) == 1
    assert "examples" in said[0]


FOLLOW_UPS = [
    "show me the diff",
    "and the tests?",
    "explain what you changed",
    "run it",
    "also update the readme",
]


@pytest.mark.parametrize("message", FOLLOW_UPS)
def test_a_follow_up_keeps_the_role_and_its_gate(started, message):
    """Foreign calls stay refused, the log says why, and a tracker that takes it for another domain changes nothing."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent, seen = started.host.open_chat(), []
    started.host.say(agent, BUG)
    ran = len(started.host.ran)
    started.host.say(
        agent, message, [watch(agent, seen, call("browser_agent", query="x")), watch(agent, seen, answer())]
    )
    assert seen == ["bugfix_specialist"] * 2
    assert [tool for _, tool in started.host.ran[ran:]] == ["response"]
    kept = [line for line in org_lines(agent) if line.startswith("Same task: Bugfix Specialist")]
    assert len(kept) == 1
    assert "this is still the task of" in kept[0]


@pytest.mark.parametrize("message", ["how are you today?", "What is the capital of France?"])
def test_small_talk_pauses_a_task_and_opens_no_gate(started, message):
    """The role stays in force, its counters stand still, and the next message returns to the task."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [shell(), answer()])
    turns, ran = agent.data["_orgkernel"].roles["bugfix_specialist"].turns, len(started.host.ran)
    started.host.say(agent, message, [call("browser_agent", query="x"), answer()])
    assert role_of(agent) == "bugfix_specialist"
    assert [tool for _, tool in started.host.ran[ran:]] == ["response"]
    assert agent.data["_orgkernel"].roles["bugfix_specialist"].turns == turns
    assert sum(line.startswith("Task paused: Bugfix Specialist") for line in org_lines(agent)) == 1
    started.host.say(agent, "so, what was the cause?")
    assert agent.data["_orgkernel"].roles["bugfix_specialist"].turns > turns


def test_a_task_that_a_commander_hands_on_moves_to_the_other_role(started):
    """The same object, another domain."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    started.host.say(agent, "Now commit it and push the branch")
    assert role_of(agent) == "devops_specialist"
    assert any("on what the task of" in line for line in org_lines(agent))
