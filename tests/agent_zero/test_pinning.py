"""A user pins a role to a chat and releases it, by words or by the panel."""

from __future__ import annotations

import json

import pytest

from tests.agent_zero.installing import activate
from tests.agent_zero.saying import answer, call, org_lines, role_of, shell

pytestmark = pytest.mark.parametrize("generation", ["G3"], indirect=True)
BUG = "Fix the bug in parser.py"


def said(agent):
    """The lines of the log without those about the effect, which end a turn."""
    return [line for line in org_lines(agent) if not line.startswith("Effect: ")]


@pytest.fixture
def chat(started):
    """A chat in a host where an organization is active, and our functions."""
    activate(started.root)
    from usr.organizations.lib.orgkernel_agent_zero import pinning

    started.agent, started.pinning = started.host.open_chat(), pinning
    return started


@pytest.mark.parametrize(
    ("said", "role", "task"),
    [
        ("/role osint_specialist", "osint_specialist", ""),
        ("/role OSINT Specialist: fix the bug", "osint_specialist", "fix the bug"),
        ("  /ROLE osint fix the bug", "osint_specialist", "fix the bug"),
        ("/role devops\nfix the bug\nin parser.py", "devops_specialist", "fix the bug\nin parser.py"),
        ("/role eng xo, hand it out", "engineering_xo", "hand it out"),
        ("/role co write the plan", "co", "write the plan"),
        ("/role research_xo", "research_xo", ""),
        ("/role: devops_specialist deploy", "devops_specialist", "deploy"),
    ],
)
def test_a_message_pins_the_role_that_it_names(chat, said, role, task):
    """By id, name, or a part that fits no other; the rest of the message is the task, and the log says what was understood."""
    chat.host.say(chat.agent, said, [answer()])
    assert chat.pinning.get_pinned_role(chat.agent.context) == role
    assert role_of(chat.agent) == role
    assert chat.agent.data["_orgkernel"].task == task
    assert org_lines(chat.agent)[0].startswith("Pinned: ")
    assert f"`{role}`" in org_lines(chat.agent)[0]
    assert "`/role auto`" in org_lines(chat.agent)[0]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("/role lawyer write a contract", "`lawyer` is not a role of software_dev. Roles: `co`,"),
        ("/role bugfx fix it", "Did you mean `bugfix_specialist`?"),
        ("/role xo look at it", "`xo` fits `engineering_xo`, `research_xo`. Name one of them."),
        ("/role ... what", "not a role of software_dev"),
    ],
)
def test_a_name_that_fits_no_role_or_several_pins_nothing(chat, said, why):
    """It is told with what may be meant."""
    chat.host.say(chat.agent, said, [answer()])
    assert chat.pinning.get_pinned_role(chat.agent.context) is None
    (line,) = [line for line in org_lines(chat.agent) if line.startswith("No role was pinned")]
    assert why in line


@pytest.mark.parametrize(
    "said",
    [
        "What does /role do?", "/roles are many", "/role-play a pirate", "/rolex", "/role/co/notes.md is outdated",
        "/role.yaml is broken", "/role devops/notes.md is outdated", "/role co.yaml is broken", "look at src/role/co.md",
        "/role ./co/notes.md is outdated", "/role co\\notes.md is outdated",
    ],
)  # fmt: skip
def test_other_words_are_no_command(chat, said):
    """The command begins the message, and is a word of its own. Neither it nor the name behind it is part of a path."""
    chat.host.say(chat.agent, said, [answer()])
    assert not [line for line in org_lines(chat.agent) if "inned" in line]


def test_a_pinned_role_takes_everything_until_it_is_released(chat):
    """Small talk and the work of others too; a pin wins over the words, a tracker and the agent's profile."""
    host, agent = chat.host, chat.agent
    agent.config.profile = "co"
    host.say(agent, "/role osint_specialist", [answer()])
    for message in (BUG, "what time is it", "Create a git branch"):
        agent._bst_store = {"__bst_belief_state__": {"domain": "bugfix"}}
        host.say(agent, message, [call("scheduler", name=message), answer()])
        assert role_of(agent) == "osint_specialist"
    assert (0, "scheduler") not in host.ran
    host.say(agent, f"/role auto {BUG}", [answer()])
    assert role_of(agent) == "co"
    agent.config.profile = "agent0"
    host.say(agent, BUG, [answer()])
    assert role_of(agent) == "bugfix_specialist"


def test_a_released_pin_is_not_shown_as_pinned(chat):
    """Between the release in the panel and the next message, the role is still in force."""
    from usr.organizations.lib.orgkernel_agent_zero import showing

    chat.host.say(chat.agent, "/role osint", [answer()])
    assert showing.describe(chat.agent)["chosen"] == "it is pinned to this chat"
    chat.pinning.release(chat.agent.context)
    shown = showing.describe(chat.agent)
    assert (shown["pinned"], shown["role"]) == (None, "osint_specialist")
    assert shown["chosen"] == "it was pinned until now, and the next message chooses a role again"


@pytest.mark.parametrize("word", ["auto", "off", "none", "release", "AUTO"])
def test_each_word_of_release_releases(chat, word):
    """The rest of the message is the task."""
    chat.host.say(chat.agent, "/role osint", [answer()])
    chat.host.say(chat.agent, f"/role {word}: {BUG}", [answer()])
    assert chat.pinning.get_pinned_role(chat.agent.context) is None
    assert role_of(chat.agent) == "bugfix_specialist"


def test_who_only_asks_is_told_and_nothing_changes(chat):
    """Neither the role nor what is counted about its task."""
    chat.host.say(chat.agent, BUG, [shell(), answer()])
    turns = chat.agent.data["_orgkernel"].roles["bugfix_specialist"].turns
    chat.host.say(chat.agent, "/role", [answer()])
    assert role_of(chat.agent) == "bugfix_specialist"
    assert chat.agent.data["_orgkernel"].roles["bugfix_specialist"].turns == turns + 1
    assert chat.agent.data["_orgkernel"].task == BUG
    assert said(chat.agent)[-1].startswith("No role is pinned; Roles: `co`, ")
    chat.host.say(chat.agent, "/role osint", [answer()])
    chat.host.say(chat.agent, "/role", [answer()])
    assert said(chat.agent)[-1].startswith("Pinned: OSINT Specialist; Roles: ")


def test_a_pin_is_for_the_main_agent(chat):
    """A subordinate keeps the role of its profile, and what its superior writes pins nothing."""
    chat.host.say(chat.agent, "/role engineering_xo", [answer()])
    below = call("call_subordinate", message=f"/role osint {BUG}", profile="bugfix_specialist", reset="true")
    chat.host.say(chat.agent, "See to it", [below, answer("fixed"), answer()])
    assert role_of(chat.agent) == "engineering_xo"
    assert role_of(chat.agent.data["_subordinate"]) == "bugfix_specialist"
    assert chat.pinning.get_pinned_role(chat.agent.context) == "engineering_xo"


def test_a_user_who_interrupts_a_subordinate_pins_for_the_chat(chat):
    """The message goes to the agent that works; the pin is for the main agent's next message."""

    def interrupt(**_):
        chat.agent.data["_subordinate"].intervention = "/role osint go on"
        return "never mind"

    chat.host.tools["code_execution_tool"] = interrupt
    chat.host.say(chat.agent, "/role engineering_xo", [answer()])
    below = call("call_subordinate", message=BUG, profile="bugfix_specialist", reset="true")
    chat.host.say(chat.agent, "See to it", [below, shell(), answer("fixed"), answer()])
    assert role_of(chat.agent.data["_subordinate"]) == "bugfix_specialist"
    assert role_of(chat.agent) == "engineering_xo"
    chat.host.say(chat.agent, "See to it", [answer()])
    assert role_of(chat.agent) == "osint_specialist"


def test_a_pin_of_the_panel_counts_from_the_next_message_on(chat):
    """What a running turn was shown stays what is enforced."""
    chat.host.tools["code_execution_tool"] = lambda **_: chat.pinning.pin(
        chat.agent.context, "OSINT Specialist"
    )
    chat.host.say(chat.agent, BUG, [shell(), answer()])
    assert chat.pinning.get_pinned_role(chat.agent.context) == "osint_specialist"
    assert role_of(chat.agent) == "bugfix_specialist"
    chat.host.say(chat.agent, BUG, [answer()])
    assert role_of(chat.agent) == "osint_specialist"
    chat.pinning.release(chat.agent.context)
    chat.host.say(chat.agent, BUG, [answer()])
    assert role_of(chat.agent) == "bugfix_specialist"


def test_the_panel_hears_why_a_role_cannot_be_pinned(chat):
    """In words; and where nothing is active, that there is no role to pin."""
    problem = chat.pinning.pin(chat.agent.context, "bugfx")
    assert problem == "`bugfx` is not a role of software_dev. Did you mean `bugfix_specialist`?"
    assert chat.pinning.pin(chat.agent.context, "bugfix specialist please") is not None
    assert chat.pinning.get_pinned_role(chat.agent.context) is None
    (chat.root / "usr/organizations/active.json").unlink()
    problem = chat.pinning.pin(chat.agent.context, "co")
    assert problem == "no organization is active, so there is no role to pin"


def test_a_pinned_role_that_is_gone_is_released_and_said(chat):
    """Another organization was activated; a role that it has too stays pinned."""
    chat.host.say(chat.agent, "/role co", [answer()])
    activate(chat.root, "sigint_alpha")
    chat.host.say(chat.agent, "what time is it", [answer()])
    assert role_of(chat.agent) == "co"
    chat.pinning.pin(chat.agent.context, "humint_specialist")
    activate(chat.root)
    chat.host.say(chat.agent, BUG, [answer()])
    assert chat.pinning.get_pinned_role(chat.agent.context) is None
    assert role_of(chat.agent) == "bugfix_specialist"
    assert [line for line in org_lines(chat.agent) if line.startswith("Pin released: the role is gone")]


def test_a_pin_is_never_saved_with_a_chat(chat):
    """Hosts save the keys of a chat that do not begin with an underscore."""
    chat.host.say(chat.agent, "/role co", [answer()])
    saved = {key: value for key, value in chat.agent.context.data.items() if not key.startswith("_")}
    assert "co" not in json.dumps(saved)
