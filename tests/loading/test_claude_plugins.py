"""The rest of Claude Code: marketplaces of plugins, and permission rules of settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from tests.support.claude_trees import AGENTS, agent
from tests.support.in_process import run_here
from tests.support.trees import write_tree

PLUGIN = ".claude-plugin/plugin.json"
MARKETPLACE = ".claude-plugin/marketplace.json"


def test_each_plugin_of_a_marketplace_is_a_department(tmp_path: Path) -> None:
    """With agents of the same name, with and without a manifest of its own; nothing outside of the folder is read."""
    listed = [
        {"name": "web", "source": "./plugins/web", "description": "For the web."},
        {"name": "data", "source": "data"},
        {"name": "skills-only", "source": "./plugins/skills"},
        {"name": "elsewhere", "source": {"source": "github", "repo": "a/b"}},
        {"name": "outside", "source": "../outside"},
        {"name": "link", "source": "./plugins/link"},
        {"name": "gone", "source": "./plugins/gone"},
        3,
    ]
    files = {
        MARKETPLACE: json.dumps({"name": "ours", "metadata": {"pluginRoot": "./plugins"}, "plugins": listed}),
        f"plugins/web/{PLUGIN}": '{"name": "web-tools", "description": "For the web."}',
        "plugins/web/agents/reviewer.md": agent("reviewer", "Reviews pages. Use after a page changed.", "Read"),
        "plugins/data/agents/reviewer.md": agent("reviewer", "Reviews queries. Use after a query changed.", "Read"),
        "plugins/data/README.md": "Text\n",
        "plugins/skills/skills/look/SKILL.md": "---\nname: look\ndescription: How to look.\n---\nLook.\n",
        "README.md": "Text\n",
    }  # fmt: skip
    top = write_tree(tmp_path / "market", files)
    write_tree(tmp_path / "outside", {"agents/a.md": agent("a", "Use it.")})
    (top / "plugins" / "link").symlink_to(tmp_path / "outside")
    kernel = Kernel.open(top)
    assert {org: list(each.snapshot.records.posts) for org, each in kernel.state.served.items()} == {
        "ours": ["web__reviewer", "data__reviewer"],
    }  # fmt: skip
    assert kernel.check() == ()
    done = run_here("check", "market", cwd=tmp_path)
    assert done.returncode == 0
    assert "Claude Code  1 agent  market/plugins/web" in done.stderr
    left_out = [
        line.partition("`: ")[2] for line in done.stderr.splitlines() if line.startswith("note: left out")
    ]
    assert left_out == [
        "the plugin elsewhere is not in this tree",
        "the folders of 2 plugins do not exist, such as that of outside",
        "the plugin link is outside of the folder of its marketplace",
    ]
    assert "1 organization, 2 roles" in done.stderr
    done = run_here("who-can", "use", "tool:Read", "--org", "data", "--path", "market", cwd=tmp_path)
    assert "role:reviewer" in done.stdout


@pytest.mark.parametrize("text", ["{", "[]", '{"plugins": 3}', '{"plugins": [{"name": 1, "source": "./a"}]}', '{"plugins": [{"name": "a", "source": "\\u0000"}]}'])  # fmt: skip
def test_a_marketplace_that_lists_nothing(text: str, tmp_path: Path) -> None:
    """It is an ordinary folder, and the agents in it are found."""
    write_tree(tmp_path, {MARKETPLACE: text, "a/agents/a.md": agent("a", "Use it.")})
    done = run_here("check", cwd=tmp_path)
    assert done.returncode == 0
    assert "Claude Code" in done.stderr
    assert "1 organization, 1 role" in done.stderr


RULES = {
    "allow": ["WebSearch", "Bash(npm test)"],
    "ask": ["Edit", "mcp__sentry"],
    "deny": ["WebFetch", "Read(~/.env)", "mcp__db__drop", "Task"],
}


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_permission_rules_decide_for_every_agent(name: str, tmp_path: Path) -> None:
    """What is denied is gone, also for a call that could be about a denied part, what is asked about needs an approval, and nothing is
    given.
    """
    tools = "Read, Edit, WebFetch, Task, mcp__sentry__list, mcp__db__drop, mcp__db__ask, mcp__db"
    files = {
        f".claude/{name}": json.dumps({"permissions": RULES}),
        f"{AGENTS}/a.md": agent("a", "Use it.", tools),
        f"{AGENTS}/b.md": "---\nname: b\ndescription: Use it for all.\n---\n",
        ".mcp.json": '{"mcpServers": {"sentry": {}, "db": {}}}',
    }
    top = write_tree(tmp_path / "shop", files)
    kernel = Kernel.open(top)
    said = {
        tool: kernel.can("shop", AccessRequest("role:a", "use", f"tool:{tool}")).outcome
        for tool in tools.split(", ")
    }
    assert said == {
        "Read": "deny", "Edit": "deny", "WebFetch": "deny", "Task": "deny", "mcp__sentry__list": "ask",
        "mcp__db__drop": "deny", "mcp__db__ask": "allow", "mcp__db": "deny",
    }  # fmt: skip
    assert kernel.can("shop", AccessRequest("role:a", "use", "tool:Edit:src/a.py")).outcome == "ask"
    assert kernel.can("shop", AccessRequest("role:a", "use", "tool:WebSearch")).outcome == "deny"
    assert kernel.can("shop", AccessRequest("role:b", "use", "tool:Agent")).outcome == "deny"
    done = run_here("can", "role:a", "use", "tool:WebFetch", "--path", "shop", cwd=tmp_path)
    assert f"shop/.claude/{name}:1" in done.stdout


@pytest.mark.parametrize(
    ("tools", "scope"),
    [
        ("Read, Edit(docs/**), Write(./docs/**)", ("docs/**",)),
        ("Edit(docs/**), Edit(*.md), TodoWrite, Task", ("docs/**", "*.md")),
        ("Edit(docs/**), Write(src/**)", ()),
        ("Edit(docs/**), Bash", ()),
        ("Edit(docs/**), mcp__db", ()),
        ("Edit(docs/**), Edit", ()),
        ("Edit(/docs/**)", ()),
        ("Edit(~/docs/**)", ()),
        ("Edit(docs/../**)", ()),
        ("Edit(docs/**)\ndisallowedTools: Edit", ()),
        ("Edit(docs/**)\ndisallowedTools: Edit(docs/secret/**)", ()),
    ],
)
def test_paths_of_tools_that_write_are_a_file_scope(
    tools: str, scope: tuple[str, ...], tmp_path: Path
) -> None:
    """Where all that writes is bound to them; else the host gives the whole tool, unless it is denied."""
    files = {f"{AGENTS}/a.md": agent("a", "Use it.", tools), ".mcp.json": '{"mcpServers": {"db": {}}}'}
    kernel = Kernel.open(write_tree(tmp_path / "shop", files))
    assert kernel.organization("shop").snapshot.index.records.posts["a"].profile.file_scope == scope
    inside = kernel.can("shop", AccessRequest("role:a", "use", "tool:Edit:docs/a.md")).outcome
    is_whole = not scope and "disallowedTools" not in tools
    assert inside == ("allow" if scope or is_whole else "deny")
    for path in ("", ":src/a.py", ":docs/../a", ":/docs/a.md"):
        outcome = kernel.can("shop", AccessRequest("role:a", "use", f"tool:Edit{path}")).outcome
        assert outcome == ("allow" if is_whole else "deny"), path


def test_no_finding_proposes_removing_a_rule_of_the_host(tmp_path: Path) -> None:
    """Two rules about parts of one tool protect two things, although both become the same policy here."""
    rules = {
        "deny": ["WebFetch(domain:*.a.com)", "WebFetch(domain:*.b.com)", "Read(a/**)", "Read(a/b)"],
        "ask": ["Read"],
    }
    files = {
        ".claude/settings.json": json.dumps({"permissions": rules}),
        f"{AGENTS}/a.md": agent("a", "Use it."),
    }
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, files))
    assert "ORG781" in done.stdout
    assert "ORG412" not in done.stdout


def test_settings_without_rules_say_nothing(tmp_path: Path) -> None:
    """Other settings are not reported; rules that cannot be read are an error, and no question is answered."""
    write_tree(tmp_path, {f"{AGENTS}/a.md": agent("a", "Use it."), ".claude/settings.json": '{"model": "x"}'})
    assert run_here("check", cwd=tmp_path).returncode == 0
    for text in (
        '{"permissions": []}',
        '{"permissions": {"deny": "Bash"}}',
        '{"permissions": {"deny": [3]}}',
        '{"permissions": {"deny": ["(x)"]}}',
        "{",
    ):
        write_tree(tmp_path, {".claude/settings.json": text})
        assert run_here("check", cwd=tmp_path).returncode == 1, text
        assert run_here("can", "role:a", "use", "tool:Read", "--path", ".", cwd=tmp_path).returncode == 2, (
            text
        )


def test_other_files_of_a_plugin_are_not_its_agents(tmp_path: Path) -> None:
    """Prompts that begin like agents are named, with the way to read them; a plugin that is the whole tree is not complete."""
    files = {
        MARKETPLACE: json.dumps({"name": "ours", "plugins": [{"name": "web", "source": "./web"}]}),
        f"web/{PLUGIN}": '{"name": "web"}',
        "web/agents/reviewer.md": agent("reviewer", "Reviews pages. Use after a page changed.", "Read"),
        "web/prompts/finder.md": agent("finder", "Finds bugs."),
    }
    tree = write_tree(tmp_path / "market", files)
    done = run_here("check", "market", cwd=tmp_path)
    assert "1 organization, 1 role" in done.stderr
    assert (
        "left out `market/web/prompts`: it has files that begin like agents, which the plugin web does not list; "
        "`--from claude-code` with this folder reads them" in done.stderr
    )
    write_tree(tree, {"web/more/other.md": agent("other", "Finds others.")})
    assert (
        "left out `market/web`: files in 2 folders begin like agents, such as in `more`, and the plugin web does not list "
        "them; `--from claude-code` with one of these folders reads them"
        in run_here("list", "market", cwd=tmp_path).stderr
    )
    named = run_here("check", "web/prompts", "--from", "claude-code", cwd=tree)
    assert "1 organization, 1 role" in named.stderr
    whole = write_tree(
        tmp_path / "whole",
        {
            PLUGIN: '{"name": "all"}',
            "agents/a.md": agent("a", "Does a. Use it.", "Read"),
            "departments/sales/b.md": agent("b", "Does b. Use it.", "Read"),
        },
    )
    assert "1 organization, 2 roles" in run_here("check", cwd=whole).stderr
