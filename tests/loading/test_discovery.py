"""Every source of agents below a folder is found, whatever its format, depth and neighbors, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.formats.discovery import MAX_LEVELS, discover
from tests.loading.test_agent_spec import SPEC
from tests.support.claude_trees import agent
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here
from tests.support.trees import write_tree

CREW = {
    "config/agents.yaml": "researcher:\n  role: Researcher\n  goal: Find facts\n  backstory: Curious.\n",
    "config/tasks.yaml": "look:\n  description: Look it up\n  expected_output: A note\n  agent: researcher\n",
}
COPILOT = "---\nname: planner\ndescription: Plans work.\ntools: [read]\n---\nPlan.\n"
SKILL = "---\nname: look\ndescription: How to look. Use when something is lost.\n---\nLook.\n"
PROFILE = {
    "agent.yaml": "title: Coder\ndescription: Writes code.\n",
    "prompts/agent.system.main.role.md": "You write code.\n",
    "prompts/agent.system.main.specifics.md": "Write little.\n",
}
CARD = {
    "name": "Clerk", "description": "Files.", "url": "https://example.com", "version": "1", "skills": [],
    "protocolVersion": "0.3.0", "capabilities": {}, "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
}  # fmt: skip


def put(folder: str, files: dict[str, str]) -> dict[str, str]:
    """The files below a folder."""
    return {f"{folder}/{name}": text for name, text in files.items()}


STYLES: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "services of a monorepo": (
        {
            "apps/web/.claude/agents/pages.md": agent("pages", "Builds pages."),
            "apps/web/README.md": "# Web\n",
            "libs/core/.claude/agents/deep/types.md": agent("types", "Checks types."),
        },
        {"claude-code": 2},
    ),
    "departments": (
        {
            "engineering/coder.md": agent("coder", "Writes code."),
            "engineering/README.md": "# Engineering\n",
            "marketing/writer.md": agent("writer", "Writes posts."),
            "docs/guide.md": "---\ntitle: Guide\ndescription: How to.\n---\n",
        },
        {"claude-code": 2},
    ),
    "numbered categories": (
        {
            "categories/01-core/api.md": agent("api", "Designs APIs."),
            "categories/02-data/sql.md": agent("sql", "Writes queries."),
        },
        {"claude-code": 2},
    ),
    "subagents": ({"subagents/a.md": agent("a", "Does a."), "notes.md": "Text\n"}, {"claude-code": 1}),
    "plugins that list paths": (
        {
            ".claude-plugin/marketplace.json": json.dumps(
                {
                    "name": "ours",
                    "plugins": [
                        {"name": "one", "source": "./", "strict": False, "agents": ["./parts/a.md"]},
                        {"name": "two", "source": "./", "strict": False, "agents": ["./parts/b.md"]},
                        {"name": "three", "source": "./extra/three", "agents": "./crew/"},
                    ],
                }
            ),
            "parts/a.md": agent("a", "Does a."),
            "parts/b.md": agent("b", "Does b."),
            "extra/three/crew/c.md": agent("c", "Does c."),
        },
        {"claude-code": 3},
    ),
    "crews": (
        put("crews/one/src/one", CREW) | put("crews/two/src/two", CREW) | put("three", CREW),
        {"crewai": 3},
    ),
    "agents of Copilot": (
        {"collections/a/planner.agent.md": COPILOT, "b/agents/planner.agent.md": COPILOT},
        {"copilot": 2},
    ),
    "skills": (
        put("deep/skills/look", {"SKILL.md": SKILL, "more.md": agent("x", "Not an agent.")}),
        {"skills": 1},
    ),
    "servers": (
        {"one/.mcp.json": '{"mcpServers": {"a": {}}}', "two/mcp.json": '{"mcpServers": {"b": {}}}'},
        {"mcp": 2},
    ),
    "skills in a folder of any name": (
        {
            "src/core-skills/look/SKILL.md": SKILL,
            "src/core-skills/look/samples/inner/SKILL.md": SKILL.replace("look", "inner"),
            "src/more/deep/find/SKILL.md": SKILL.replace("look", "find"),
        },
        {"skills": 2},
    ),
    "one skill": ({"SKILL.md": SKILL, "scripts/a.py": "print()\n"}, {"skills": 1}),
    "a card": ({"site/public/.well-known/agent-card.json": json.dumps(CARD)}, {"a2a": 1}),
    "specifications": ({"specs/team.yaml": SPEC}, {"agent-spec": 1}),
    "profiles": (put("a0/agents/coder", PROFILE), {"agent-zero": 1}),
}


@pytest.mark.parametrize("style", STYLES)
def test_each_style_is_found(style: str, tmp_path: Path) -> None:
    """With the number of its sources, from the top of the tree, and `check` and `list` read them."""
    files, expected = STYLES[style]
    top = write_tree(tmp_path / "tree", files)
    counts: dict[str, int] = {}
    for source in discover(str(top)).sources:
        counts[source.format] = counts.get(source.format, 0) + 1
    assert counts == expected
    done = run_here("check", "tree", cwd=tmp_path)
    assert "nothing to check" not in done.stderr
    titles = [FORMATS[each].title for each in expected]
    assert all(title in done.stderr for title in titles)
    listed = json.loads(run_here("list", "tree", "--format", "json", cwd=tmp_path).stdout)
    assert [each["format"] for each in listed["trees"]] == [
        name for name, n in expected.items() for _ in range(n)
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "---\nname: x\ndescription: A project.\n---\n"},
        {"docs/a.md": "---\nname: A\ntitle: A page\ndescription: About.\n---\n"},
        {".github/ISSUE_TEMPLATE/bug.md": "---\nname: Bug\nabout: Report\ndescription: A bug.\n---\n"},
        {"commands/go.md": "---\nname: go\ndescription: Goes.\nmodel: opus\n---\n"},
        {"prompts/go.prompt.md": "---\nname: go\ndescription: Goes.\ntools: [read]\n---\n"},
        {"rules/style.md": "---\nname: style\ndescription: Style.\nglobs: '*.py'\n---\n"},
        {"node_modules/x/.claude/agents/a.md": agent("a", "Does a.")},
        {"vendor/x/agents/a.md": agent("a", "Does a.")},
        {".cache/agents/a.md": agent("a", "Does a.")},
        {"venv/pyvenv.cfg": "", "venv/lib/a.md": agent("a", "Does a.")},
        {"/".join(["d"] * (MAX_LEVELS + 1)) + "/a.md": agent("a", "Does a.")},
    ],
)
def test_other_files_are_no_agents(files: dict[str, str], tmp_path: Path) -> None:
    """Pages, commands, prompts, rules, dependencies and hidden folders of other programs."""
    write_tree(tmp_path, files)
    assert discover(str(tmp_path)).sources == ()
    assert run_here("check", cwd=tmp_path).returncode == 2


def test_ignored_folders_are_left_out_with_the_reason(tmp_path: Path) -> None:
    """Also by a `.gitignore` above the folder, in the same work tree, and a nearer one can take a folder back."""
    files = {
        ".gitignore": "/build/\nold\n",
        "build/.claude/agents/a.md": agent("a", "Does a."),
        "sub/old/.claude/agents/b.md": agent("b", "Does b."),
        "sub/.gitignore": "!kept/old\n",
        "sub/kept/old/.claude/agents/c.md": agent("c", "Does c."),
        "node_modules/.claude/agents/d.md": agent("d", "Does d."),
        ".git/HEAD": "ref: refs/heads/main\n",
    }
    write_tree(tmp_path, files)
    discovery = discover(str(tmp_path))
    assert [Path(each.place).relative_to(tmp_path).as_posix() for each in discovery.sources] == [
        "sub/kept/old"
    ]
    assert [(Path(each.place).name, each.reason) for each in discovery.left_out] == [
        ("build", "git ignores it"),
        ("node_modules", "it is a folder of dependencies"),
        ("old", "git ignores it"),
    ]
    assert discover(str(tmp_path / "sub" / "old")).sources != ()
    shown = run_here("list", cwd=tmp_path).stderr
    assert "note: left out `build`: git ignores it" in shown


@pytest.mark.parametrize(
    ("ignored", "path"),
    [
        (".gemini", "bot/.gemini/agents/worker.md"),
        (".opencode", "bot/.opencode/agent/worker.md"),
        ("bot", "bot/.cursor/agents/worker.md"),
    ],
)
def test_ignored_agents_of_every_host_are_named_and_tracked_ones_are_read(
    ignored: str, path: str, tmp_path: Path
) -> None:
    """A pattern does not ignore a file that git tracks, so its host finds it in every copy of the repository."""
    text = "---\nname: worker\ndescription: Works. Use it for anything.\n---\nWork.\n"
    tree = write_tree(tmp_path, {".gitignore": f"{ignored}/\n", path: text, "AGENTS.md": "Build.\n"})
    repository = GitRepository(tree)
    folder = path[: path.index(f"{ignored}/") + len(ignored)]
    assert f"note: left out `{folder}`: git ignores it" in run_here("list", cwd=tree).stderr
    repository.git("add", "--force", path)
    rows = json.loads(run_here("list", "--format", "json", cwd=tree).stdout)["trees"]
    assert [(each["org"], each["agents"]) for each in rows] == [("bot", 1)]


def test_an_organization_is_never_named_after_a_hidden_folder(tmp_path: Path) -> None:
    """Skills that are only in `.gemini` belong to the project around it."""
    write_tree(tmp_path, {"shop/.gemini/skills/look/SKILL.md": SKILL})
    (row,) = json.loads(run_here("list", "--format", "json", cwd=tmp_path).stdout)["trees"]
    assert row["org"] == "shop"


def test_rules_of_cursor_are_instructions(tmp_path: Path) -> None:
    """They declare no agent, and the error says so."""
    write_tree(tmp_path, {".cursor/rules/style.mdc": "---\ndescription: Style\n---\nShort lines.\n"})
    help = run_here("check", cwd=tmp_path).stderr
    assert (
        "the nearest is `.cursor/rules/style.mdc`, but it has instructions for agents, and declares none"
        in help
    )


def test_a_tree_without_agents_names_the_nearest_thing(tmp_path: Path) -> None:
    """Instructions are no agents; the error names them and the formats."""
    write_tree(tmp_path, {"AGENTS.md": "# How to build\n", "src/a.py": "print()\n"})
    done = run_here("check", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: nothing to check: there are no orgkernel documents and no agents in `.`\n"
        "help: the nearest is `AGENTS.md`, but it has instructions for agents, and declares none; pass a folder with "
        "documents or agents, name their format with `--from` (claude-code, copilot, opencode, codex, gemini-cli, "
        "cursor, kiro, roo, crewai, adk, agent-framework, agent-format, autogen, agent-zero, probos, agent-spec, a2a, skills, mcp), or create an organization with `orgkernel new DIR`\n"
    )
    listed = run_here("list", cwd=tmp_path)
    assert listed.returncode == 1
    assert "left out `AGENTS.md`" in listed.stderr


MARKET = {
    ".claude-plugin/marketplace.json": json.dumps(
        {
            "name": "market",
            "plugins": [{"name": "web", "source": "./web"}, {"name": "data", "source": "./data"}],
        }
    ),
    "web/agents/reviewer.md": agent(
        "reviewer", "Reviews pages. Use after a page changed.", "Read, mcp__db__query"
    ),
    "web/agents/lead.md": "---\nname: lead\ndescription: Leads. Use for projects.\ntools: Agent(reviewer), Read\n---\n",
    "data/agents/reviewer.md": agent("reviewer", "Reviews queries. Use after a query changed.", "Read, Bash"),
    "web/.mcp.json": '{"mcpServers": {"browser": {}}}',
    "data/.mcp.json": '{"mcpServers": {"db": {}}}',
    "svc/.claude/agents/pager.md": agent("pager", "Pages people. Use when it burns.", "Bash, Read"),
    "svc/.claude/settings.json": '{"permissions": {"deny": ["Bash"]}}',
}


def test_a_union_is_one_organization(tmp_path: Path) -> None:
    """Each source is a department; agents of one name are kept apart as the host does; servers of plugins are shared;
    settings of one folder bind only its agents.
    """
    kernel = Kernel.open(write_tree(tmp_path / "tree", MARKET))
    records = kernel.organization("active").snapshot.records
    assert records.org_id == "market"
    assert {role: (post.profile.name, post.profile.department) for role, post in records.posts.items()} == {
        "lead": ("lead", "web"),
        "web__reviewer": ("web:reviewer", "web"),
        "data__reviewer": ("data:reviewer", "data"),
        "pager": ("pager", "svc"),
    }
    assert [each.code for each in kernel.check()] == ["ORG755"]  # `Agent(reviewer)` is part of a tool
    outcomes = {
        (role, tool): kernel.can("market", AccessRequest(f"role:{role}", "use", f"tool:{tool}")).outcome
        for role in records.posts
        for tool in ("Bash", "mcp__db__query")
    }
    allowed = [pair for pair, outcome in outcomes.items() if outcome == "allow"]
    assert allowed == [("web__reviewer", "mcp__db__query"), ("data__reviewer", "Bash")]
    place = records.posts["data__reviewer"].document.place("name")
    assert (place.file.removeprefix(f"{tmp_path}/tree/"), place.line) == ("data/agents/reviewer.md", 2)


def test_every_question_works_on_a_union_at_once(tmp_path: Path) -> None:
    """Without naming a part; `--org` narrows to one."""
    write_tree(tmp_path, MARKET)
    assert "data:reviewer" in run_here("graph", cwd=tmp_path).stdout
    assert "role:data__reviewer" in run_here("who-can", "use", "tool:Bash", cwd=tmp_path).stdout
    assert run_here("manifest", "pager", cwd=tmp_path).returncode == 0
    done = run_here("dispatch", "--text", "review the queries", cwd=tmp_path)
    assert "data__reviewer" in done.stdout.splitlines()[0]
    narrowed = run_here("graph", "--org", "data", cwd=tmp_path)
    assert narrowed.stdout.splitlines()[0].endswith("1 role")
    assert "reviewer" in narrowed.stdout
    assert "pager" not in narrowed.stdout
    wrong = run_here("graph", "--org", "nowhere", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "no organization `nowhere`" in wrong.stderr


def test_a_tree_of_two_hosts_has_an_organization_for_each(tmp_path: Path) -> None:
    """They see only their own documents; the one with more roles answers, and a note names it."""
    files = {
        ".claude/agents/a.md": agent("a", "Does a. Use it.", "Read"),
        "b/.claude/agents/b.md": agent("b", "Does b. Use it.", "Read"),
        ".github/agents/planner.agent.md": COPILOT,
    }
    kernel = Kernel.open(write_tree(tmp_path / "tree", files))
    assert {org: list(each.snapshot.records.posts) for org, each in kernel.state.served.items()} == {
        "tree": ["a", "b"],
        "tree-copilot": ["planner"],
    }
    assert kernel.organization("active").snapshot.org_id == "tree"
    done = run_here("graph", cwd=tmp_path / "tree")
    assert "note: `tree` answers; `--org` chooses `tree-copilot`" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "framework"),
    [
        ("src/graph.py", "import os\nfrom langgraph.graph import StateGraph\n", "LangGraph"),
        ("langgraph.json", "{}", "LangGraph"),
        ("agency.py", "from agency_swarm import Agency\n", "Agency Swarm"),
        ("team.py", "from autogen_agentchat.teams import RoundRobinGroupChat\n", "AutoGen"),
        ("app/agent.py", "from google.adk.agents import Agent\n", "Google ADK"),
        ("main.py", "from agents import Agent, Runner\n\nagent = Agent(name='x')\n", "the OpenAI Agents SDK"),
        ("crew.py", "from crewai import Agent, Crew\n", "CrewAI"),
        ("src/a.ts", 'import { Agent } from "@mastra/core/agent";\n', "Mastra"),
        ("main.py", "from agents import helper\n", None),
        ("main.py", "# from langgraph import x, says the text\nprint('import langgraph_tools')\n", None),
        ("notes.txt", "from langgraph.graph import StateGraph\n", None),
    ],
)
def test_agents_in_code_are_named(tmp_path: Path, name: str, text: str, framework: str | None) -> None:
    """They cannot be read, and the error says of which framework the code is."""
    write_tree(tmp_path, {name: text, "AGENTS.md": "# How to build\n"})
    done = run_here("check", cwd=tmp_path)
    assert done.returncode == 2
    nearest = (
        f"`{name}`, but it is code of {framework}, and agents in code cannot be read"
        if framework
        else "`AGENTS.md`, but"
    )
    assert f"the nearest is {nearest}" in done.stderr


@pytest.mark.parametrize("path", [".agents/x.md", ".claude/agents/X.MD"])
def test_an_agent_where_no_host_looks_is_named(tmp_path: Path, path: str) -> None:
    """With the reason, instead of one that is not true."""
    tree = write_tree(tmp_path, {path: "---\nname: x\ndescription: Does x. Use it.\n---\nx\n"})
    done = run_here("check", cwd=tree)
    assert done.returncode == 2
    assert f"the nearest is `{path}`, but it begins like an agent" in done.stderr, done.stderr


def test_no_server_is_counted_where_none_is(tmp_path: Path) -> None:
    """In a tree whose only agent is faulty."""
    tree = write_tree(tmp_path, {".codex/agents/x.toml": 'name = "x\n'})
    assert "read as OpenAI Codex: 0 agents;" in run_here("check", cwd=tree).stderr


def test_every_crew_of_a_folder_is_listed(tmp_path: Path) -> None:
    """Each with its own organization, and without a note that it is not read."""
    text = "a:\n  role: R{0}\n  goal: G\n  backstory: B\n"
    tree = write_tree(tmp_path, {f"crews/{each}/config/agents.yaml": text.format(each) for each in "xy"})
    done = run_here("list", "--format", "json", cwd=tree)
    rows = [
        (each["org"], each["roles"], each["path"], each.get("note", ""))
        for each in json.loads(done.stdout)["trees"]
    ]
    assert rows == [("x", 1, "crews/x", ""), ("y", 1, "crews/y", "")]


def test_a_check_tells_what_it_read(tmp_path: Path) -> None:
    """A check of several sources prints a table of them, and names what was left out and why."""
    files = {
        "apps/web/.claude/agents/pages.md": agent("pages", "Builds pages. Use it after a design."),
        "apps/web/skills/look/SKILL.md": SKILL,
        "vendor/.claude/agents/copy.md": agent("copy", "Copies. Use it."),
        **put("crew", CREW),
    }
    done = run_here("check", cwd=write_tree(tmp_path, files))
    lines = done.stderr.splitlines()
    assert lines[:4] == [
        "format        read     place",
        "Claude Code   1 agent  apps/web",
        "CrewAI        1 agent  crew",
        "Agent Skills  1 skill  apps/web",
    ]
    assert lines[4] == "note: left out `vendor`: it is a folder of dependencies"
    assert "read as" not in done.stderr


def test_a_long_table_of_sources_is_cut(tmp_path: Path) -> None:
    """Of many sources the first ten are shown, with the number of all agents."""
    files = {
        f"apps/a{number:02}/.claude/agents/x{number}.md": agent(f"x{number}", "Use it.")
        for number in range(13)
    }
    lines = run_here("check", cwd=write_tree(tmp_path, files)).stderr.splitlines()
    assert lines[10] == "Claude Code  1 agent  apps/a09"
    assert lines[11] == "note: 3 more places, 13 agents in all 13; `orgkernel list` shows them"


def test_agents_of_an_unknown_host_are_named(tmp_path: Path) -> None:
    """Agents in a hidden folder that no known host reads are left out with the way to read them, beside others or alone."""
    files = {
        ".foo/agents/hidden.md": agent("hidden", "Hides. Use it."),
        ".foo/agents/notes.md": "# Notes\n",
        ".bar/agents/page.md": "---\ntitle: Page\ndescription: A page.\n---\n",
    }
    alone = run_here("check", cwd=write_tree(tmp_path / "alone", files))
    assert alone.returncode == 2
    assert "the nearest is `.foo/agents`, but it begins like agents of Claude Code" in alone.stderr
    files |= {".claude/agents/seen.md": agent("seen", "Sees. Use it.")}
    beside = run_here("check", cwd=write_tree(tmp_path / "beside", files))
    (left_out,) = [line for line in beside.stderr.splitlines() if "left out" in line]
    assert left_out.startswith("note: left out `.foo/agents`: it begins like agents of Claude Code")
    assert "1 role" in beside.stderr
    read = run_here("check", ".foo/agents", "--from", "claude-code", cwd=tmp_path / "alone")
    assert "no findings in 1 organization, 1 role" in read.stderr


def test_code_is_named_by_the_agent_and_not_by_its_test(tmp_path: Path) -> None:
    """Whichever comes first; a tree with nothing but tests names one."""
    code = "from google.adk.agents import Agent\n\nroot_agent = Agent(name='a')\n"
    write_tree(tmp_path / "both", {"app/eval/test_eval.py": code, "app/zone/agent.py": code})
    assert "the nearest is `app/zone/agent.py`" in run_here("check", cwd=tmp_path / "both").stderr
    more = run_here("check", cwd=tmp_path / "both").stderr
    assert "it is code of Google ADK, and agents in code cannot be read (1 more file)" in more
    write_tree(tmp_path / "tests", {"app/eval/test_eval.py": code})
    assert "the nearest is `app/eval/test_eval.py`" in run_here("check", cwd=tmp_path / "tests").stderr


def test_folders_that_a_host_does_not_read_are_named_once(tmp_path: Path) -> None:
    """Gemini CLI reads the files of `.gemini/agents` and none below; the way to read them works, beside others and alone."""
    files = {
        f".gemini/agents/{folder}/{folder}{number}.md": agent(
            f"{folder}{number}", f"Does {folder} {number}. Use it first.", "[read_file]"
        )
        for folder in ("data", "web")
        for number in range(5)
    }
    alone = run_here("check", cwd=write_tree(tmp_path / "alone", files))
    assert alone.returncode == 2
    nearest = "the nearest is `.gemini/agents`, but 10 files begin like agents in folders below it, which Gemini CLI does not read"
    assert nearest in alone.stderr
    assert "more: `orgkernel list`" not in alone.stderr
    read = run_here("check", ".gemini/agents", "--from", "gemini-cli", cwd=tmp_path / "alone")
    assert "no findings in 1 organization, 10 roles" in read.stderr
    below = run_here("check", ".gemini/agents/web", cwd=tmp_path / "alone")
    assert "read as Claude Code" not in below.stderr
    files |= {".gemini/agents/seen.md": agent("seen", "Sees. Use it first.", "[read_file]")}
    beside = run_here("check", cwd=write_tree(tmp_path / "beside", files))
    assert "note: left out `.gemini/agents`: 10 files begin like agents" in beside.stderr
    assert "1 role" in beside.stderr


def test_many_files_for_one_reason_are_named_once(tmp_path: Path) -> None:
    """A folder with the number of its files, instead of a line for each."""
    files = {f".agents/x{number}.md": "---\nname: x\ndescription: Does x.\n---\n" for number in range(9)}
    done = run_here("list", cwd=write_tree(tmp_path, files))
    (line,) = [each for each in done.stderr.splitlines() if "left out" in each]
    assert line.startswith("note: left out `.agents`: 9 files, such as `x0.md`: it begins like an agent")


def test_files_in_many_folders_are_named_once_for_each_reason(tmp_path: Path) -> None:
    """The nearest kind comes first: a file like an agent before instructions, commands and pages."""
    files = {f"docs/{each}/page.md": "---\ntitle: Page\n---\n" for each in "abcdef"}
    files |= {f"pkg/{each}/AGENTS.md": "# How to build\n" for each in "abcd"}
    files |= {".opencode/command/go.md": "---\nname: go\ndescription: Goes.\nmodel: x\n---\n"}
    tree = write_tree(tmp_path, files)
    lines = [line for line in run_here("list", cwd=tree).stderr.splitlines() if "left out" in line]
    assert lines == [
        "note: left out `pkg`: 4 files in 4 folders, such as `a/AGENTS.md`: it has instructions for agents, and declares none",
        "note: left out `.opencode/command/go.md`: it is a command, which a user starts, and not an agent",
        "note: left out `docs`: 6 files in 6 folders, such as `a/page.md`: its front matter has no `name` and "
        "`description` of an agent",
    ]


def test_the_schema_of_a_configuration_declares_no_servers(tmp_path: Path) -> None:
    """A JSON Schema of `mcp.json` is not a list of servers, and a saved answer whose tools have schemas is still
    read.
    """
    word = '"$schema": "https://json-schema.org/draft/2020-12/schema"'
    schema = f'{{{word}, "type": "object", "properties": {{"mcpServers": {{"type": "object"}}}}}}'
    assert (
        "nothing to check" in run_here("check", cwd=write_tree(tmp_path / "a", {"mcp.json": schema})).stderr
    )
    answer = f'{{"tools": [{{"name": "look", "inputSchema": {{{word}, "type": "object"}}}}]}}'
    done = run_here("check", cwd=write_tree(tmp_path / "b", {"mcp-tools.json": answer}))
    assert done.returncode == 0, done.stderr


def test_an_agent_without_a_name_is_shown_without_one(tmp_path: Path) -> None:
    """Every message has a subject that people can read."""
    done = run_here("check", cwd=write_tree(tmp_path, {".codex/agents/x.toml": 'model = "gpt-5"\n'}))
    assert "agent ``" not in done.stdout
    assert "the agent has no `description`" in done.stdout


def test_a_folder_of_agents_is_of_the_host_whose_tools_they_list(tmp_path: Path) -> None:
    """Agents that list tools of Gemini CLI and none of Claude Code are its agents, in any folder; notes next to
    them are none.
    """
    files = {
        "agents/core/planner.md": agent("planner", "Plans. Use it first.", "[read_file, grep_search]"),
        "agents/core/guide.md": "---\ntitle: How to\n---\nRead.\n",
        "agents/web/pages.md": agent("pages", "Builds pages. Use it then.", "Read, mcp__my_db__query_all"),
    }
    tree = write_tree(tmp_path, files)
    done = run_here("list", "--format", "json", cwd=tree)
    trees = json.loads(done.stdout)["trees"]
    rows = {(each["format"], each["path"], each["roles"]) for each in trees}
    assert rows == {("gemini-cli", "agents/core", 1), ("claude-code", "agents/web", 1)}
    (org,) = [each["org"] for each in trees if each["format"] == "gemini-cli"]
    done = run_here("who-can", "use", "tool:read_file", "--org", org, cwd=tree)
    assert "role:planner" in done.stdout, done.stderr
    assert "1 organization, 2 roles" in run_here("check", "--from", "claude-code", cwd=tree).stderr
    assert "1 organization, 1 role" in run_here("check", "--from", "gemini-cli", cwd=tree).stderr
