"""A project with Copilot agents is an organization: what their files say is checked, asked and decided."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import change_line, write_tree

AGENTS = ".github/agents"
READ_AS = "note: read as GitHub Copilot: 4 agents, 1 skill; `--from` chooses another format\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A well-kept project; no test changes it."""
    return lay_out(tmp_path_factory.mktemp("projects") / "shop", "copilot")


def agent(more: str, name: str = "") -> str:
    """The file of an agent."""
    named = f"name: {name}\n" if name else ""
    return f"---\n{named}description: Does its part. Use it for that.\n{more}---\n"


def test_a_well_kept_project_has_no_finding(kept: Path) -> None:
    """What is well made is silent, and its summary counts what is there."""
    done = run_here("check", "shop", cwd=kept.parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == READ_AS + "no findings in 1 organization, 4 roles, 6 files\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("manifest Planner", ["Claude Sonnet 4.5", "agents/planner.agent.md:4"]),
        ("dispatch --text 'a plan was accepted, write the code'", ["→ Implementer"]),
        ("who-can use tool:execute.runInTerminal", ["role:Implementer"]),
        ("why role:Planner use tool:mcp__tracker__list_issues", [".vscode/mcp.json:1", "planner.agent.md:4"]),
        ("can role:Planner handoff role:reviewer", ["allow", f"{AGENTS}/planner.agent.md:5"]),
        ("graph", ["shop (shop), 4 roles", "Explain"]),
        ("role orders Explain", ["Short sentences."]),
        ("what-can role:reviewer", ["tool:search.textSearch"]),
    ],
)
def test_the_questions_work(kept: Path, words: str, said: list[str]) -> None:
    """With `--path`, as for our own documents."""
    done = run_here(*shlex.split(words), "--path", "shop", cwd=kept.parent)
    assert done.returncode == 0, done.stderr
    assert all(each in done.stdout for each in said), done.stdout
    assert done.stderr == READ_AS


def test_each_way_to_name_it_means_the_same(kept: Path, tmp_path: Path) -> None:
    """The project, its `.github`, its folders, one agent; and agents in a folder that is called otherwise."""
    for path in (".", ".github", AGENTS, ".github/chatmodes", f"{AGENTS}/planner.agent.md"):
        snapshot = Loader(resolve_paths([str(kept / path)], str(kept.parent)), {}).load()
        assert list(snapshot.organizations) == ["shop"], path
        assert len(snapshot.organizations["shop"].records.posts) == 4, path
    write_tree(tmp_path, {"agents/a.agent.md": agent("", "A"), "agents/notes.md": "no agent\n"})
    for path in ("agents", "agents/a.agent.md"):
        done = run_here("check", path, cwd=tmp_path)
        assert "read as GitHub Copilot: 1 agent;" in done.stderr, path


@pytest.mark.parametrize(
    "files",
    [
        {".github/workflows/ci.yml": "on: push\n", ".github/ISSUE_TEMPLATE.md": "# Issue\n"},
        {".github/agents/run.py": "print()\n"},
        {"docs/agents/one.md": "# One\n", "src/agent.md": "x\n"},
    ],
)
def test_other_projects_are_not_claimed(files: dict[str, str], tmp_path: Path) -> None:
    """A `.github` folder without agents can belong to any project."""
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "nothing to check" in done.stderr


def test_two_formats_in_one_folder(kept: Path, tmp_path: Path) -> None:
    """Both are read, and the one with more agents answers."""
    claude = "---\nname: helper\ndescription: Helps. Use it for help.\ntools: Read\n---\n"
    write_tree(lay_out(tmp_path, "copilot"), {".claude/agents/helper.md": claude})
    done = run_here("check", cwd=tmp_path)
    assert done.stderr.splitlines()[:3] == [
        "format          read               place",
        "Claude Code     1 agent            .",
        "GitHub Copilot  4 agents, 1 skill  .",
    ]
    assert "2 organizations, 5 roles" in done.stderr
    done = run_here("check", ".", "--from", "copilot", cwd=tmp_path)
    assert "4 roles" in done.stderr
    assert "note" not in done.stderr


def test_whom_an_agent_may_start(tmp_path: Path) -> None:
    """Those in `agents`, with a tool to do it. A star leaves out those who are not to be started by choice."""
    files = {
        f"{AGENTS}/one.agent.md": agent("tools: [agent]\nagents: [two, Three, nobody]\n", "One"),
        f"{AGENTS}/two.agent.md": agent("agents: '*'\n"),
        f"{AGENTS}/three.agent.md": agent("tools: [read]\nagents: [two]\n", "Three"),
        f"{AGENTS}/four.agent.md": agent("tools: [Task]\ndisable-model-invocation: true\n"),
        f"{AGENTS}/five.agent.md": agent("tools: [agent/runSubagent]\nagents: [four, five]\ninfer: false\n"),
    }
    posts = Kernel.open(write_tree(tmp_path, files)).organization("active").snapshot.records.posts
    assert {role: post.profile.handoff.may_to for role, post in posts.items()} == {
        "One": ("two", "Three"), "two": ("One", "Three"), "Three": (), "four": (), "five": ("four",),
    }  # fmt: skip


def test_handoffs_are_a_channel(kept: Path) -> None:
    """The user goes on with another agent: no agent hands work down."""
    snapshot = Loader(resolve_paths([str(kept)], str(kept.parent)), {}).load()
    channels = snapshot.organizations["shop"].records.organization.communication_channels
    assert channels["handoffs"].allowed_pairs == (("Planner", "Implementer"),)


def test_what_a_list_of_tools_gives(tmp_path: Path) -> None:
    """A set has its tools, an alias means its set, a server its tools; without a list, an agent has all there are."""
    own = "mcp-servers:\n  mine: {command: m, tools: ['*']}\n"
    files = {
        f"{AGENTS}/all.agent.md": agent(""),
        f"{AGENTS}/none.agent.md": agent("tools: []\n"),
        f"{AGENTS}/some.agent.md": agent("tools: [web, editFiles, Bash, tracker/*, unknown/tool, nothing]\n"),
        f"{AGENTS}/own.agent.md": agent(f"tools: [mine/look, tracker/list]\n{own}"),
        ".vscode/mcp.json": '{"servers": {"tracker": {}}}',
    }
    records = Kernel.open(write_tree(tmp_path, files)).organization("active").snapshot.records
    tools = {role: post.profile.capabilities.tools_primary for role, post in records.posts.items()}
    assert {"edit", "execute.runInTerminal", "mcp__tracker", "mcp__tracker__list", "mcp__github"} <= {
        *tools["all"]
    }
    assert "mcp__mine" not in tools["all"]
    assert tools["none"] == ()
    assert {"web", "web.fetch", "edit.editFiles", "execute", "execute.runTests"} < {*tools["some"]}
    assert [each for each in tools["some"] if each[:3] == "mcp"] == ["mcp__tracker", "mcp__tracker__list"]
    assert "edit" not in tools["some"]
    assert tools["own"] == ("mcp__mine__look", "mcp__tracker__list")


def test_every_way_of_loading_says_the_same(tmp_path: Path) -> None:
    """Cold, in a process that stays, and from the cache, also after an edit that changes what others may do."""
    tree = lay_out(tmp_path / "shop", "copilot")
    request = resolve_paths(["."], str(tree))
    staying = Loader(request, {}, Cache(str(tmp_path / "cache")))
    seen = []
    for edit in (
        lambda: None,
        lambda: change_line(tree / AGENTS / "implementer.agent.md", "name: Implementer", "name: Builder"),
    ):
        edit()
        cold = Loader(request, {}).load()
        fresh = Loader(request, {}, Cache(str(tmp_path / "cache")))
        for other in (staying.load(), fresh.load()):
            assert (other.digest, other.diagnostics) == (cold.digest, cold.diagnostics)
        fresh.save()
        seen.append(cold.organizations["shop"].records.posts["Planner"].profile.handoff.may_to)
    assert seen == [("Implementer", "reviewer"), ("reviewer",)]


def test_a_change_is_reviewed(tmp_path: Path) -> None:
    """What an agent gained, at the line that gives it."""
    before, after = lay_out(tmp_path / "before", "copilot"), lay_out(tmp_path / "after", "copilot")
    change_line(after / AGENTS / "reviewer.md", "tools: read, Grep", "tools: read, Grep, edit")
    done = run_here("diff", str(before), str(after), cwd=tmp_path)
    assert "+ reviewer gains tool edit" in done.stdout
    assert f"{AGENTS}/reviewer.md:3" in done.stdout
