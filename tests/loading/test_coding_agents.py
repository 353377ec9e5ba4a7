"""OpenCode, Codex, Gemini CLI, Cursor and Kiro: agents are found, and their rules about tools decide as in their hosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
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


def roo(fields: str, name: str = "a") -> dict[str, str]:
    """A mode of Roo Code."""
    lines = "".join(f"    {each}\n" for each in fields.splitlines())
    return {
        ".roomodes": f"customModes:\n  - slug: {name}\n    name: {name}\n    roleDefinition: Does {name}.\n{lines}"
    }


def cursor(fields: str, name: str = "a") -> dict[str, str]:
    """A file of an agent of Cursor."""
    return {
        f".cursor/agents/{name}.md": f"---\nname: {name}\ndescription: Does {name}.\n{fields}---\nDo {name}.\n"
    }


def kiro(fields: str, name: str = "a") -> dict[str, str]:
    """A Markdown file of an agent of Kiro."""
    return {f".kiro/agents/{name}.md": f"---\ndescription: Does {name}.\n{fields}---\nDo {name}.\n"}


def kiro_json(name: str = "a", **fields: object) -> dict[str, str]:
    """A JSON file of an agent of Kiro."""
    return {f".kiro/agents/{name}.json": json.dumps({"description": f"Does {name}.", **fields})}


def kiro_rules(*rules: str, tools: str = "'*'") -> dict[str, str]:
    """An agent of Kiro with rules of permissions."""
    listed = "".join(f"  - {{{each}}}\n" for each in rules)
    return kiro(f"tools: [{tools}]\npermissions:\n{listed}")


def kiro_servers(**server: object) -> dict[str, str]:
    """The servers of a project of Kiro."""
    return {".kiro/settings/mcp.json": json.dumps({"mcpServers": {"jira": {"command": "j", **server}}})}


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
        (opencode("permission: {bash: {'*': deny, 'git log*': allow}}\n"), {"bash": ASK}),
        (opencode("permission: {edit: {'src/*': deny}, read: {'*': ask, '*.md': allow}}\n"), {"edit": ASK, "write": ASK, "read": ASK}),
        (opencode("permission: {write: deny, patch: deny}\n"), {"edit": ALLOW, "write": ALLOW, "patch": ALLOW}),
        (opencode("permission: {'ed*': deny, 'ba?h': deny, '[r]ead': deny, 'wri*': deny}\n"), {"write": DENY, "bash": DENY, "read": ALLOW}),
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
        ({**gemini(""), **gemini_settings(tools={"core": ["run_shell_command(git)", "read_file"]})}, {"run_shell_command": ASK, "write_file": DENY}),
        ({**gemini("tools: [read_file]\n"), **gemini_settings(tools={"core": ["run_shell_command(git)"]})}, {"run_shell_command": DENY, "read_file": DENY}),
        ({**gemini(""), **gemini_settings(tools={"core": ["run_shell_command(git)", "run_shell_command"]})}, {"run_shell_command": ALLOW}),
        ({**gemini(""), **gemini_settings(tools={"exclude": "write_file"})}, {"write_file": DENY, "read_file": DENY}),
        (gemini("kind: remote\nagent_card_url: https://x.example\n"), {"read_file": DENY}),
        # -- Cursor: every tool, or only reading
        (cursor(""), {"edit": ALLOW, "shell": ALLOW}),
        (cursor("readonly: true\n"), {"edit": DENY, "shell": DENY, "delete": DENY, "read": ALLOW}),
        (cursor("readonly: false\n"), {"edit": ALLOW}),
        ({**cursor("readonly: true\n"), ".cursor/mcp.json": json.dumps({"mcpServers": JIRA})}, {"mcp__jira": ASK}),
        # -- Kiro: the listed tools, which need an approval unless a rule allows or denies them
        (kiro("tools: [read, write]\n"), {"read": ALLOW, "grep": ALLOW, "write": ASK, "shell": DENY, "subagent": DENY}),
        (kiro(""), {"read": ALLOW, "shell": ASK}),
        (kiro("tools: []\n"), {"read": DENY}),
        (kiro("tools: '*'\n"), {"read": ALLOW, "shell": ASK}),
        (kiro("tools: [web, '@builtin/shell']\n"), {"web_fetch": ASK, "web_search": ASK, "shell": ASK, "read": DENY}),
        (kiro("tools: ['@builtin']\nexcludedTools: [web]\n"), {"web_fetch": DENY, "shell": ASK}),
        (kiro("tools: [write]\nallowedTools: [write, shell]\n"), {"write": ALLOW, "shell": DENY}),
        (kiro_rules("capability: shell, effect: allow"), {"shell": ALLOW, "write": ASK}),
        (kiro_rules("capability: shell, effect: allow", tools="read"), {"shell": DENY}),
        (kiro_rules("capability: all, effect: deny", "capability: shell, effect: allow"), {"shell": DENY, "read": DENY}),
        (kiro_rules("capability: builtin, effect: ask", "capability: all, effect: allow"), {"shell": ASK, "read": ASK}),
        (kiro_rules("capability: filesystem, effect: deny, match: [.env]"), {"read": ASK, "write": ASK}),
        (kiro_rules("capability: fs_read, effect: deny, exclude: ['docs/**']"), {"read": ASK, "write": ASK}),
        (kiro_rules("capability: fs_write, effect: allow, match: ['src/**']"), {"write": ASK}),
        (kiro("tools: [write]\npermissions: {rules: [{capability: fs_write, effect: allow, match: ['**']}]}\n"), {"write": ALLOW}),
        (kiro("tools: [write]\nallowedTools: [write]\npermissions: [{capability: fs_write, effect: deny}]\n"), {"write": DENY}),
        (kiro("tools: [write]\nallowedTools: [write]\ntoolsSettings: {write: {deniedPaths: [x]}}\n"), {"write": ALLOW}),
        (kiro_json(tools=["fs_read", "fs_write", "execute_bash"], allowedTools=["fs_*"]), {"read": ALLOW, "write": ALLOW, "shell": ASK}),
        (kiro_json(tools=["*"], allowedTools=["*"]), {"write": ASK}),
        (kiro_json(tools=["write"], allowedTools=["write"], toolsSettings={"fs_write": {"deniedPaths": ["x"]}}), {"write": ASK}),
        (kiro_json(tools=["shell"], toolsSettings={"shell": {"denyByDefault": True}}), {"shell": DENY}),
        (kiro_json(tools=["shell"], toolsSettings={"shell": {"denyByDefault": True, "allowedCommands": ["ls"]}}), {"shell": ASK}),
        (kiro_json(tools=["shell"], allowedTools=["shell"], toolsSettings={"shell": {"denyByDefault": True}}), {"shell": ALLOW}),
        ({**kiro("tools: ['@jira/open']\n"), **kiro_servers()}, {"mcp__jira": DENY, "mcp__jira__open": ASK}),
        ({**kiro("tools: ['@mcp']\nallowedTools: ['@ji*']\n"), **kiro_servers()}, {"mcp__jira": ALLOW, "read": DENY}),
        ({**kiro_rules("capability: mcp, effect: allow, match: [jira/*]"), **kiro_servers()}, {"mcp__jira": ALLOW}),
        ({**kiro_rules("capability: mcp, effect: deny, match: [jira/drop]"), **kiro_servers()}, {"mcp__jira": ASK, "mcp__jira__drop": DENY}),
        ({**kiro("tools: ['@jira']\nallowedTools: ['@jira']\n"), **kiro_servers(disabledTools=["drop"])}, {"mcp__jira": ALLOW, "mcp__jira__drop": DENY}),
        ({**kiro("tools: ['@jira']\nallowedTools: ['@jira']\n"), **kiro_servers(disabled=True)}, {"mcp__jira": DENY}),
        ({**kiro("tools: ['*']\nincludeMcpJson: false\nmcpServers: {db: {command: d, autoApprove: [look]}}\n"), **kiro_servers()},
         {"mcp__jira": DENY, "mcp__db": ASK, "mcp__db__look": ALLOW, "shell": ASK}),
        # -- Roo Code: groups of tools
        (roo("groups: [read]\n"), {"read_file": ALLOW, "apply_diff": DENY, "execute_command": DENY, "new_task": ALLOW}),
        (roo("groups: []\n"), {"read_file": DENY, "new_task": ALLOW}),
        (roo("groups: [read, [edit, {fileRegex: '[.]md$'}], browser, command]\n"), {"read_file": ALLOW, "apply_diff": ASK, "execute_command": ALLOW}),
        (roo("groups: [[edit, {description: All.}]]\n"), {"write_to_file": ALLOW}),
        (roo("groups: [[read, {fileRegex: '[.]md$'}]]\n"), {"read_file": ALLOW}),
        ({**roo("groups: [mcp]\n"), ".roo/mcp.json": json.dumps({"mcpServers": JIRA})}, {"mcp__jira": ALLOW, "read_file": DENY}),
        ({**roo("groups: [read]\n"), ".roo/mcp.json": json.dumps({"mcpServers": JIRA})}, {"mcp__jira": DENY}),
        # -- Codex: every tool, in a sandbox
        (codex(""), {"apply_patch": ALLOW, "shell": ALLOW}),
        (codex('sandbox_mode = "read-only"'), {"apply_patch": ALLOW, "shell": ALLOW, "view_image": ALLOW}),  # of the session
        ({**codex(""), ".codex/config.toml": 'sandbox_mode = "read-only"\n'}, {"apply_patch": DENY, "shell": ASK}),
        ({**codex('sandbox_mode = "workspace-write"'), ".codex/config.toml": 'sandbox_mode = "read-only"\n'}, {"apply_patch": ALLOW}),
        (codex('web_search = "disabled"'), {"web_search": ALLOW}),
        ({**codex(""), ".codex/config.toml": 'web_search = "disabled"\n'}, {"web_search": DENY}),
        (codex('[mcp_servers.jira]\ncommand = "j"'), {"mcp__jira": ALLOW}),
        (codex('[mcp_servers.jira]\ncommand = "j"\nenabled_tools = ["open"]'), {"mcp__jira": DENY, "mcp__jira__open": ALLOW}),
        (codex('[mcp_servers.jira]\ncommand = "j"\ndisabled_tools = ["drop"]'), {"mcp__jira": ALLOW, "mcp__jira__drop": DENY}),
        (codex('[mcp_servers.jira]\ncommand = "j"\nenabled = false'), {"mcp__jira": DENY}),
        # The servers of the project are those of each agent, whatever its own file says about them.
        *(
            ({**codex(f'[mcp_servers.jira]\ncommand = "j"\n{each}'), ".codex/config.toml": '[mcp_servers.jira]\ncommand = "j"\n'},
             {"mcp__jira": ALLOW, **named})
            for each, named in (
                ("enabled = false", {}), ('enabled_tools = ["open"]', {"mcp__jira__open": ALLOW}), ('disabled_tools = ["drop"]', {"mcp__jira__drop": ALLOW}),
            )
        ),
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
        ("{'*': allow, 'rm*': deny}", "ls", ASK),
        ("{'*': allow, '*secret*': deny}", "ls", ASK),
        ("{'*': deny, '?*': allow}", "ls", ASK),
    ],
)
def test_rules_about_commands(tmp_path: Path, rules: str, command: str, effect: str) -> None:
    """A tool asks if the host denies only part of it, and that part cannot be expressed."""
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
        (kiro_rules("capability: shel, effect: deny"), "role:a use tool:shell"),
        (kiro_rules("capability: shell, effect: dney"), "role:a use tool:shell"),
        (kiro_rules("capability: shell, effect: deny, mach: [rm *]"), "role:a use tool:shell"),
        (kiro_rules("capability: shell, effect: allow, match: []"), "role:a use tool:shell"),
        (kiro_rules("capability: shell, effect: allow, match: ls"), "role:a use tool:shell"),
        (kiro("tools: read, shell\n"), "role:a use tool:read"),
        (kiro("tools: [read]\npermissions: {shell: deny}\n"), "role:a use tool:read"),
        (kiro_json(tools=["read"], toolsSettings=[]), "role:a use tool:read"),
        (kiro_json(tools=["read"], mcpServers=[]), "role:a use tool:read"),
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
    write_tree(tmp_path / "shop", codex("features.shell_tool = false"))
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


@pytest.mark.parametrize("name", ["opencode", "codex", "gemini_cli", "cursor", "kiro", "roo"])
def test_a_well_kept_tree_has_no_finding(tmp_path: Path, name: str) -> None:
    """Of any of the hosts."""
    done = run_here("check", "shop", cwd=lay_out(tmp_path / "shop", name).parent)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_collection_of_codex_agents(tmp_path: Path) -> None:
    """Folders of TOML files outside of `.codex` are found by their content; other TOML files are no agents."""
    agent = 'name = "{0}"\ndescription = "Does {0}. Use it."\ndeveloper_instructions = "Do {0}."\n'
    files = {
        "categories/code/writer.toml": agent.format("writer"),
        "categories/code/reader.toml": agent.format("reader") + "[features]\nshell_tool = false\n",
        "categories/docs/editor.toml": agent.format("editor"),
        "categories/docs/tool.toml": 'name = "x"\n',
        "pyproject.toml": '[project]\nname = "x"\n',
    }
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert (done.returncode, done.stdout) == (0, "")
    assert "OpenAI Codex  2 agents  categories/code" in done.stderr
    assert "OpenAI Codex  1 agent   categories/docs" in done.stderr
    assert decide(tmp_path, "role:reader use tool:shell") == DENY
    assert decide(tmp_path, "role:writer use tool:shell") == ALLOW


GEMINI_SETTINGS = (
    ('{"tools": {"core": ["read_file", "run_shell_command(git status)"]}}', {"read_file": "allow", "run_shell_command": "ask"}),
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
    done = run_here("check", cwd=tree)
    assert "Gemini CLI  1 agent  .\n" in done.stderr
    assert "1 role" in done.stderr
    assert "note: left out `.gemini/agents`: 1 file begins like an agent in folders below it" in done.stderr


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


DECLARED = """\
sandbox_mode = "workspace-write"

[agents]
max_threads = 4

[agents.explorer]
description = "Explores the code. Use it before a change."
config_file = "agents/explorer.toml"

[agents.planner]
description = "Plans the work. Use it first."
model = "gpt-5"

[agents.fixer]
description = "Fixes what was found. Use it after a review."
config_file = "../roles/small.toml"

[agents.tester]
description = "Tests what was fixed. Use it after a fix."
config_file = "../roles/small.toml"
"""
DECLARED_TREE = {
    ".codex/config.toml": DECLARED,
    ".codex/agents/explorer.toml": 'developer_instructions = "Look."\nfeatures.shell_tool = false\n',
    "roles/small.toml": 'model = "gpt-5-mini"\nfeatures.shell_tool = false\n',
}


def test_agents_that_the_configuration_of_codex_declares(tmp_path: Path) -> None:
    """They are read with the files that they name; two agents can share one, and one can have none."""
    shop = write_tree(tmp_path / "shop", DECLARED_TREE)
    done = run_here("check", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "")
    posts = Kernel.open(shop).organization("active").snapshot.records.posts
    assert {role: post.profile.requirements.preferred_model for role, post in posts.items()} == {
        "explorer": None, "planner": "gpt-5", "fixer": "gpt-5-mini", "tester": "gpt-5-mini",
    }  # fmt: skip
    assert posts["explorer"].profile.description == "Explores the code. Use it before a change."
    assert decide(shop, "role:explorer use tool:shell") == DENY
    assert decide(shop, "role:planner use tool:shell") == ALLOW
    for role in ("fixer", "tester"):
        assert decide(shop, f"role:{role} use tool:shell") == DENY
        assert decide(shop, f"role:{role} use tool:apply_patch") == ALLOW
    alone = write_tree(
        tmp_path / "alone", {".codex/config.toml": '[agents.a]\ndescription = "Does a. Use it."\n'}
    )
    assert "read as OpenAI Codex: 1 agent" in run_here("check", cwd=alone).stderr


@pytest.mark.parametrize("file", ["agents/none.toml", "../../outside.toml", "/etc/passwd", "", "a\\u0000b"])
def test_a_declared_agent_whose_file_is_missing(tmp_path: Path, file: str) -> None:
    """Codex ignores it, and the others answer."""
    write_tree(tmp_path, {"outside.toml": 'name = "spy"\ndescription = "x"\ndeveloper_instructions = "x"\n'})
    text = f'[agents.lost]\nconfig_file = "{file}"\n[agents.a]\ndescription = "Does a. Use it."\n'
    shop = write_tree(tmp_path / "shop", {".codex/config.toml": text})
    done = run_here("check", "--format", "concise", cwd=shop)
    assert done.returncode == 1
    assert ".codex/config.toml:" in done.stdout
    assert "`lost`" in done.stdout
    assert decide(shop, "role:a use tool:shell") == ALLOW
    assert decide(shop, "role:lost use tool:shell") in (DENY, "error")
    assert "spy" not in run_here("list", cwd=shop).stdout


def test_a_declared_agent_and_a_reload(tmp_path: Path) -> None:
    """A declaration that changes counts at once."""
    shop = write_tree(tmp_path / "shop", DECLARED_TREE)
    kernel = Kernel.open(shop)
    assert len(kernel.organization("active").snapshot.records.posts) == 4
    before = kernel.can("shop", AccessRequest("role:tester", "use", "tool:shell")).outcome
    (shop / "roles/small.toml").write_text('model = "gpt-5"\n')
    kernel.reload()
    after = kernel.can("shop", AccessRequest("role:tester", "use", "tool:shell")).outcome
    assert (before, after) == ("deny", "allow")


@pytest.mark.parametrize(
    ("fields", "entry", "answers"),
    [
        # the file wins for the same tool, and keeps what it does not mention
        (
            "permission: {bash: allow}\n",
            {"permission": {"bash": "deny", "edit": "deny"}},
            {"bash": ALLOW, "edit": DENY, "read": ALLOW},
        ),
        # a changed rule keeps its place, so the later star still decides
        ("permission: {bash: ask}\n", {"permission": {"bash": "deny", "*": "allow"}}, {"bash": ALLOW}),
        # objects are merged by part, and text takes the place of an object
        (
            "permission: {bash: {'git push*': ask}}\n",
            {"permission": {"bash": {"*": "deny", "ls*": "allow"}}},
            {"bash": ASK},
        ),
        ("permission: {bash: ask}\n", {"permission": {"bash": {"*": "allow", "rm*": "deny"}}}, {"bash": ASK}),
        # the mode of either counts
        ("", {"mode": "subagent"}, {"task": DENY, "bash": ALLOW}),
        ("mode: all\n", {"mode": "subagent"}, {"task": ALLOW}),
        ("permission: {task: allow}\n", {"mode": "subagent"}, {"task": ALLOW}),
    ],
)
def test_opencode_merges_a_file_and_a_configuration(
    tmp_path: Path, fields: str, entry: dict[str, object], answers: dict[str, str]
) -> None:
    """An agent that both declare is one agent, as its host merges them."""
    files = {
        **opencode(fields),
        **opencode("", "b"),
        **opencode_settings(agent={"a": {"model": "x/y", **entry}}),
    }
    shop = write_tree(tmp_path / "shop", files)
    kernel = Kernel.open(shop)
    assert [each.code for each in kernel.check() if each.code == "ORG217"] == []
    assert {tool: decide(shop, f"role:a use tool:{tool}") for tool in answers} == answers
    post = kernel.organization("active").snapshot.records.posts["a"]
    assert (post.profile.description, post.profile.requirements.preferred_model) == ("Does a.", "x/y")
    done = run_here("list", "--format", "json", cwd=shop)
    assert [each["roles"] for each in json.loads(done.stdout)["trees"]] == [2]


@pytest.mark.parametrize(
    ("fields", "entry", "roles"),
    [
        ("", {"disable": True}, ["b"]),
        ("disable: false\n", {"disable": True}, ["a", "b"]),
        ("disable: true\n", {"description": "x"}, ["b"]),
    ],
)
def test_a_disabled_agent_of_opencode(
    tmp_path: Path, fields: str, entry: dict[str, object], roles: list[str]
) -> None:
    """It is disabled in all layers, unless a higher one enables it."""
    files = {**opencode(fields), **opencode("", "b"), **opencode_settings(agent={"a": entry})}
    kernel = Kernel.open(write_tree(tmp_path / "shop", files))
    assert sorted(kernel.organization("active").snapshot.records.posts) == roles


def test_a_merged_agent_of_opencode_has_one_text(tmp_path: Path) -> None:
    """A file sets the text, even to nothing; two configurations are merged too."""
    files = {
        ".opencode/agents/a.md": "---\ndescription: Does a.\n---\n",
        **opencode("", "b"),
        **opencode_settings(
            agent={"a": {"prompt": "Old."}, "b": {"prompt": "Old."}, "c": {"prompt": "Old."}}
        ),
        ".opencode/opencode.json": '{"agent": {"c": {"description": "Does c.", "prompt": "New."}}}',
    }
    shop = write_tree(tmp_path / "shop", files)
    orders = Kernel.open(shop).organization("active").snapshot.records.orders
    texts = {
        role: [each.record.body.strip() for each in orders.get(("role", role), ())]
        for role in ("a", "b", "c")
    }
    assert texts == {"a": [], "b": ["Do b."], "c": ["New."]}


def test_an_agent_of_opencode_is_named_by_its_front_matter(tmp_path: Path) -> None:
    """The host takes the name of the file only if the front matter has none. A mode is an agent that no other starts."""
    files = {**opencode("name: writer\n"), **opencode("mode: primary\n", "b"),
             ".opencode/mode/plan.md": "---\ndescription: Plans.\n---\nPlan.\n"}  # fmt: skip
    shop = write_tree(tmp_path / "shop", files)
    assert sorted(Kernel.open(shop).organization("active").snapshot.records.posts) == ["b", "plan", "writer"]
    assert decide(shop, "role:b handoff role:writer") == ALLOW
    assert decide(shop, "role:b handoff role:plan") == DENY


def test_what_a_file_of_codex_cannot_take_away_is_named(tmp_path: Path) -> None:
    """Codex 0.171 reads these fields of an agent's file and starts it with those of its session."""
    fields = 'sandbox_mode = "read-only"\nweb_search = "disabled"\n[mcp_servers.jira]\ncommand = "j"\ndisabled_tools = ["drop"]'
    write_tree(tmp_path / "shop", codex(fields))
    done = run_here("check", "shop", "--format", "concise", cwd=tmp_path)
    named = [
        line.partition("effectless-permission: ")[2].partition(" in the file")[0]
        for line in done.stdout.splitlines()
    ]
    assert [each for each in named if each] == [
        "`sandbox_mode` limits nothing", "`web_search` limits nothing", "`disabled_tools` limits nothing",
    ]  # fmt: skip
    write_tree(tmp_path / "shop", codex('sandbox_mode = "workspace-write"\nweb_search = "live"'))
    assert "ORG032" not in run_here("check", "shop", cwd=tmp_path).stdout


def test_what_modes_of_roo_code_state(tmp_path: Path) -> None:
    """In YAML or JSON: each mode with its own name and line, faults of one mode, and a limit that Roo Code ignores."""
    modes = [
        {"slug": "pm", "name": "🗺️ Planner", "roleDefinition": "You plan. Ask first.", "groups": ["read", ["command", {"fileRegex": "x"}]]},
        {"slug": "dev", "name": "Developer", "roleDefinition": "You build.", "whenToUse": "Use it to build.", "groups": ["raed"]},
        {"slug": "b c", "name": "", "roleDefinition": 3},
    ]  # fmt: skip
    write_tree(
        tmp_path / "shop", {".roomodes": json.dumps({"customModes": modes}, indent="\t", ensure_ascii=False)}
    )
    found = run_here("check", "shop", "--format", "concise", cwd=tmp_path).stdout
    for part in (
        "`fileRegex` limits only the group `edit`, so it has no effect for `command`",
        "mode `dev` has the group `raed`, and the groups of Roo Code are",
        "Roo Code refuses the slug `b c`",
        "mode `b c` has no `name`",
        "`roleDefinition` of mode `b c` is the number `3`, not a string",
        "mode `b c` has no `groups`",
    ):
        assert part in found
    shown = run_here("manifest", "planner", "--path", "shop", cwd=tmp_path).stdout
    assert shown.startswith("🗺️ Planner (pm), specialist of shop\nYou plan.\n")
    assert decide(tmp_path / "shop", "role:pm use tool:read_file") == ALLOW
    assert decide(tmp_path / "shop", "role:dev use tool:read_file") == DENY


def test_what_agents_of_kiro_state(tmp_path: Path) -> None:
    """Names are paths, texts of prompts are no agents, denied commands and agents that may be started decide."""
    tree = lay_out(tmp_path / "shop", "kiro")
    assert (
        decide(
            tree,
            "role:releaser handoff role:team_2f_reader",
        )
        == ALLOW
    )
    assert decide(tree, "role:releaser handoff role:builder") == DENY
    for command, effect in (("git push --force x", DENY), ("git status", ALLOW)):
        context = json.dumps({"input": {"command": command}})
        assert decide(tree, "role:releaser use tool:shell", "--context", context) == effect
    context = json.dumps({"input": {"command": "git push x"}})
    assert decide(tree, "role:builder use tool:shell", "--context", context) == DENY
    write_tree(tree, {".claude/agents/b.md": "---\nname: b\ndescription: Builds. Use it.\n---\nBuild.\n"})
    listed = json.loads(run_here("list", "shop", "--format", "json", cwd=tmp_path).stdout)["trees"]
    assert [(each["format"], each["roles"]) for each in listed] == [("claude-code", 1), ("kiro", 3)]


def test_settings_of_an_older_kiro_are_named(tmp_path: Path) -> None:
    """`toolsSettings` beside `permissions` or in Markdown limits nothing in current versions, and `*` allows nothing."""
    limits = {"shell": {"deniedCommands": ["rm .*"]}}
    write_tree(
        tmp_path / "shop",
        {
            **kiro_json(tools=["shell"], permissions=[], toolsSettings=limits),
            **kiro_json("b", tools=["shell"], allowedTools=["*"], toolsSettings=limits),
        },
    )
    printed = run_here("check", "shop", "--format", "concise", cwd=tmp_path).stdout
    assert "a.json:1:85: warning[ORG032]" in printed
    assert "`toolsSettings` limits `shell`, which only Kiro CLI 2 reads" in printed
    assert "`allowedTools` lists `*`, which Kiro does not read there" in printed
    assert printed.count("ORG032") == 2


def test_a_file_of_another_program_with_the_name_of_modes(tmp_path: Path) -> None:
    """It declares no mode, and is named."""
    write_tree(tmp_path / "shop", {".roomodes": '{"planner": {"description": "Plans."}}'})
    listed = run_here("list", "shop", cwd=tmp_path)
    assert "left out `shop/.roomodes`: it has no `customModes`, which Roo Code reads" in listed.stderr


def test_a_collection_of_opencode_agents(tmp_path: Path) -> None:
    """Folders of Markdown files outside of `.opencode` are found by the mode in their front matter, without a name in it."""
    agent = "---\n# 1.0\ndescription: Does {0}. Use it.\nmode: subagent\npermission: {{edit: deny}}\n---\nDo {0}.\n"
    files = {
        "packs/review/reader.md": agent.format("reader"),
        "packs/review/README.md": "# Readers\nmode: all\n",
        "docs/notes.md": "---\ntitle: Notes\n---\nmode: primary\n",
    }
    listed = run_here("list", "--format", "json", cwd=write_tree(tmp_path, files)).stdout
    assert [(each["format"], each["roles"], each["path"]) for each in json.loads(listed)["trees"]] == [
        ("opencode", 1, "packs/review")
    ]
    assert decide(tmp_path, "role:reader use tool:edit") == DENY
    assert decide(tmp_path, "role:reader use tool:read") == ALLOW


def test_a_sentence_in_a_tree_of_skills_fits_no_role(tmp_path: Path) -> None:
    """There is none to compare it with."""
    write_tree(
        tmp_path,
        {"skills/review/SKILL.md": "---\nname: review\ndescription: Reviews. Use it.\n---\nReview.\n"},
    )
    done = run_here("dispatch", "--text", "review this", cwd=tmp_path)
    assert (done.returncode, "not applicable" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("file", "field"), [(".claude/agents/{}.md", "mcpServers"), (".github/agents/{}.agent.md", "mcp-servers")]
)
def test_servers_of_one_name_in_several_agents(tmp_path: Path, file: str, field: str) -> None:
    """Each agent has its own, beside one of the project. None of them is out of service."""
    servers = {
        "claude": f"{field}:\n  - db:\n      command: db-mcp\n",
        "github": f"{field}:\n  db: {{command: db-mcp}}\n",
    }
    declared = servers["claude" if "claude" in file else "github"]
    agents = {
        file.format(
            name
        ): f"---\nname: {name}\ndescription: Does {name}. Use it for {name}.\n{declared}---\nDo {name}.\n"
        for name in ("load", "store")
    }
    write_tree(tmp_path / "shop", {**agents, ".mcp.json": '{"mcpServers": {"db": {"command": "db-mcp"}}}'})
    checked = run_here("check", "shop", "--format", "concise", cwd=tmp_path)
    assert "ORG217" not in checked.stdout
    assert "ORG725" not in checked.stdout
    for name in ("load", "store"):
        tools = run_here("manifest", name, "--path", "shop", cwd=tmp_path).stdout
        assert "db" in tools
