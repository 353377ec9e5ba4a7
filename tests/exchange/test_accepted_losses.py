"""An export that would leave an agent without a tool is refused, and names each tool; counterparts are used."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
import yaml

from orgkernel import Kernel
from orgkernel.exchange.agents.equivalents import list_host_names
from orgkernel.exchange.agents.names import map_names
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import EXPORTS
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.names import convert_to_id, derive_name
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.loading.shipped_tables import read_shipped_table
from tests.support.in_process import run_here
from tests.support.other_trees import TREES, lay_out
from tests.support.trees import write_tree


def agent(tools: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of Claude Code."""
    text = f"---\nname: {name}\ndescription: Does {name}. Use it first.\ntools: {tools}\n---\nDo it.\n"
    return {f".claude/agents/{name}.md": text}


def test_a_lost_tool_stops_the_export(tmp_path: Path) -> None:
    """Nothing is written; each tool is named with its agents; the user can accept it."""
    write_tree(
        tmp_path / "shop", agent("Read, WebSearch") | agent("WebSearch, Skill", "b") | agent("Read", "c")
    )
    export = ("export", "--to", "copilot", "--path", "shop", "-o", "out")
    done = run_here(*export, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "  agents without `WebSearch`: `a`, `b`\n  agents without `Skill`: `b`\n" in done.stderr
    assert "error: nothing was written: 2 agents would lose tools\n" in done.stderr
    done = run_here(*export, "--accept-losses", cwd=tmp_path)
    assert (done.returncode, len(list((tmp_path / "out/.github/agents").iterdir()))) == (0, 3)
    assert "  agents without `WebSearch`: `a`, `b`\n" in done.stderr
    preview = json.loads(run_here(*export[:-2], cwd=tmp_path).stdout)
    assert preview["withheld"] == {"a": ["WebSearch"], "b": ["WebSearch", "Skill"]}


def test_a_lone_agent_that_starts_agents_keeps_that_tool(tmp_path: Path) -> None:
    """`Task` is the older name of `Agent`, and loses nothing. Copilot cannot limit whom an agent starts, so a limit is named."""
    write_tree(tmp_path / "any", agent("Task, Read"))
    for target in ("claude-code", "copilot", "crewai", "agent-spec", "agent-framework"):
        done = run_here("export", "--to", target, "--path", "any", "-o", target, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "  - agent\n" in (tmp_path / "copilot/.github/agents/a.agent.md").read_text(encoding="utf-8")
    write_tree(tmp_path / "some", agent("Task(helper), Read"))
    done = run_here("export", "--to", "copilot", "--path", "some", "-o", "out", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "  agents without `Agent`: `a`\n" in done.stderr


def test_what_nothing_decides_about_is_named(tmp_path: Path) -> None:
    """Undeclared tools of servers and parts of tools are not written, also to the same host."""
    write_tree(tmp_path / "shop", agent("Read, mcp__github__create_issue, Bash(git diff:*)"))
    done = run_here("export", "--to", "claude-code", "--path", "shop", "-o", "out", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "  agents without `Bash(git diff:*)`, `mcp__github__create_issue`: `a`\n" in done.stderr


def test_every_tool_of_a_host_is_written_for_it(tmp_path: Path) -> None:
    """Of an agent that has them all, also those that start other agents, as its own file allows it."""
    text = "---\nname: m\ndescription: Does m. Use it first.\n---\nDo it.\n"
    view = (
        Kernel.open(write_tree(tmp_path, {".claude/agents/m.md": text})).organization("active").snapshot.index
    )
    assert EXPORTS["claude-code"].export(view).withheld == {}


def test_a_check_notices_a_loss(tmp_path: Path) -> None:
    """Files that are up to date say nothing about a tool that the agents lose there."""
    write_tree(tmp_path / "shop", agent("Read"))
    export = ("export", "--to", "copilot", "--path", "shop", "-o", "out")
    assert run_here(*export, cwd=tmp_path).returncode == 0
    assert run_here(*export, "--check", cwd=tmp_path).returncode == 0
    write_tree(tmp_path / "shop", agent("Read, WebSearch"))
    done = run_here(*export, "--check", cwd=tmp_path)
    assert (
        done.returncode,
        "  agents without `WebSearch`: `a`\nerror: 1 agent would lose tools\n" in done.stderr,
    ) == (1, True)
    assert run_here(*export, "--check", "--accept-losses", cwd=tmp_path).returncode == 0


def test_nothing_lost_needs_no_word(tmp_path: Path) -> None:
    """Every tool has a counterpart."""
    write_tree(tmp_path / "shop", agent("Read, Grep, Glob, Edit, Write, Bash, WebFetch, TodoWrite"))
    done = run_here("export", "--to", "copilot", "--path", "shop", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out/.github/agents/a.agent.md").read_text(encoding="utf-8")
    for tool in (
        "read/readFile",
        "search/textSearch",
        "search/fileSearch",
        "edit/editFiles",
        "edit/createFile",
        "execute",
    ):
        assert tool in text


@pytest.mark.parametrize("host", ["claude-code", "copilot", "opencode", "codex", "gemini_cli", "cursor"])
@pytest.mark.parametrize("target", ["claude-code", "copilot", "crewai", "agent-spec", "agent-framework"])
def test_every_tool_of_every_agent_is_given_or_named(tmp_path: Path, host: str, target: str) -> None:
    """What an agent may use here and not there is under `withheld`, for every pair of hosts."""
    if host == "claude-code":
        write_tree(tmp_path, agent("Read, Bash, WebSearch, Agent") | agent("Grep, Edit, Write", "b"))
    else:
        lay_out(tmp_path, host)
    kernel = Kernel.open(tmp_path)
    view = kernel.organization("active").snapshot.index
    export = EXPORTS[target].export(view)
    written = "\n".join(export.files.values())
    for role in view.roles:
        tools = {row.resource.partition(":")[2] for row in kernel.what_can("active", f"role:{role}")}
        for tool in tools - set(export.withheld.get(role, ())):
            names = list_host_names(view)[tool]
            there = names.get(target.replace("-", "_"), tool)
            forms = [there, there.replace("mcp__", "").replace("__", "/"), there.replace(".", "/", 1)]
            # A set of Copilot stands for the tools in it.
            forms += [f"- {there.replace('.', '/').partition('/')[0]}\n"] if target == "copilot" else []
            assert any(each in written for each in forms), (role, tool)


@pytest.mark.parametrize(("first", "second"), [("claude-code", "copilot"), ("copilot", "claude-code")])
def test_there_and_back_gives_the_same_permissions(tmp_path: Path, first: str, second: str) -> None:
    """Of an agent that loses nothing on the way."""
    tree = agent("Read, Grep, Glob, Edit, Write, Bash, WebFetch, TodoWrite") | agent("Read, Grep", "b")
    write_tree(tmp_path / "0", tree)
    if first == "copilot":
        done = run_here("export", "--to", first, "--path", "0", "-o", "1", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (tmp_path / "0").rename(tmp_path / "origin")
        (tmp_path / "1").rename(tmp_path / "0")
    for number, target in enumerate((second, first), 1):
        words = ("export", "--to", target, "--path", str(number - 1), "-o", str(number), "--accept-losses")
        assert run_here(*words, cwd=tmp_path).returncode == 0

    def list_tools(folder: str) -> dict[str, set[str]]:
        kernel = Kernel.open(tmp_path / folder)
        view = kernel.organization("active").snapshot.index
        return {
            role: {
                row.resource
                for row in kernel.what_can("active", f"role:{role}")
                if view.records.tools[row.resource.partition(":")[2]].record.names.get("claude_code")
            }
            for role in view.roles
        }

    assert list_tools("2") == list_tools("0")


def test_an_agent_that_is_left_out_is_named(tmp_path: Path) -> None:
    """A role without anything to ask it for has no card; the command ends with 1 until the user accepts it."""
    write_tree(tmp_path / "shop", agent("Read") | agent("Read", "b"))
    export = ("export", "--to", "a2a", "--path", "shop", "-o", "out")
    done = run_here(*export, cwd=tmp_path)
    assert (done.returncode, "error: not exported: `a`, `b`\n" in done.stderr) == (1, True)
    assert run_here(*export, "--accept-losses", cwd=tmp_path).returncode == 0
    assert json.loads(run_here(*export[:-2], cwd=tmp_path).stdout)["left_out"] == ["a", "b"]


CLAUDE_TOOLS = [
    "Read",
    "Grep",
    "Glob",
    "Edit",
    "Write",
    "Bash",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "Agent",
    "Skill",
    "NotebookEdit",
    "mcp__tracker",
    "mcp__tracker__close",
    "LSP",
    "AskUserQuestion",
]
SERVER = {"command": "tracker-mcp"}
SERVERS = {".mcp.json": json.dumps({"mcpServers": {"tracker": SERVER}})}
SETTINGS = {
    ".claude/settings.json": '{"permissions": {"deny": ["Bash(rm:*)", "Read(./.env)"], "ask": ["WebFetch"]}}\n'
}


def _name(view: OrgView, tool: str) -> str:
    """What Claude Code calls a tool, or what it was called before an export to CrewAI."""
    known = view.records.tools.get(tool)
    name = known.record.names.get("claude_code", tool) if known else tool
    # Copilot has one tool for both.
    return "Edit" if name == "MultiEdit" else derive_name(name).removeprefix("custom:")


def _read_tools(folder: Path) -> tuple[OrgView, dict[str, set[str]]]:
    """The tools that each agent in a folder may use in some way."""
    kernel = Kernel.open(folder)
    view = kernel.organization("active").snapshot.index
    tools = {
        role: {_name(view, row.resource.split(":")[1]) for row in kernel.what_can("active", f"role:{role}") if row.resource[:5] == "tool:"}
        for role in view.roles
    }  # fmt: skip
    return view, tools


@pytest.mark.parametrize("target", ["copilot", "crewai"])
def test_an_excluded_tool_is_not_given_as_its_equal(tmp_path: Path, target: str) -> None:
    """`MultiEdit`, which is not excluded, and `Edit`, which is, are one tool in Copilot, so the agent has neither there."""
    text = "---\nname: a\ndescription: Looks.\ndisallowedTools: Write, Edit\n---\nLook.\n"
    view, tools = _read_tools(write_tree(tmp_path, {".claude/agents/a.md": text}))
    assert "Bash" in tools["a"]
    export = EXPORTS[target].export(view)
    written = "\n".join(export.files.values())
    excluded = [list_host_names(view)[tool].get(target) for tool in ("Edit", "Write")]
    assert any(excluded)
    assert [name for name in excluded if name and name in written] == []
    assert target != "copilot" or "MultiEdit" in export.withheld["a"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", ["claude-code", "copilot", "crewai", "agent-spec", "agent-framework"])
def test_there_and_back_loses_only_what_is_named(tmp_path: Path, target: str, seed: int) -> None:
    """No agent has more afterwards, and each tool that it lost is under `withheld` of one of both exports."""
    chosen = random.Random(seed)
    files = {**SERVERS, **(SETTINGS if seed % 2 else {})}
    for name in ("a", "b", "c"):
        files |= agent(", ".join(chosen.sample(CLAUDE_TOOLS, chosen.randint(0, 6))), name)
    here, before = _read_tools(write_tree(tmp_path / "0", files))
    export = EXPORTS[target].export(here)
    beside = {".vscode/mcp.json": json.dumps({"servers": {"tracker": SERVER}}), **SERVERS}
    if target == "crewai":
        own = set(re.findall(r"custom:(\w+)", "".join(export.files.values())))
        beside = {f"tools/{each}.py": "from crewai.tools import BaseTool\n" for each in own}
    there, _ = _read_tools(write_tree(tmp_path / "1", {**beside, **export.files}))
    back = EXPORTS["claude-code"].export(there)
    _, after = _read_tools(write_tree(tmp_path / "2", {**SERVERS, **back.files}))
    for role, tools in before.items():
        lost = {_name(here, each) for each in export.withheld.get(role, ())}
        lost |= {_name(there, each) for each in back.withheld.get(role, ())}
        assert after.get(role, set()) <= tools
        assert tools - after.get(role, set()) <= lost


def _export(folder: Path, target: str) -> tuple[OrgView, ConvertedFiles]:
    view = Kernel.open(folder).organization("active").snapshot.index
    return view, EXPORTS[target].export(view)


@pytest.mark.parametrize(
    ("model", "target", "written"),
    [
        ("sonnet", "copilot", 'model: "Claude Sonnet 4.5"'),
        ("haiku", "crewai", "anthropic/claude-haiku-4-5"),
        ("claude-opus-4-1", "copilot", "Claude Opus 4.5"),
        ("sonnet", "claude-code", "model: sonnet"),
        ("claude-sonnet-4-5", "claude-code", "model: claude-sonnet-4-5"),
    ],
)
def test_a_model_is_moved_to_its_counterpart(tmp_path: Path, model: str, target: str, written: str) -> None:
    """The table has a model of each size for each host; one that the host understands stays."""
    text = f"---\nname: a\ndescription: Does a. Use it.\ntools: Read\nmodel: {model}\n---\nDo it.\n"
    _, export = _export(write_tree(tmp_path, {".claude/agents/a.md": text}), target)
    assert written in "".join(export.files.values())
    assert export.dropped == {}


def test_a_model_without_a_counterpart_is_named(tmp_path: Path) -> None:
    """It is not written, because the host would refuse it or take another one."""
    text = "---\ndescription: Does a. Use it.\nmodel: local/mine\n---\nDo it.\n"
    _, export = _export(write_tree(tmp_path, {".opencode/agents/a.md": text}), "claude-code")
    assert export.dropped == {"a": ("model local/mine",)}
    assert "mine" not in export.files[".claude/agents/a.md"]
    words = ("export", "--to", "claude-code", "-o", "out", "--accept-losses")
    assert "  agents without `model local/mine`: `a`\n" in run_here(*words, cwd=tmp_path).stderr


OWN_FIELDS = """\
permissionMode: plan
color: blue
skills: [look]
background: true
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {type: command, command: "./check.sh --all", timeout: 30}
"""


def test_fields_of_a_host_stay_in_it(tmp_path: Path) -> None:
    """An export to the same host has them, and to another one they are named as losses."""
    text = f"---\nname: a\ndescription: Does a. Use it.\ntools: Read\n{OWN_FIELDS}---\nDo it.\n"
    folder = write_tree(tmp_path, {".claude/agents/a.md": text})
    _, same = _export(folder, "claude-code")
    front = yaml.safe_load(same.files[".claude/agents/a.md"].split("---\n")[1])
    assert {key: front[key] for key in yaml.safe_load(OWN_FIELDS)} == yaml.safe_load(OWN_FIELDS)
    assert same.dropped == {}
    for target in ("copilot", "crewai", "agent-spec", "agent-framework"):
        _, other = _export(folder, target)
        assert other.dropped["a"] == ("permissionMode", "skills", "hooks", "background", "color")
        assert "permissionMode" not in "".join(other.files.values())


def test_a_server_of_one_agent_is_named_and_not_copied(tmp_path: Path) -> None:
    """It can hold credentials."""
    text = "---\nname: a\ndescription: Does a. Use it.\nmcpServers:\n  - db: {command: db, env: {TOKEN: x1y2}}\n---\n"
    _, export = _export(write_tree(tmp_path, {".claude/agents/a.md": text}), "claude-code")
    assert "x1y2" not in "".join(export.files.values())
    assert export.dropped == {"a": ("mcpServers",)}


def test_no_name_of_a_host_has_two_meanings() -> None:
    """Each tool of the table is in one group, and each built-in tool of it exists."""
    table = read_shipped_table(os.path.join(get_shipped_folder("ontology"), "hosts/equivalents.yaml"))
    groups = [
        (host, name)
        for group in table["equal_tools"].values()
        for host, names in group.items()
        for name in names
    ]
    assert len(groups) == len(set(groups))
    for host, name in groups:
        known = {*read_built_in_tools(host.replace("_", "-")), *({"Task"} if host == "claude_code" else ())}
        assert name.partition("/")[0] in known, (host, name)
    assert set(table["sources"]) == {host for host, _ in groups}


HOSTS = sorted(set(TREES) - {"mcp"})
TARGETS = ["claude-code", "copilot", "crewai", "agent-spec", "agent-framework"]
Permissions = dict[str, set[str]]


@cache
def _list_groups() -> dict[str, str]:
    """What the tools of the table do, by their names in all hosts."""
    table = read_shipped_table(os.path.join(get_shipped_folder("ontology"), "hosts/equivalents.yaml"))
    return {
        name: group
        for group, hosts in table["equal_tools"].items()
        for names in hosts.values()
        for name in names
    }


def _get_meaning(names: Mapping[str, Mapping[str, str]], tool: str) -> str:
    """What a tool does, or for a tool that the table does not have, its name without the ways of the formats."""
    plain = derive_name(tool).removeprefix("custom:") if "_5f_" in tool or "_3a_" in tool else tool
    plain = derive_name(plain) if "_2e_" in plain else plain
    words = (*names.get(tool, {}).values(), tool, plain)
    every = (*words, *(each.replace(".", "/", 1) for each in words))
    return next((_list_groups()[each] for each in every if each in _list_groups()), plain)


def _list_permissions(folder: Path) -> tuple[OrgView, Permissions]:
    """What each agent in a folder may use in some way, by what the tools do."""
    kernel = Kernel.open(folder)
    view = kernel.organization("active").snapshot.index
    names = list_host_names(view)
    return view, {
        convert_to_id(map_names(view.roles)[role]): {
            _get_meaning(names, row.resource.partition(":")[2])
            for row in kernel.what_can("active", f"role:{role}")
            if row.resource.startswith("tool:")
        }
        for role in view.roles
    }


def _move(view: OrgView, permissions: Permissions, folder: Path, target: str) -> tuple[Permissions, set[str]]:
    """Export to a folder with the servers and the tools of the project. Returns what each agent loses by the report, and who
    is left out.
    """
    export = EXPORTS[target].export(view)
    words = {each for tools in permissions.values() for each in tools}
    servers = {each.removeprefix("mcp__").split("__")[0] for each in words if each.startswith("mcp__")}
    beside = {
        ".vscode/mcp.json": json.dumps({"servers": dict.fromkeys(servers, SERVER)}),
        ".mcp.json": json.dumps({"mcpServers": dict.fromkeys(servers, SERVER)}),
    }
    if target == "crewai":
        own = set(re.findall(r"custom:(\w+)", "".join(export.files.values())))
        beside = {f"tools/{each}.py": "from crewai.tools import BaseTool\n" for each in own}
    write_tree(folder, {**beside, **export.files})
    names = list_host_names(view)
    slugs = map_names(view.roles)
    lost = {
        convert_to_id(slugs[role]): {_get_meaning(names, each) for each in tools}
        for role, tools in export.withheld.items()
    }
    return lost, {convert_to_id(slugs[role]) for role in export.left_out}


def _list_silent(
    before: Permissions, after: Permissions, lost: Permissions, left_out: set[str]
) -> list[object]:
    """What agents have more than before, and what they lost although no report names it."""
    silent: list[object] = []
    for role, tools in before.items():
        if role in left_out:
            continue
        # A set of Copilot is a counterpart with everything in it.
        more = {each for each in after[role] - tools if "." not in each}
        less = tools - after[role] - lost.get(role, set())
        silent += [(role, "more", more)] if more else []
        silent += [(role, "less", less)] if less else []
    return silent


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("target", TARGETS)
def test_no_move_gives_or_takes_in_silence(tmp_path: Path, host: str, target: str) -> None:
    """From each host to each target, no agent gains a tool, and the report names each tool that an agent loses."""
    lay_out(tmp_path / "0", host)
    view, before = _list_permissions(tmp_path / "0")
    lost, left_out = _move(view, before, tmp_path / "1", target)
    _, after = _list_permissions(tmp_path / "1")
    assert _list_silent(before, after, lost, left_out) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("first", "second"), list(permutations(TARGETS, 2)))
def test_there_and_back_gives_the_same_or_names_it(
    tmp_path: Path, first: str, second: str, seed: int
) -> None:
    """From each target to each other one and back: the permissions are the same, or one of both reports names the loss."""
    chosen = random.Random(seed)
    files = dict(SERVERS)
    for name in ("a", "b", "c"):
        files |= agent(", ".join(chosen.sample(CLAUDE_TOOLS, chosen.randint(1, 7))), name)
    start = _list_permissions(write_tree(tmp_path / "origin", files))
    _move(*start, tmp_path / "0", first)
    view, before = _list_permissions(tmp_path / "0")
    lost, left_out = _move(view, before, tmp_path / "1", second)
    view, there = _list_permissions(tmp_path / "1")
    assert _list_silent(before, there, lost, left_out) == []
    lost_back, left_out_back = _move(view, there, tmp_path / "2", first)
    _, after = _list_permissions(tmp_path / "2")
    every = {role: lost.get(role, set()) | lost_back.get(role, set()) for role in before}
    assert _list_silent(before, after, every, left_out | left_out_back) == []
    assert any(before.values())


def test_an_organization_limits_whom_an_agent_starts(tmp_path: Path) -> None:
    """Its hierarchy counts, although the file of the agent would let it start every other one."""
    files = {
        "team/.claude/agents/lead.md": "---\nname: lead\ndescription: Leads. Use it first.\ntools: Read, Task\n---\nLead.\n",
        "team/.claude/agents/dev.md": "---\nname: dev\ndescription: Writes. Use it then.\ntools: Read, Task\n---\nWrite.\n",
        "org/org.yaml": "_schema: orgkernel:organization\norg_id: shop\nsources:\n  - {format: claude-code, path: ../team}\nhierarchy:\n  lead: {subordinates: [dev]}\n",
    }
    write_tree(tmp_path, files)
    view = Kernel.open(tmp_path / "org").organization("shop").snapshot.index
    export = EXPORTS["claude-code"].export(view)
    assert "Agent(dev)" in export.files[".claude/agents/lead.md"]
    assert "Agent" not in export.files[".claude/agents/dev.md"].split("---")[1]
    assert "Agent" in export.withheld["dev"]
    assert "Agent" not in export.withheld["lead"]


def test_no_agent_is_left_out_for_its_length(tmp_path: Path) -> None:
    """A text that GitHub refuses is still written, because VS Code runs it, and the list of losses names it."""
    files = agent("Read") | agent("Read", "b")
    files = {path: text + "word " * (7_000 if path.endswith("/a.md") else 1) for path, text in files.items()}
    write_tree(tmp_path / "shop", files)
    done = run_here("export", "--to", "copilot", "--path", "shop", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  long texts (1): written: VS Code runs such an agent" in done.stderr
    assert sorted(each.name for each in (tmp_path / "out/.github/agents").iterdir()) == [
        "a.agent.md",
        "b.agent.md",
    ]
