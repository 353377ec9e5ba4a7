"""OpenCode, Codex, Gemini CLI and Cursor: agents are found, and their rules about tools decide as in their hosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree

DENY, ASK, ALLOW = "deny", "ask", "allow"


def opencode(fields: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of OpenCode."""
    return {f".opencode/agents/{name}.md": f"---\ndescription: Does {name}.\n{fields}---\nDo {name}.\n"}


def gemini(fields: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of Gemini CLI."""
    return {
        f".gemini/agents/{name}.md": f"---\nname: {name}\ndescription: Does {name}.\n{fields}---\nDo {name}.\n"
    }


def cursor(fields: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of Cursor."""
    return {
        f".cursor/agents/{name}.md": f"---\nname: {name}\ndescription: Does {name}.\n{fields}---\nDo {name}.\n"
    }


def codex(fields: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of Codex."""
    text = f'name = "{name}"\ndescription = "Does {name}."\ndeveloper_instructions = """\nDo\n[x]\n"""\n{fields}\n'
    return {f".codex/agents/{name}.toml": text}


def opencode_settings(**fields: object) -> dict[str, str]:
    """A configuration of OpenCode."""
    return {"opencode.json": json.dumps(fields)}


def gemini_settings(**fields: object) -> dict[str, str]:
    """Settings of Gemini CLI."""
    return {".gemini/settings.json": json.dumps(fields)}


JIRA = {"jira": {"command": "j"}}


def decide(folder: Path, question: str, *more: str) -> str:
    """The effect of an answer; `error` if there is none."""
    done = run_here("can", *question.split(), *more, "--path", str(folder), cwd=folder.parent)
    return done.stdout.partition(":")[0] or "error"


@pytest.mark.parametrize(
    ("files", "answers"),
    [
        # -- OpenCode: every tool, until a rule takes it
        (opencode(""), {"bash": ALLOW, "edit": ALLOW, "task": ALLOW}),
        (opencode("tools: {bash: false, write: false}\n"), {"bash": DENY, "write": DENY, "edit": DENY, "patch": DENY, "read": ALLOW}),
        (opencode("tools: {'*': false, read: true}\n"), {"bash": DENY, "read": ALLOW}),
        (opencode("permission: deny\n"), {"read": DENY, "bash": DENY}),
        (opencode("permission: ask\n"), {"read": ASK, "bash": ASK}),
        (opencode("permission: {edit: deny, bash: ask, webfetch: allow}\n"), {"edit": DENY, "write": DENY, "bash": ASK, "webfetch": ALLOW}),
        (opencode("permission: {'*': deny, read: allow}\n"), {"edit": DENY, "read": ALLOW}),
        (opencode("permission: {read: allow, '*': deny}\n"), {"read": DENY}),
        (opencode("tools: {bash: true}\npermission: {bash: deny}\n"), {"bash": DENY}),
        (opencode("mode: subagent\n"), {"task": DENY, "bash": ALLOW}),
        (opencode("permission: {bash: {'*': deny, 'git log*': allow}}\n"), {"bash": DENY}),
        ({**opencode("tools: {jira_*: false}\n"), **opencode_settings(mcp=JIRA)}, {"mcp__jira": DENY}),
        ({**opencode("tools: {'ji*': false}\n"), **opencode_settings(mcp=JIRA)}, {"mcp__jira": DENY}),
        ({**opencode("permission: {'*_delete': deny, jira_delete: allow, '*del*': deny}\n"), **opencode_settings(mcp=JIRA)}, {"mcp__jira__delete": DENY}),
        ({**opencode("tools: {jira_delete: false}\n"), **opencode_settings(mcp=JIRA)}, {"mcp__jira": ALLOW, "mcp__jira__delete": DENY}),
        ({**opencode(""), **opencode_settings(permission={"edit": "deny", "bash": "ask"})}, {"edit": DENY, "bash": ASK}),
        ({**opencode("permission: {bash: allow}\n"), **opencode_settings(permission={"bash": "ask"})}, {"bash": ALLOW}),
        ({**opencode_settings(agent={"a": {"description": "x", "permission": {"edit": "deny"}}})}, {"edit": DENY, "bash": ALLOW}),
        (opencode("permissions:\n  - {action: '*', effect: deny}\n  - {action: read, effect: allow}\n"), {"read": ALLOW, "edit": DENY}),
        # -- Gemini CLI: the listed tools
        (gemini(""), {"read_file": ALLOW, "run_shell_command": ALLOW}),
        (gemini("tools: [read_file, grep_search]\n"), {"read_file": ALLOW, "run_shell_command": DENY}),
        (gemini("tools: ['*']\n"), {"run_shell_command": ALLOW}),
        (gemini("tools: []\n"), {"read_file": DENY}),
        ({**gemini("tools: [mcp_*]\n"), **gemini_settings(mcpServers=JIRA)}, {"mcp__jira": ALLOW, "read_file": DENY}),
        ({**gemini("tools: [mcp_jira_open]\n"), **gemini_settings(mcpServers=JIRA)}, {"mcp__jira": DENY, "mcp__jira__open": ALLOW}),
        (gemini("tools: [mcp_db_*]\nmcp_servers: {db: {command: d}}\n"), {"mcp__db": ALLOW}),
        ({**gemini(""), **gemini_settings(tools={"exclude": ["write_file"]})}, {"write_file": DENY, "read_file": ALLOW}),
        ({**gemini("tools: [write_file]\n"), **gemini_settings(excludeTools=["write_file"])}, {"write_file": DENY}),
        ({**gemini(""), **gemini_settings(tools={"core": ["read_file"]})}, {"write_file": DENY, "read_file": ALLOW}),
        ({**gemini(""), **gemini_settings(tools={"exclude": "write_file"})}, {"write_file": DENY, "read_file": DENY}),
        (gemini("kind: remote\nagent_card_url: https://x.example\n"), {"read_file": DENY}),
        # -- Cursor: every tool, or only reading
        (cursor(""), {"edit": ALLOW, "shell": ALLOW}),
        (cursor("readonly: true\n"), {"edit": DENY, "shell": DENY, "delete": DENY, "read": ALLOW}),
        (cursor("readonly: false\n"), {"edit": ALLOW}),
        ({**cursor("readonly: true\n"), ".cursor/mcp.json": json.dumps({"mcpServers": JIRA})}, {"mcp__jira": ASK}),
        # -- Codex: every tool, in a sandbox
        (codex(""), {"apply_patch": ALLOW, "shell": ALLOW}),
        (codex('sandbox_mode = "read-only"'), {"apply_patch": DENY, "shell": ASK, "view_image": ALLOW}),
        ({**codex(""), ".codex/config.toml": 'sandbox_mode = "read-only"\n'}, {"apply_patch": DENY, "shell": ASK}),
        ({**codex('sandbox_mode = "workspace-write"'), ".codex/config.toml": 'sandbox_mode = "read-only"\n'}, {"apply_patch": ALLOW}),
        (codex('web_search = "disabled"'), {"web_search": DENY}),
        (codex('[mcp_servers.jira]\ncommand = "j"'), {"mcp__jira": ALLOW}),
        (codex('[mcp_servers.jira]\ncommand = "j"\nenabled_tools = ["open"]'), {"mcp__jira": DENY, "mcp__jira__open": ALLOW}),
        (codex('[mcp_servers.jira]\ncommand = "j"\ndisabled_tools = ["drop"]'), {"mcp__jira": ALLOW, "mcp__jira__drop": DENY}),
        (codex('[mcp_servers.jira]\ncommand = "j"\nenabled = false'), {"mcp__jira": DENY}),
    ],
)  # fmt: skip
def test_the_rules_of_a_host_decide(tmp_path: Path, files: dict[str, str], answers: dict[str, str]) -> None:
    """What the files of a host state is what is answered."""
    write_tree(tmp_path / "shop", files)
    decided = {tool: decide(tmp_path / "shop", f"role:a use tool:{tool}") for tool in answers}
    assert decided == answers


@pytest.mark.parametrize(
    ("rules", "command", "effect"),
    [
        ("{'*': allow, 'git push*': deny}", "git push origin", DENY),
        ("{'*': allow, 'git push*': deny}", "git status", ALLOW),
        ("{'*': allow, 'rm *': ask}", "rm x", ASK),
        ("{'*': ask, 'git push *': deny, 'git status': allow}", "git push", DENY),
        ("{'*': ask, 'git push *': deny, 'git status': allow}", "git status", ASK),
        ("{'git push*': deny, '*': allow}", "git push", ALLOW),
        ("{'*': allow, 'rm*': deny}", "ls", DENY),
        ("{'*': allow, '*secret*': deny}", "ls", DENY),
    ],
)
def test_rules_about_commands(tmp_path: Path, rules: str, command: str, effect: str) -> None:
    """A rule about some commands that cannot be expressed applies to all, and an exception to a refusal is ignored."""
    write_tree(tmp_path / "shop", opencode(f"permission:\n  bash: {rules}\n"))
    question = "role:a use tool:bash"
    context = json.dumps({"input": {"command": command}})
    assert decide(tmp_path / "shop", question, "--context", context) == effect


@pytest.mark.parametrize(
    ("files", "question"),
    [
        ({**opencode(""), "opencode.json": '{"permission": {'}, "role:a use tool:read"),
        ({**opencode(""), "opencode.json": '{"agent": []}'}, "role:a use tool:read"),
        ({**gemini(""), ".gemini/settings.json": "{"}, "role:a use tool:read_file"),
        ({**codex(""), ".codex/config.toml": "x ="}, "role:a use tool:shell"),
        (opencode("permission: {bash: alow}\n"), "role:a use tool:bash"),
        (opencode("mode: helper\n"), "role:a use tool:bash"),
        (opencode("tools: [read]\n"), "role:a use tool:bash"),
        (gemini("tools: read_file\n"), "role:a use tool:read_file"),
        (gemini("kind: locl\n"), "role:a use tool:read_file"),
        (cursor("readonly: perhaps\n"), "role:a use tool:edit"),
        (codex('sandbox_mode = "readonly"'), "role:a use tool:apply_patch"),
        (codex("mcp_servers = 3"), "role:a use tool:shell"),
    ],
)
def test_what_cannot_be_read_opens_nothing(tmp_path: Path, files: dict[str, str], question: str) -> None:
    """Configurations hold the organization back, and faulty agents themselves."""
    write_tree(
        tmp_path / "shop", {**files, **{name.replace("/a.", "/b."): text for name, text in files.items()}}
    )
    assert decide(tmp_path / "shop", question) in (DENY, "error")
    assert run_here("check", "shop", cwd=tmp_path).returncode == 1


def test_who_starts_whom(tmp_path: Path) -> None:
    """An agent of OpenCode may start subagents within its rules. One of Gemini CLI starts none."""
    lead = "mode: primary\npermission: {task: {'*': deny, 'docs/*': allow}}\n"
    files = {**opencode(lead, "lead"), **opencode("mode: subagent\n", "docs/writer"), **opencode("mode: subagent\n", "dev"),
             **opencode("mode: primary\n", "boss")}  # fmt: skip
    write_tree(tmp_path / "shop", files)
    shop = tmp_path / "shop"
    assert decide(shop, "role:lead handoff role:docs_2f_writer") == ALLOW
    assert decide(shop, "role:lead handoff role:dev") == DENY
    assert decide(shop, "role:boss handoff role:dev") == ALLOW
    assert decide(shop, "role:boss handoff role:lead") == DENY
    assert decide(shop, "role:dev handoff role:docs_2f_writer") == DENY
    write_tree(
        tmp_path / "asks",
        {**opencode("permission: {task: ask}\n", "lead"), **opencode("mode: subagent\n", "dev")},
    )
    assert decide(tmp_path / "asks", "role:lead handoff role:dev") == DENY
    assert decide(tmp_path / "asks", "role:lead use tool:task") == ASK
    write_tree(tmp_path / "other", {**gemini("", "a"), **gemini("", "b")})
    assert decide(tmp_path / "other", "role:a handoff role:b") == DENY


def test_all_hosts_of_one_repository_are_found(tmp_path: Path) -> None:
    """At any depth; sources of one host are one organization, with the rules of their own folder only."""
    files = {
        **opencode("permission: {edit: deny}\n"),
        **codex(""),
        **gemini(""),
        **cursor("", "reviewer"),
        ".cursor/rules/style.mdc": "---\ndescription: Style\n---\nShort.\n",
        ".gemini/agents/_draft.md": "---\nname: draft\ndescription: x\n---\n",
    }
    write_tree(tmp_path / "shop", files)
    write_tree(tmp_path / "shop/services/pay", opencode("", "payer") | gemini("", "auditor"))
    done = run_here("list", "shop", "--format", "json", cwd=tmp_path)
    listed = {(each["format"], each["roles"], each["path"]) for each in json.loads(done.stdout)["trees"]}
    assert listed == {
        ("opencode", 1, "shop"), ("opencode", 1, "shop/services/pay"), ("codex", 1, "shop"), ("gemini-cli", 1, "shop"),
        ("gemini-cli", 1, "shop/services/pay"), ("cursor", 1, "shop"),
    }  # fmt: skip
    shop = tmp_path / "shop"
    assert decide(shop, "role:a use tool:edit", "--org", "shop") == DENY
    assert decide(shop, "role:payer use tool:edit", "--org", "shop") == ALLOW


def test_an_extension_of_gemini(tmp_path: Path) -> None:
    """Its agents are beside its manifest, whose exclusions decide."""
    files = {
        "gemini-extension.json": json.dumps({"name": "x", "version": "1", "excludeTools": ["write_file"]}),
        "agents/a.md": "---\nname: a\ndescription: Does a.\ntools: [read_file, write_file]\n---\nDo a.\n",
    }
    write_tree(tmp_path / "shop", files)
    assert "read as Gemini CLI: 1 agent" in run_here("check", "shop", cwd=tmp_path).stderr
    assert decide(tmp_path / "shop", "role:a use tool:write_file") == DENY
    assert decide(tmp_path / "shop", "role:a use tool:read_file") == ALLOW


def test_each_answer_names_its_line(tmp_path: Path) -> None:
    """Also in TOML, whose parser has no positions."""
    write_tree(tmp_path / "shop", codex('sandbox_mode = "read-only"'))
    shop = tmp_path / "shop"
    done = run_here("can", "role:a", "use", "tool:shell", cwd=shop)
    assert ".codex/agents/a.toml:7" in done.stdout
    (shop / ".codex/agents/a.toml").write_text('name = "a"\nname = 3\n', encoding="utf-8")
    assert ".codex/agents/a.toml:2:" in run_here("check", cwd=shop).stdout


def test_a_rule_for_a_tool_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """A refusal that never matches is no protection."""
    write_tree(tmp_path / "shop", opencode("permission: {bsh: deny}\n"))
    done = run_here("check", "shop", "--format", "concise", cwd=tmp_path)
    assert (
        "has a rule `deny` for the tool `bsh`, which is not declared, so the rule has no effect"
        in done.stdout
    )


@pytest.mark.parametrize("name", ["opencode", "codex", "gemini_cli", "cursor"])
def test_a_well_kept_tree_has_no_finding(tmp_path: Path, name: str) -> None:
    """Of any of the hosts."""
    done = run_here("check", "shop", cwd=lay_out(tmp_path / "shop", name).parent)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_collection_of_codex_agents(tmp_path: Path) -> None:
    """Folders of TOML files outside of `.codex` are found by their content; other TOML files are no agents."""
    agent = 'name = "{0}"\ndescription = "Does {0}. Use it."\ndeveloper_instructions = "Do {0}."\n'
    files = {
        "categories/code/writer.toml": agent.format("writer"),
        "categories/code/reader.toml": agent.format("reader") + 'sandbox_mode = "read-only"\n',
        "categories/docs/editor.toml": agent.format("editor"),
        "categories/docs/tool.toml": 'name = "x"\n',
        "pyproject.toml": '[project]\nname = "x"\n',
    }
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert (done.returncode, done.stdout) == (0, "")
    assert "OpenAI Codex  2       0       categories/code" in done.stderr
    assert "OpenAI Codex  1       0       categories/docs" in done.stderr
    assert decide(tmp_path, "role:reader use tool:apply_patch") == DENY
    assert decide(tmp_path, "role:writer use tool:apply_patch") == ALLOW


GEMINI_SETTINGS = (
    ('{"tools": {"core": ["read_file", "run_shell_command(git status)"]}}', {"read_file": "allow", "run_shell_command": "deny"}),
    ('{"tools": {"core": ["ReadFileTool"]}}', {"read_file": "allow", "write_file": "deny"}),
    ('{"tools": {"exclude": ["WriteFileTool", "ShellTool(rm)"]}}', {"write_file": "deny", "read_file": "allow", "mcp__t": "allow"}),
    ('{"excludeTools": ["ShellTool"]}', {"run_shell_command": "deny", "read_file": "allow"}),
    ('{"mcp": {"excluded": ["t"]}}', {"mcp__t": "deny", "mcp__u": "allow", "read_file": "allow"}),
    ('{"mcp": {"allowed": ["u"]}}', {"mcp__t": "deny", "mcp__u": "allow"}),
    ('{"mcp": {"excluded": "t"}}', {"mcp__t": "deny", "read_file": "deny"}),
)  # fmt: skip


@pytest.mark.parametrize(("settings", "effects"), GEMINI_SETTINGS)
def test_what_settings_of_gemini_take_away(tmp_path: Path, settings: str, effects: dict[str, str]) -> None:
    """By name or class, a part of a tool, and servers; a list that cannot be read takes everything."""
    whole = json.loads(settings) | {"mcpServers": {"t": {"command": "t"}, "u": {"command": "u"}}}
    files = {
        ".gemini/agents/a.md": "---\nname: a\ndescription: Does a. Use it.\n---\nx\n",
        ".gemini/settings.json": json.dumps(whole),
    }
    tree = write_tree(tmp_path, files)
    found = {
        tool: run_here("can", "role:a", "use", f"tool:{tool}", cwd=tree).stdout.partition(":")[0]
        for tool in effects
    }
    assert found == effects


def test_gemini_loads_no_agents_below_its_folder(tmp_path: Path) -> None:
    """So they are no roles, and a folder with nothing else is no source."""
    text = "---\nname: {}\ndescription: Does it. Use it.\n---\nx\n"
    tree = write_tree(
        tmp_path, {".gemini/agents/a.md": text.format("a"), ".gemini/agents/old/b.md": text.format("b")}
    )
    assert "1 agent;" in run_here("check", cwd=tree).stderr


def test_codex_without_its_shell(tmp_path: Path) -> None:
    """A feature that is off is a tool that no agent has."""
    files = {
        ".codex/agents/a.toml": 'name = "a"\ndescription = "Does a. Use it."\ndeveloper_instructions = "Do it."\n',
        ".codex/config.toml": "[features]\nshell_tool = false\n",
    }
    tree = write_tree(tmp_path, files)
    assert run_here("can", "role:a", "use", "tool:shell", cwd=tree).stdout.startswith("deny")
    (tree / ".codex/config.toml").write_text("[features]\nshell_tool = true\n")
    assert not run_here("can", "role:a", "use", "tool:shell", cwd=tree).stdout.startswith("deny")


def test_modes_of_opencode_are_agents(tmp_path: Path) -> None:
    """Files in `.opencode/mode`, the older name of primary agents, also without any other agent."""
    text = "---\ndescription: Plans. Use it.\ntools:\n  write: false\n---\nx\n"
    tree = write_tree(tmp_path, {".opencode/mode/plan2.md": text})
    assert run_here("can", "role:plan2", "use", "tool:write", cwd=tree).stdout.startswith("deny")
    assert run_here("can", "role:plan2", "use", "tool:read", cwd=tree).stdout.startswith("allow")


def test_modes_in_the_configuration_of_opencode_are_agents(tmp_path: Path) -> None:
    """The older name of agents there."""
    configuration = {"mode": {"plan2": {"description": "Plans. Use it.", "tools": {"write": False}}}}
    tree = write_tree(tmp_path, {"opencode.json": json.dumps(configuration)})
    assert run_here("can", "role:plan2", "use", "tool:write", cwd=tree).stdout.startswith("deny")


def test_a_list_of_remote_agents_of_gemini(tmp_path: Path) -> None:
    """Each is a role without tools of this machine; a list with another entry is an error."""
    entry = "- kind: remote\n  name: {0}\n  description: Does {0}. Use it.\n  agent_card_url: https://agents.example.com/{0}\n"
    files = {
        ".gemini/agents/a.md": "---\nname: a\ndescription: Does a. Use it.\n---\nx\n",
        ".gemini/agents/l.md": f"---\n{entry.format('r1')}{entry.format('r2')}---\n",
    }
    tree = write_tree(tmp_path, files)
    assert "3 agents;" in run_here("check", cwd=tree).stderr
    assert run_here("can", "role:r1", "use", "tool:read_file", cwd=tree).stdout.startswith("deny")
    assert run_here("can", "role:a", "use", "tool:read_file", cwd=tree).stdout.startswith("allow")
    write_tree(tree, {".gemini/agents/l.md": f"---\n{entry.format('r1')}- name: r2\n---\n"})
    done = run_here("check", cwd=tree)
    assert (done.returncode, "the front matter is not a mapping" in done.stdout) == (1, True)
