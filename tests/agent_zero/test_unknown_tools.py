"""A tool name that the host does not know is answered by us: the role's tools instead of everything that there is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from extension.host import host_tools
from extension.host.host_tools import find_meant_tool, is_unknown
from tests.agent_zero.double import running
from tests.agent_zero.installing import activate
from tests.agent_zero.saying import answer, call

BUG = "Fix the bug in parser.py"
TOOLS = ("code_execution_tool", "scheduler", "memory_load", "memory_save", "search_engine", "mail.send")


@pytest.mark.parametrize(
    ("name", "meant"),
    {
        "Search_Engine": "search_engine",
        "search-engine": "search_engine",
        "serch_engine": "search_engine",
        "saerch_engine": "search_engine",
        "code_execution": "code_execution_tool",
        "scheduler.list_tasks": "scheduler:list_tasks",
        "memory.load": "memory_load",
        "mail.sent": "mail.send",
        "mail_send": "mail.send",
        "memory": None,
        "brwsr": None,
        "knowledge_tool": None,
        "": None,
    }.items(),
)
def test_what_a_misspelled_name_means(name, meant):
    """Case, hyphens, one letter, a method after a dot; not more."""
    assert find_meant_tool(name, TOOLS) == meant


def answers(host) -> list[str]:
    """What was put into the history by other than the model, in the last prompt."""
    contents = [each["content"] for each in host.seen[-1].history if not each["ai"]]
    return [str(each.get("system_warning") or each.get("tool_result") or "") for each in contents]


def ask(host, agent, *names) -> dict[str, str]:
    """Call these tools, one after the other: what is answered to each."""
    host.say(agent, BUG, [*(call(name, text="x") for name in names), answer()])
    return dict(zip(names, answers(host)[-len(names) :], strict=True))


def test_unknown_tools_with_a_role(root, generation):
    """A suggestion where one is near, the tools of the role that this host has, and few tokens."""
    activate(root)
    (next(root.glob("**/tools/memory_save.py"))).unlink()
    with running(root, generation, mcp={"mail": ("send",), "a": ("b",)}) as host:
        agent = host.open_chat()
        del host.tools["memory_save"]
        said = ask(host, agent, "serch_engine", "mail.snd", "frobnicate", "browser-agent", "memory_save")
        assert all(len(text) < 600 for text in said.values()), said
        assert "Did you mean `search_engine`?" in said["serch_engine"]
        assert "Did you mean `mail.send`?" in said["mail.snd"]
        assert "Did you mean" not in said["frobnicate"]
        assert "it is not a tool of Bugfix Specialist" in said["browser-agent"]
        for text in said.values():
            assert "There is no tool `" in text
            assert "`code_execution_tool`" in text
            assert "`response`" in text
            assert "`memory_save`," not in text
        assert [tool for _, tool in host.ran] == ["response"]


def test_tools_that_no_catalog_lists_go_on_working(root, generation):
    """The host has tools of plugins, of the user and of MCP servers, so their names are not treated as misspelled."""
    activate(root)
    with running(root, generation, mcp={"mail": ("send",)}) as host:
        host.tools["serch_engine"] = lambda **_: "my own"
        said = ask(host, host.open_chat(), "serch_engine", "mail.send")
        assert said == {"serch_engine": "my own", "mail.send": "mail.send has done it"}


def test_no_tool_of_the_host_is_called_missing(root, generation):
    """A tool of another role is refused by its name, and each other one runs, with a method or without one."""
    activate(root)
    with running(root, generation, mcp={"mail": ("send",)}) as host:
        host.tools["my_own"] = lambda **_: "mine"
        names = sorted({*host.tools, "mail.send", "scheduler:list_tasks"} - {"response", "input"})
        answers = ask(host, host.open_chat(), *names)
        assert [name for name, text in answers.items() if "There is no tool" in text] == []
        refused = {name for name, text in answers.items() if "is refused" in text}
        assert {"scheduler", "scheduler:list_tasks", "browser_agent", "a2a_chat"} <= refused
        assert not refused & {"my_own", "mail.send", "code_execution_tool", "search_engine"}


def test_unknown_tools_without_a_role_are_answered_by_the_host(root, generation):
    """As in a stock host; also under `observe`, where the log says what would have been."""
    for settings in ({}, {"enforcement": "observe"})[: 2 if generation == "G2" else 1]:
        activate(root, **settings)
        with running(root, generation) as host:
            agent = host.open_chat()
            host.say(agent, BUG if settings else "what time is it", [call("frobnicate"), answer()])
            assert answers(host)[-1].startswith("Tool frobnicate not found")


@pytest.mark.parametrize("generation", ["G2"])
def test_a_host_whose_tools_cannot_be_told_is_left_alone(root, generation):
    """It answers itself: nothing is guessed from prompts."""
    activate(root)
    with running(root, generation) as host:
        host.unknown = type("Missing", (host.unknown,), {"__module__": "somewhere"})
        said = host.say(host.open_chat(), BUG, [call("wat", text="x"), answer()])
        assert said == "done"
        assert not any("There is no tool" in text for text in answers(host))


def test_a_host_that_does_not_say_which_tool_runs_is_asked_for_it():
    """It makes the tool as for a call. What cannot be asked, or answers with an error, is not missing."""
    unknown = type("Unknown", (), {"__module__": "python.tools.unknown"})
    known = type("Wait", (), {"__module__": "wait"})
    loop_data = SimpleNamespace(current_tool=None)

    def get_tool(name, **_):
        if name == "broken":
            raise RuntimeError(name)
        return (known if name == "wait" else unknown)()

    agent = SimpleNamespace(loop_data=loop_data, get_tool=get_tool)
    assert [is_unknown(agent, name) for name in ("wiat", "wait", "broken")] == [
        False
    ] * 3  # no MCP servers to ask
    servers = SimpleNamespace(get_tool=lambda _, name: name == "mail.send")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_tools, "_get_servers", lambda: servers)
        found = [is_unknown(agent, name) for name in ("wiat", "wait", "broken", "mail.send")]
    assert found == [True, False, False, False]
    loop_data.current_tool = unknown()
    assert is_unknown(agent, "wait")
