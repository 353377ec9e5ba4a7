"""What a prompt costs: nothing without a role, and with one it shows that role's tools, whatever else the host does to it."""

from __future__ import annotations

import pytest

from tests.agent_zero.double import running
from tests.agent_zero.double_prompts import TOOLS_HEADER, files_in
from tests.agent_zero.installing import activate, compiled, deactivate
from tests.agent_zero.neighbors import HOME, add_rewriter
from tests.agent_zero.saying import answer, call, org_lines, shell
from tests.support.tokens import count_tokens

BUG = "Fix the bug in parser.py"
FOREIGN = ("scheduler", "notify_user", "document_query", "a2a_chat", "wait", "browser_agent")
HEAD = (
    "try:\n    from helpers.extension import Extension\nexcept ImportError:\n    from python.helpers.extension import Extension\n"
    "class Other(Extension):\n    async def execute(self, system_prompt=None, loop_data=None, **kwargs):\n"
)


def systems(root, generation, message, turns=()):
    """The system prompts of one user turn in a fresh process, and what we logged."""
    with running(root, generation) as host:
        agent = host.open_chat()
        host.say(agent, message, turns)
        return [prompt.system for prompt in host.seen], org_lines(agent)


def test_a_turn_without_a_role_has_the_prompt_of_the_host(root, generation):
    """Byte for byte the host's prompt, with an organization on and after its `active.json` was deleted by hand."""
    before, _ = systems(root, generation, "what time is it", [shell(), answer()])
    activate(root)
    on, lines = systems(root, generation, "what time is it", [shell(), answer()])
    deactivate(root)
    off, _ = systems(root, generation, BUG, [shell(), answer()])
    assert on == before
    assert off == before
    assert "researcher" in before[0]
    assert lines == []


@pytest.mark.parametrize("generation", ["G2"])
def test_an_agent_of_another_profile_is_not_told_of_the_roles(root, generation):
    """Only who may hand work to a role reads its name, in its own brief."""
    activate(root)
    with running(root, generation) as host:
        for profile, named in (("researcher", False), ("osint_specialist", False), ("research_xo", True)):
            agent = host.open_chat()
            agent.config.profile = profile
            host.say(agent, "what time is it")
            assert ("analysis_specialist" in host.seen[-1].system) == named


def test_specialists_are_spared_60_percent_also_where_fences_are_stripped_from_the_joined_files(
    root, generation
):
    """In tokens of the tool section. In the first generation its text differs from that of the single files."""
    activate(root)
    least = 0.6 if generation != "G3" else 0.4
    with running(root, generation) as host:
        host.say(host.open_chat(), "what time is it")
        stock = count_tokens(host.seen[0].entries[1])
        for role_id, role in compiled("software_dev")["roles"].items():
            if role["role_type"] == "specialist":
                agent = host.open_chat()
                agent.config.profile = role_id
                host.say(agent, "go on")
                section = host.seen[-1].entries[1]
                assert section.startswith(TOOLS_HEADER)
                assert 1 - count_tokens(section) / stock >= least, role_id
                assert "Your tools" not in host.seen[-1].system
                assert not [line for line in org_lines(agent) if "section" in line]


def test_what_was_not_recognized_is_named_and_the_role_is_told_its_tools(root, generation):
    """If an extension rewords a file of the section, this file stays, the others are removed, and the log reports the rest."""
    file = root / HOME[generation] / "system_prompt" / "_50_reword.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        HEAD + "        system_prompt[:] = [each.replace('\\n2 scheduler takes', '\\n2 the scheduler takes')"
        " for each in system_prompt]\n",
        encoding="utf-8",
    )
    activate(root)
    with running(root, generation) as host:
        agent = host.open_chat()
        host.say(agent, BUG, [shell(), answer()])
        system = host.seen[1].system
        assert files_in(system, generation) & {"wait", "notify_user", "a2a_chat"} == set()
        assert "the scheduler takes" in system
        assert system.endswith("`input`, `response`.")
        logged = [text for _, text in agent.context.log.entries if "not recognized" in text]
    assert len(logged) == 1
    assert "characters, about tools that are refused to Bugfix Specialist: `scheduler`." in logged[0]


@pytest.mark.parametrize("generation", ["G2"])
@pytest.mark.parametrize("calls", [1, 3])
def test_a_neighbor_that_rewrites_the_section_after_us_is_outlasted(root, generation, calls):
    """Its menu and its whole texts keep what belongs to the role, and nothing else."""
    add_rewriter(root, generation)
    activate(root)
    turns = [shell(), call("scheduler", name="x"), answer()]
    found, lines = systems(root, generation, BUG, turns[:calls])
    system = found[-1]
    assert "Select a tool from the list below." in system
    assert "- **code_execution_tool**: " in system
    assert "**response (full spec):**" in system
    assert not [tool for tool in FOREIGN if tool in system]
    assert "You are the Bugfix Specialist" in system
    assert not [line for line in lines if "section" in line]


@pytest.mark.parametrize("generation", ["G2"])
def test_a_neighbor_that_rewrites_the_section_last_is_told(root, generation):
    """Nothing of ours runs after it before the model is called. Its name decides, and the log says so."""
    add_rewriter(root, generation, "_97_tiered_tool_injection")
    activate(root)
    found, lines = systems(root, generation, BUG, [shell(), answer()])
    assert "- **scheduler**: " in found[0]
    assert len([line for line in lines if line.startswith("Another extension changed the tool section")]) == 1


@pytest.mark.parametrize("generation", ["G2"])
def test_a_neighbor_whose_section_has_no_form_is_told(root, generation):
    """It replaces the section by words of its own."""
    file = root / HOME[generation] / "message_loop_prompts_after" / "_50_words.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        HEAD + "        loop_data.system[1] = 'Use scheduler, wait or any other tool.'\n", encoding="utf-8"
    )
    activate(root)
    found, lines = systems(root, generation, BUG, [shell(), answer()])
    assert "Use scheduler, wait" in found[0]
    assert len([line for line in lines if "unknown form" in line]) == 1


@pytest.mark.parametrize("generation", ["G3"])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Available skills \n- use skills_tool to load with **skill_name**\n\n**maps** Draws maps", False),
        ("## skills\nuse `skills_tool:list` to discover skills", False),
        ("# Skills of our team\nask Anna", True),
    ],
)
def test_the_list_of_skills_is_for_roles_that_can_load_them(root, generation, text, shown):
    """Entries of others about skills stay."""
    file = root / HOME[generation] / "system_prompt/_13_more.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{HEAD}        system_prompt.append({text!r})\n", encoding="utf-8")
    activate(root)
    with running(root, generation) as host:
        for message, expected in ((BUG, shown), ("Write a function that sorts dates", True)):
            host.say(host.open_chat(), message)
            assert (text in host.seen[-1].entries) == expected


@pytest.mark.parametrize("generation", ["G2"])
def test_without_a_role_a_neighbor_does_as_without_us(root, generation):
    """Nothing is trimmed and nothing is logged."""
    add_rewriter(root, generation)
    before = systems(root, generation, "what time is it", [shell(), answer()])
    activate(root)
    assert systems(root, generation, "what time is it", [shell(), answer()]) == before


@pytest.mark.parametrize("generation", ["G2"])
def test_the_files_of_a_prompt_are_read_once(started):
    """Not again in the next message or the next chat, until one of them has changed."""
    activate(started.root)
    host = started.host

    def reads_of(message):
        agent, before = host.open_chat(), host.prompts.reads
        host.say(agent, message)
        return host.prompts.reads - before

    stock = reads_of("what time is it")
    assert reads_of(BUG) > stock
    assert reads_of(BUG) == stock
    file = started.root / "prompts/agent.system.tool.scheduler.md"
    file.write_text(
        file.read_text(encoding="utf-8").replace("2 scheduler", "2 this scheduler"), encoding="utf-8"
    )
    assert reads_of(BUG) > stock
    assert "scheduler" not in host.seen[-1].system
    assert reads_of(BUG) == stock
