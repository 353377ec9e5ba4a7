"""A role has a visible effect: what its agent is shown, and what it is refused."""

from __future__ import annotations

import pytest

from tests.agent_zero.double import running
from tests.agent_zero.double_prompts import PROJECT, SECRETS, TOOLS_HEADER, files_in, mcp_text
from tests.agent_zero.installing import activate, compiled
from tests.agent_zero.neighbors import add_neighbors
from tests.agent_zero.saying import answer, call, org_lines, shell

BUG = "Fix the bug in parser.py"


def test_the_first_call_of_a_turn_shows_the_tools_of_the_role_and_its_brief(started):
    """Files that serve none of its tools are gone, every other entry is untouched, and the brief is the last entry."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    prompt = started.host.seen[0]
    expected = {"code_exe", "input", "memory", "response", "search_engine"}
    assert files_in(prompt.system, started.generation) == expected | (
        {"text_editor"} if started.generation == "G3" else set()
    )
    assert TOOLS_HEADER in prompt.system
    assert {SECRETS, PROJECT} < set(prompt.entries)
    assert prompt.entries[-1] == compiled("software_dev")["roles"]["bugfix_specialist"]["brief"].strip()


def test_the_trimmed_section_is_what_the_host_would_have_built_from_those_files(started):
    """Header, blank lines between files and order are the host's."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    section = next(entry for entry in started.host.seen[0].entries if entry.startswith(TOOLS_HEADER))
    kept = files_in(section, started.generation)
    texts = [started.host.prompts.raw(agent, name) for name in started.host.prompts.tool_files(agent)]
    rebuilt = "\n\n".join(text for text in texts if files_in(text, started.generation) & kept)
    whole = f"{TOOLS_HEADER}\n{rebuilt}"
    if started.generation == "G1":  # which fences go depends on the files that were cut
        assert files_in(section, "G1") == kept
        section, whole = (
            " ".join(each.replace("~~~", "").replace("json", "").split()) for each in (section, whole)
        )
    assert section == whole


def test_a_switch_shows_other_tools_in_the_very_next_call(started):
    """Also where a tracker of the host still believes in the task before while the prompt is built."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    started.host.say(agent, "Investigate who owns acme.example and look up public records")
    shown = files_in(started.host.seen[1].system, started.generation)
    assert agent._org_active_role["role_id"] == "osint_specialist"
    assert "browser" in shown
    assert (
        "code_exe" not in shown
        or "code_execution_tool" in compiled("software_dev")["roles"]["osint_specialist"]["host_tools"]
    )


def test_a_call_outside_the_role_is_refused_with_who_may_and_a_way_on(started):
    """The tool does not run; the model reads plain words, no trace of the host, and the turn goes on."""
    activate(started.root)
    agent = started.host.open_chat()
    said = started.host.say(
        agent, BUG, [call("browser_agent", query="x"), call("browser_agent", query="y"), answer("fixed")]
    )
    assert said == "fixed"
    assert [tool for _, tool in started.host.ran] == ["response"]
    warning = started.host.seen[1].history[-1]["content"]["system_warning"]
    assert warning.startswith(
        "`browser_agent` is refused: it is not a tool of Bugfix Specialist in Software Development"
    )
    assert "Roles that may use it: OSINT Specialist." in warning
    assert "`response`" in warning
    assert "Traceback" not in warning
    assert [line for line in org_lines(agent) if "Refused" in line] == [
        f"Refused `browser_agent` to Bugfix Specialist; {warning}"
    ]


def test_an_action_outside_the_role_is_refused_and_the_others_are_not(started):
    """By the method of the call, or by the argument in which tools of the host name what they do."""

    def change(bundle):
        bundle["roles"]["bugfix_specialist"]["tools"]["code_execution_tool"]["actions"]["nodejs"] = False
        bundle["roles"]["bugfix_specialist"]["tools"]["text_editor"]["actions"]["write"] = False

    activate(started.root, change=change)
    agent = started.host.open_chat()
    node = call("code_execution_tool", runtime="nodejs", code="1")
    started.host.say(
        agent,
        BUG,
        [node, shell(), call("text_editor:write", path="a"), call("text_editor:read", path="a"), answer()],
    )
    assert [tool for _, tool in started.host.ran] == ["code_execution_tool", "text_editor:read", "response"]
    warning = started.host.seen[1].history[-1]["content"]["system_warning"]
    assert warning.startswith(
        "`code_execution_tool:nodejs` is refused: Bugfix Specialist may use `code_execution_tool`"
    )
    assert "Allowed: `terminal`, `python`, `output`, `reset`." in warning


@pytest.mark.parametrize("enforcement", ["observe", "trim"])
def test_what_is_not_enforced_is_logged_and_runs(started, enforcement):
    """`observe` leaves the prompt as it is; `trim` shows the role's tools only; neither refuses."""
    activate(started.root, enforcement=enforcement)
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [call("browser_agent", query="x"), answer()])
    assert [tool for _, tool in started.host.ran] == ["browser_agent", "response"]
    lines = org_lines(agent)
    assert any(line.startswith("Would refuse `browser_agent` to Bugfix Specialist; ") for line in lines)
    shown = files_in(started.host.seen[0].system, started.generation)
    assert ("scheduler" in shown) == (enforcement == "observe")
    assert any(line.startswith("Would hide ") for line in org_lines(agent)) == (enforcement == "observe")


def test_under_observe_the_host_cannot_tell_that_we_are_there(tmp_path, generation, root):
    """Prompts, calls and what neighbors read are those of a host without us."""
    turns = [shell(), call("browser_agent", query="x"), shell("cat", 1), answer()]
    add_neighbors(root, generation)
    seen = []
    for on in (False, True):
        if on:
            activate(root, enforcement="observe")
        with running(root, generation) as host:
            agent = host.open_chat()
            said = host.say(agent, BUG, turns)
            keys = {*agent.__dict__, *agent.data} - {"_orgkernel"}
            seen.append((said, host.ran, [each.text for each in host.seen], keys, agent._htn_state))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("setting", ["warn", "refuse"])
def test_a_tool_no_catalog_knows_is_warned_of_or_refused(root, generation, setting):
    """An MCP tool with its block in the prompt, and a tool file of another author."""
    activate(root, unlisted_tools=setting)
    (root / "prompts/agent.system.tool.stock_ticker.md").write_text(
        '### stock_ticker\nprices\n{"tool_name": "stock_ticker"}', encoding="utf-8"
    )
    with running(root, generation, mcp={"mail": ("send", "list")}) as host:
        host.tools |= {"mail.send": lambda **_: "sent", "stock_ticker": lambda **_: "42"}
        agent = host.open_chat()
        host.say(agent, BUG, [call("mail.send"), call("stock_ticker"), answer()])
        ran = [tool for _, tool in host.ran]
        system = host.seen[0].system
        lines = org_lines(agent)
    if setting == "warn":
        assert ran == ["mail.send", "stock_ticker", "response"]
        assert mcp_text({"mail": ("send", "list")}) in system
        assert "### stock_ticker" in system
        assert "Bugfix Specialist uses `mail.send`, which no tool catalog lists" in lines
    else:
        assert ran == ["response"]
        assert "mail.send" not in system
        assert "### stock_ticker" not in system


def test_of_remote_tools_only_those_of_the_role_are_shown(root, generation):
    """A listed MCP tool of another role loses its block; the one of this role and the server's head stay."""

    def change(bundle):
        for name, role in (("mail.send", "co"), ("mail.list", "bugfix_specialist")):
            bundle["tools"][name] = {"tool": name, "name": name, "roles": [role], "essential": False}
            bundle["roles"][role]["host_tools"].append(name)

    activate(root, change=change)
    with running(root, generation, mcp={"mail": ("send", "list"), "maps": ("find",)}) as host:
        agent = host.open_chat()
        host.say(agent, BUG)
        assert mcp_text({"mail": ("list",), "maps": ("find",)}) in host.seen[0].entries


def test_a_section_of_a_form_we_do_not_know_is_left_alone(started):
    """If an extension rewrites tool texts after the host has read them, the prompt stays complete, and the log reports
    it once.
    """
    activate(started.root)
    home = {"G1": "python/extensions", "G2": "usr/extensions", "G3": "usr/extensions/python"}[
        started.generation
    ]
    file = started.root / home / "system_prompt" / "_50_shout.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "try:\n    from helpers.extension import Extension\nexcept ImportError:\n    from python.helpers.extension import Extension\n"
        "class Shout(Extension):\n    async def execute(self, system_prompt=None, **kwargs):\n"
        "        system_prompt[:] = [entry.upper() for entry in system_prompt]\n",
        encoding="utf-8",
    )
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [shell(), answer()])
    assert "SCHEDULER" in started.host.seen[0].system
    assert [line for line in org_lines(agent) if "unknown form" in line] == [
        "The tool section of the prompt has an unknown form and was not trimmed; No file about tools was found in it as the "
        "host reads it. Calls are still refused."
    ]
    assert started.host.seen[0].entries[-1].startswith("Your tools: `code_execution_tool`, ")


def test_a_subordinate_called_with_the_profile_of_a_role_is_that_role(started):
    """Its own record, its own tools; the superior stays what it was."""
    activate(started.root)
    agent = started.host.open_chat()
    inner = [call("browser_agent", query="x"), answer("found")]
    turns = [
        call("call_subordinate", profile="osint_specialist", message="Do what I ask", reset="true"),
        *inner,
        answer("all done"),
    ]
    agent.config.profile = "research_xo"
    assert started.host.say(agent, "Find it out", turns) == "all done"
    below = agent.data["_subordinate"]
    assert agent._org_active_role["role_id"] == "research_xo"
    assert below._org_active_role["role_id"] == "osint_specialist"
    assert (1, "browser_agent") in started.host.ran
    brief = compiled("software_dev")["roles"]["osint_specialist"]["brief"].strip()
    of_subordinate = started.host.seen[1].system
    assert of_subordinate.count(brief) == 1, "its profile has said it already"


def test_an_executive_is_pointed_to_the_subordinate_who_may(started):
    """With the profile that activation wrote."""
    activate(started.root)
    agent = started.host.open_chat()
    agent.config.profile = "research_xo"
    tool = "browser_agent"
    assert tool not in compiled("software_dev")["roles"]["research_xo"]["host_tools"]
    started.host.say(agent, "Find it out", [call(tool), answer()])
    warning = started.host.seen[1].history[-1]["content"]["system_warning"]
    assert "`call_subordinate` with profile `osint_specialist`, to OSINT Specialist" in warning


def test_the_plan_of_another_role_is_not_carried_on(started):
    """A plan that runs when the role switches is released, and the log says so."""
    add_neighbors(started.root, started.generation)
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    assert agent._htn_state["plan_id"] == "bugfix_workflow"
    started.host.say(agent, "Put it on a git branch and commit")
    assert agent._htn_state["plan_id"] == "git_feature_branch"
    assert "Plan released: bugfix_workflow; It is not a plan of DevOps Specialist." in org_lines(agent)


def test_a_message_that_points_back_and_small_talk_keep_the_role_and_thanks_end_it(started):
    """Without a tracker the message itself decides."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    started.host.say(agent, "now do the same again for the other file")
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    started.host.say(agent, "good morning!")
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    started.host.say(agent, "thank you!")
    assert agent._org_active_role is None
    assert any(line.startswith("Role released: Bugfix Specialist") for line in org_lines(agent))


def test_switching_off_takes_everything_back_at_once(started):
    """Removing `active.json` in the middle of a chat is enough; putting it there again is too."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    (started.root / "usr/organizations/active.json").rename(started.root / "usr/organizations/aside.json")
    started.host.say(agent, "Fix the other bug in parser.py")
    assert agent._org_active_role is None
    assert agent._org_active is None
    assert agent.get_data("_org_htn_allowed_plans") is None
    assert "scheduler" in started.host.seen[-1].system
    (started.root / "usr/organizations/aside.json").rename(started.root / "usr/organizations/active.json")
    started.host.say(agent, "Fix the third bug in parser.py")
    assert agent._org_active_role["role_id"] == "bugfix_specialist"


def test_what_a_neighbor_does_to_the_role_it_reads_stays_with_it(started):
    """The bundle is shared by every agent of the process."""
    activate(started.root)
    agent, other = started.host.open_chat(), started.host.open_chat()
    started.host.say(agent, BUG)
    agent._org_active_role["capabilities"]["bst_domains"].clear()
    agent._org_active["hierarchy"].clear()
    started.host.say(other, BUG)
    assert other._org_active_role["capabilities"]["bst_domains"] == ["bugfix", "log_analysis"]
    assert "bugfix_specialist" in other._org_active["hierarchy"]


def test_a_text_that_stands_in_another_file_is_not_taken_out_of_it(started):
    """A file of a foreign tool whose words another file repeats: that one stays whole."""
    note = "### wait\nwait for a while"
    prompts = started.root / "prompts"
    (prompts / "agent.system.tool.wait.md").write_text(f"\n{note}\n\n", encoding="utf-8")
    response = prompts / "agent.system.tool.response.md"
    response.write_text(f"### response\nanswers\n\n{note}\n\nends the turn\n", encoding="utf-8")
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    assert response.read_text(encoding="utf-8") in started.host.seen[0].system


def test_blank_lines_around_a_file_do_not_keep_it(started):
    """Whatever whitespace a file begins and ends with, and wherever it stands in the section."""
    for path in (started.root / "prompts").glob("agent.system.tool.*.md"):
        path.write_text(f"\n{path.read_text(encoding='utf-8')}\n\n", encoding="utf-8")
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    shown = files_in(started.host.seen[0].system, started.generation)
    assert not shown & {"scheduler", "wait", "a2a_chat", "document_query"}
    assert {"response", "search_engine"} <= shown


def test_the_log_says_that_the_layer_is_on_once_a_chat(started):
    """And with what; subordinates do not say it again."""
    activate(started.root, enforcement="trim")
    agent = started.host.open_chat()
    started.host.say(agent, "what time is it", [call("call_subordinate", message="tell me", reset="true")])
    started.host.say(agent, BUG)
    lines = [text for _, text in agent.context.log.entries if text.startswith("[ORG] On: ")]
    assert lines == ["[ORG] On: Software Development Organization (software_dev), 8 roles, enforcement trim"]


def test_a_refusal_names_the_remote_tools_of_the_role(root, generation):
    """They have no prompt file; and where a role has no tool to go on with, the way on is a sentence of its own."""

    def remote(bundle):
        role = bundle["roles"]["bugfix_specialist"]
        role["host_tools"] = ["mail.list", "response"]
        role["tools"] = {}
        role["essential"] = ["response"]

    def nothing(bundle):
        remote(bundle)
        bundle["roles"]["bugfix_specialist"]["host_tools"] = ["response"]

    for change, way in ((remote, "Continue with `mail.list`. Or answer with"), (nothing, "Answer with")):
        activate(root, change=change)
        with running(root, generation, mcp={"mail": ("send", "list")}) as host:
            agent = host.open_chat()
            host.say(agent, "Fix the bug in parser.py", [call("browser_agent"), answer()])
            text = next(
                each["content"]["system_warning"]
                for each in agent.history.output()
                if isinstance(each["content"], dict) and "system_warning" in each["content"]
            )
            assert f"Roles that may use it: OSINT Specialist. {way} `response`" in text


def test_a_line_in_the_log_is_a_short_heading_with_the_reason_as_content(started):
    """Hosts cut a heading at 120 characters, so nothing that matters stands only there; secrets stand nowhere."""
    activate(started.root)
    from usr.organizations.lib.orgkernel_agent_zero.saying import say

    agent = started.host.open_chat()
    lines: list[dict[str, str]] = []
    agent.context.log.log = lambda **line: lines.append(line)
    say(agent, "Refused `browser_agent`", content="It is not a tool of this role.", kind="warning")
    say(agent, f"The key ghp_{'a1B2c3D4e5' * 4} " + "is used " * 20)
    assert lines[0] == {
        "type": "warning",
        "heading": "[ORG] Refused `browser_agent`",
        "content": "It is not a tool of this role.",
    }
    assert len(lines[1]["heading"]) <= 120
    assert lines[1]["heading"].endswith("…")
    assert lines[1]["content"].count("is used") == 20
    assert "a1B2" not in str(lines[1])
