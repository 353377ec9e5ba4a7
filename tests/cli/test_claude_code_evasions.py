"""Attempts to evade the installed Claude Code hook: undeclared tools, an agent that acts as an operator, a missing
interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_claude_code_roles import HookedProject, read_answer
from tests.support.in_process import run_here
from tests.support.trees import write_tree

OPERATOR = """\
_schema: orgkernel:role_profile
role_id: operator
role_name: Operator
capabilities:
  tools_primary: [file_read, file_write, code_execution_tool, granting]
"""
GRANTING = """\
  granting: {type: computer_use, description: Issues grants., side_effects: write, names: {claude_code: "Bash(orgkernel grant issue:*)"}}
  asking: {type: communication, description: Sends a message., side_effects: write, names: {claude_code: SendMessage}}
"""
BUILDER = """\
_schema: orgkernel:role_profile
role_id: builder
role_name: Builder
capabilities:
  tools_primary: [file_read, file_write, code_execution_tool, asking]
"""


class EvadedProject(HookedProject):
    """A project whose hook is asked as its host asks it: by the command in the settings."""

    def asks(self, tool: str, given: dict[str, Any], agent: str | None = None) -> tuple[str, str]:
        done = self.runs("PreToolUse", self.call(tool, given, agent))
        return ("deny", done.stderr.decode()) if done.returncode == 2 else read_answer(done.stdout.decode())


@pytest.fixture(scope="module")
def evaded(tmp_path_factory: pytest.TempPathFactory) -> EvadedProject:
    project = EvadedProject(tmp_path_factory.mktemp("evaded"))
    folder = project.folder
    organization = folder / "org/org.yaml"
    organization.write_text(organization.read_text().replace("code_reviewer, builder]", "code_reviewer, builder, operator]") + "  operator: {}\n")  # fmt: skip
    (folder / "org/roles/operator.yaml").write_text(OPERATOR)
    (folder / "org/roles/builder.yaml").write_text(BUILDER)
    tools = folder / "org/tools.yaml"
    tools.write_text(tools.read_text() + GRANTING)
    for command in (
        ["git", "init", "-q", "."],
        ["mkdir", "-p", ".claude/agents"],
        ["touch", ".claude/agents/a.md"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    project.activate()
    return project


UNDECLARED: list[tuple[str, dict[str, Any]]] = [
    ("RemoteTrigger", {"action": "create", "prompt": "x"}), ("TeamCreate", {"team_name": "x"}), ("TeamDelete", {}),
    ("WebFetch", {"url": "https://example.com", "prompt": "x"}), ("WebSearch", {"query": "x"}), ("CronCreate", {"cron": "* * * * *", "prompt": "x"}),
    ("Artifact", {"file_path": "src/a.py"}), ("Projects", {"action": "delete"}), ("PushNotification", {"message": "x"}),
    ("EnterWorktree", {"name": "x"}), ("SlashCommand", {"command": "/deploy"}), ("Skill", {"skill": "x"}), ("LSP", {"operation": "x"}),
    ("ToolOfTomorrow", {"x": "y"}), ("mcp__evil__run", {"command": "ls"}), ("mcp__", {}), ("mcp__tracker2__close", {}), ("mcp__tracker", {}),
    ("MCP__tracker__search", {}), ("bash", {"command": "ls"}), ("BASH", {"command": "ls"}), ("Bash ", {"command": "ls"}), (" Bash", {"command": "ls"}),
    ("write", {"file_path": "src/a.py", "content": ""}), ("Bash(ls)", {"command": "ls"}), ("Bash(git log:*)", {"command": "rm x"}),
    ("__proto__", {}), ("*", {}), ("Read\u200b", {"file_path": "src/a.py"}), ("mcp__tracker__", {}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given"), UNDECLARED, ids=[repr(tool) for tool, _ in UNDECLARED])
def test_an_undeclared_tool_never_passes(evaded: EvadedProject, tool: str, given: dict[str, Any]) -> None:
    """For a tool that no catalog lists, the hook asks a person or denies the call, because the role lists its tools."""
    for agent in ("builder", "fixer", None):
        outcome, text = evaded.asks(tool, given, agent)
        assert outcome in ("ask", "deny"), (agent, text)


@pytest.mark.parametrize(
    "tool", ["Monitor", "REPL", "Workflow", "PowerShell"],
)  # fmt: skip
def test_a_tool_that_runs_commands_has_the_answer_of_bash(evaded: EvadedProject, tool: str) -> None:
    """A role without `Bash` has none of them."""
    assert evaded.asks(tool, {"command": "ls", "script": "x", "code": "x"}, "fixer")[0] == "deny"


def test_tools_of_the_session_itself_pass(evaded: EvadedProject) -> None:
    """Tools that change only the session pass without a question to a person."""
    for tool in ("AskUserQuestion", "ExitPlanMode", "TaskList", "TaskUpdate", "ToolSearch"):
        assert evaded.asks(tool, {"x": "y"}, "fixer") == ("none", "")


@pytest.mark.parametrize(
    ("choice", "answers"), [("deny", ("deny", "deny")), ("pass", ("said", "none")), ("ask", ("ask", "none"))]
)
def test_the_answer_about_undeclared_tools_is_chosen(
    tmp_path: Path, choice: str, answers: tuple[str, str]
) -> None:
    """`--unknown deny` refuses, and `--unknown pass` reports them."""
    project = EvadedProject(tmp_path / "project", "--unknown", choice)
    assert (project.asks("mcp__x__y", {}, "fixer")[0], project.asks("TaskList", {}, "fixer")[0]) == answers


ACTING_AS_OPERATOR = [
    "orgkernel grant issue role:builder tool:x", "orgkernel grant wake 5", "orgkernel grant revoke 5", "orgkernel key create --scope admin",
    "orgkernel key rotate a", "orgkernel key card create", "orgkernel agent set-rank a 3", "orgkernel agent promote a", "orgkernel agent qualify a x",
    "orgkernel agent certificate a", "orgkernel crew alert red", "orgkernel ownership install-hooks --uninstall", "orgkernel ownership install-hooks .",
    "orgkernel request approve 5", "orgkernel lock break x", "orgkernel store restore x", "orgkernel audit prune", "orgkernel audit accept",
    "orgkernel audit rotate-key", "orgkernel gateway accept x", "orgkernel gateway org", "orgkernel serve --port 1", "orgkernel upgrade org",
    "orgkernel new x", "orgkernel import x -o org", "orgkernel export --to claude-code -o .", "orgkernel mcp tools x", "orgkernel unheard-of x",
    "orgkernel restriction lift 4", "orgkernel claim transfer a b", "orgkernel skill proposals accept x", "orgkernel salute drop x",
    "ORGKERNEL_STORE=x orgkernel grant issue a b", "env X=1 orgkernel key create", "sudo -u root orgkernel key create", "nohup orgkernel key create &",
    "python -m orgkernel grant issue a b", "python3 -Im orgkernel grant issue a b", ".venv/bin/orgkernel grant issue a b", "uv run orgkernel key create",
    "uvx orgkernel key create", "pipx run orgkernel key create", "bash -c 'orgkernel key create'", "true; orgkernel key create",
    "true && orgkernel key create", "orgkernel why a b c | orgkernel key create", "echo $(orgkernel key create)", "echo `orgkernel key create`",
    "xargs -I{} orgkernel key create", "timeout 5 orgkernel key create", "org''kernel key create", 'orgkernel "key" create', "orgkernel k\\ey create",
    "orgkernel \\\nkey create", "(orgkernel key create)", "if true; then orgkernel key create; fi", "orgkernel grant list; orgkernel grant issue a b",
    "orgkernel --verbose grant issue a b", "x=orgkernel; $x key create", "o=key; orgkernel $o create", "eval orgkernel key create",
    "orgkernel {key,create}", "find . -exec orgkernel key create ';'", "exec orgkernel key create", "python -c 'from orgkernel.cli import main; main()'",
    "python - <<X\nfrom orgkernel.cli import main\nX", "git config core.hooksPath x", "git config --global core.hooksPath x",
    "git config set core.hooksPath x", "git -C . config user.name x", "git --git-dir=.git config alias.x '!sh'", "git config --unset core.bare",
    "git config --edit", "git config --replace-all a.b c", "git config --add a.b c", "git config rename-section a b", "env git config a.b c",
    "git -c a.b=c config a.b c", "git config -f .git/config a.b c", "git config --get a.b; git config a.b c", "git config edit",
    "pip uninstall orgkernel", "pip uninstall -y orgkernel", "pip3 uninstall -y OrgKernel", "python -m pip uninstall orgkernel",
    "uv pip uninstall orgkernel", "uv tool uninstall orgkernel", "uv remove orgkernel", "pipx uninstall orgkernel", "npm uninstall -g orgkernel",
    "npm rm @orgkernel/client", "pnpm remove orgkernel", "yarn remove orgkernel", "poetry remove orgkernel", "conda remove -y orgkernel",
    "pip install orgkernel==0.0.1", "pip install --force-reinstall ./orgkernel-0.0.1-py3-none-any.whl", "uv tool install --force 'orgkernel[all]'",
    "pipx reinstall orgkernel", "pip install 'orgkernel<1'", "pip uninstall -y requests orgkernel", "/usr/bin/pip3.12 uninstall orgkernel",
    "python3.12 -m pip uninstall -y orgkernel", "pip uninstall -y org''kernel", "python -c 'import orgkernel.state.grants'",
    "orgkernel ownership audit --base a --brief b.yaml --record", "uv run orgkernel ownership audit --record --base a", "orgkernel check --fix org",
    "python -m orgkernel check org --write-baseline=x", "orgkernel check org --fix; true",
    "touch org/roles/new.yaml", "cp src/a.py org/roles/new.yaml", "echo x > org/new.yaml", "mkdir -p .claude/plugins/x", "touch .claude/plugins/x.json",
    "touch ~/.claude/plugins/installed_plugins.json", "touch orgkernel.toml",
]  # fmt: skip


@pytest.mark.parametrize("command", ACTING_AS_OPERATOR)
def test_an_agent_does_not_act_as_operator(evaded: EvadedProject, command: str) -> None:
    """A role that may run any command changes no grants, keys, ranks, hooks, settings of git or the installation."""
    outcome, text = evaded.asks("Bash", {"command": command}, "builder")
    assert outcome == "deny", text
    assert "\n      orgkernel" not in text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__tracker__search", {"command": "orgkernel key create"}), ("Monitor", {"command": "orgkernel key create"}),
        ("PowerShell", {"command": "orgkernel key create"}), ("REPL", {"code": "run('orgkernel key create')"}),
        ("Workflow", {"script": "exec('orgkernel', ['key', 'create'])"}), ("mcp__tracker__search", {"argv": ["orgkernel", "key", "create"]}),
        ("mcp__tracker__search", {"command": "orgkernel", "args": ["key", "create"]}),
    ],
)  # fmt: skip
def test_no_other_tool_acts_as_operator(evaded: EvadedProject, tool: str, given: dict[str, Any]) -> None:
    """Commands are read in every tool that runs them."""
    assert evaded.asks(tool, given, "builder" if tool[0] != "m" else "fixer")[0] == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "orgkernel why role:builder use tool:x", "orgkernel can role:a use tool:b", "orgkernel check org", "orgkernel grant list", "orgkernel request create tool:x",
        "orgkernel key list", "orgkernel manifest builder", "orgkernel --version", "orgkernel grant revoke --help", "orgkernel diff a b", "orgkernel ownership audit --base a --brief b.yaml", "orgkernel audit verify",
        "orgkernel command check 'rm x'", "orgkernel host status --claude-code .", "orgkernel test org", "uv run orgkernel check", "python -m orgkernel check org",
        "git config --get user.name", "git config --list", "git config -l", "git config get user.name", "git config list", "git config --get-all a.b",
        "git config user.name", "pip show orgkernel", "pip list", "pip install requests", "npm install", "pip uninstall -y requests", "grep -rn orgkernel src",
        "echo orgkernel", "git show orgkernel", "cat src/orgkernel.py", "ls src/orgkernel", "git commit -m 'use orgkernel key create'",
        "pytest -q tests/orgkernel", "uv pip list", "cd src/orgkernel && ls", "orgkernel task list", "git clone https://example.com/orgkernel.git",
    ],
)  # fmt: skip
def test_an_agent_asks_and_reads(evaded: EvadedProject, command: str) -> None:
    """Commands that change nothing of an operator's pass."""
    assert evaded.asks("Bash", {"command": command}, "builder") == ("none", "")


def test_the_interpreter_of_the_hook_is_not_replaced(evaded: EvadedProject) -> None:
    """A program in its place would pass all calls. It runs other things as before."""
    python, folder = sys.executable, os.path.dirname(sys.executable)
    real, library = os.path.realpath(python), os.path.dirname(os.__file__)
    for command in (
        f"rm {python}", f"mv {python} x", f"ln -sf /bin/true {python}", f"cp /bin/true {python}", f"cp /bin/true '{real}'", f"chmod -x {python}",
        f"echo x > {python}", f"echo x >| {python}", f"echo x | tee {python}", f"dd if=/bin/true of={python}", f"cp python {folder}/", f"cp python {folder}",
        f"sed -i s/a/b/ {python}", f"find {folder} -delete", f"P={python}; rm $P", f"rm -rf {os.path.dirname(folder)}", f"truncate -s 0 {real}",
        f"echo home=/x > {folder}/../pyvenv.cfg", f"sed -i s/a/b/ {library}/os.py", f"cd {folder} && rm -f {python}", f"sudo rm {python}",
    ):  # fmt: skip
        assert evaded.asks("Bash", {"command": command}, "builder")[0] == "deny", command
    for path in (python, real, f"{folder}/../pyvenv.cfg", f"{library}/os.py"):
        assert evaded.asks("Write", {"file_path": path, "content": ""}, "builder")[0] == "deny", path
    for command in (
        f"{python} -m pytest -q",
        f"{python} x.py > out.txt",
        f"{python} -m venv x",
        f"ls -l {python}",
        "rm x.py",
        "rm -rf build",
        "cp a.py b.py",
    ):
        assert evaded.asks("Bash", {"command": command}, "builder") == ("none", ""), command


def test_a_role_with_the_right_acts_as_operator(evaded: EvadedProject) -> None:
    """The right is a tool for exactly that command; every other command, and every file, stays closed."""
    assert evaded.asks("Bash", {"command": "orgkernel grant issue role:x tool:y"}, "operator") == ("none", "")
    for command in (
        "orgkernel grant revoke 5", "orgkernel grant issue a b; orgkernel key create", "orgkernel grant issue a b > .mcp.json", "orgkernel key create",
    ):  # fmt: skip
        assert evaded.asks("Bash", {"command": command}, "operator")[0] == "deny"


def test_refusals_print_no_command_of_an_operator(evaded: EvadedProject) -> None:
    """The agent reads why, and a person reads the remedies."""
    done = evaded.runs("PreToolUse", evaded.call("Bash", {"command": "ls"}, "code_reviewer"))
    answer = json.loads(done.stdout)
    reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert "does not have tool `code_execution_tool`" in reason
    for word in ("orgkernel grant", "orgkernel host"):
        assert word not in reason
        assert word in answer["systemMessage"]


@pytest.mark.parametrize("agent", ["Explore", "Plan", "general-purpose"])
def test_built_in_agents_work_in_the_role_of_the_main_thread(evaded: EvadedProject, agent: str) -> None:
    """They have its tools, as far as the host gives these to them."""
    assert evaded.asks("Agent", {"subagent_type": agent, "prompt": "x"}, None)[0] == "none"
    assert evaded.asks("Read", {"file_path": "src/a.py"}, agent)[0] == "none"
    assert evaded.asks("Write", {"file_path": "src/a.py", "content": ""}, agent)[0] == "deny"
    assert evaded.asks("Bash", {"command": "ls"}, agent)[0] == "deny"
    assert evaded.asks("mcp__x__y", {}, agent)[0] in ("ask", "deny")
    outcome, _ = evaded.asks("Agent", {"subagent_type": agent, "prompt": "x"}, "fixer")
    assert outcome == "deny"


def test_built_in_agents_that_only_read_write_nothing_for_a_free_main_thread(tmp_path: Path) -> None:
    """The main thread may do everything, and `Explore` reads for it."""
    project = EvadedProject(tmp_path / "project", "--main-role", "none")
    assert project.asks("Read", {"file_path": "src/a.py"}, "Explore") == ("none", "")
    assert project.asks("Write", {"file_path": "src/a.py", "content": ""}, "Explore")[0] == "deny"
    assert project.asks("Write", {"file_path": "src/a.py", "content": ""}, "general-purpose") == ("none", "")
    assert project.asks("Write", {"file_path": ".mcp.json", "content": ""}, "general-purpose")[0] == "deny"
    assert project.asks("Agent", {"subagent_type": "general-purpose"}, "fixer")[0] == "deny"


def test_a_refused_dispatch_names_whom_the_role_may_dispatch(evaded: EvadedProject) -> None:
    """A refused hand-off names the roles that the role may dispatch, even if the requested agent is not declared."""
    for target in ("stranger", "lead"):
        outcome, text = evaded.asks("Agent", {"subagent_type": target, "prompt": "x"}, None)
        if target == "stranger":
            assert outcome == "deny"
            assert "may dispatch: `builder`, `code_reviewer`, `fixer`, `operator`" in text, text
    text = evaded.asks("Agent", {"subagent_type": "builder", "prompt": "x"}, "fixer")[1]
    assert "role `fixer` may dispatch no other role" in text, text


def _run_elsewhere(project: EvadedProject, command: str, path: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command of the hook on a machine on which orgkernel is installed elsewhere."""
    call = json.dumps(project.call("Bash", {"command": "rm .mcp.json"}, "builder")).encode()
    return subprocess.run(
        ["/bin/sh", "-c", command], input=call, cwd="/", capture_output=True, check=False,
        env={"CLAUDE_PROJECT_DIR": str(project.folder), "PATH": path, "HOME": "/"},
    )  # fmt: skip


def test_the_hook_finds_its_interpreter_on_another_machine(tmp_path: Path) -> None:
    """Shared settings work on a machine without the activating Python: the hook uses `orgkernel`. Without
    `orgkernel` too, calls are refused.
    """
    folder = os.path.dirname(sys.executable)
    for on_error, if_missing, code in (("refuse", "refuse", 2), ("pass", "refuse", 2), ("refuse", "pass", 0)):
        project = EvadedProject(
            tmp_path / f"{on_error}-{if_missing}", "--on-error", on_error, "--if-missing", if_missing
        )
        command = project.settings()["hooks"]["PreToolUse"][-1]["hooks"][0]["command"]
        assert read_answer(_run_elsewhere(project, command, "/bin").stdout.decode())[0] == "deny"
        elsewhere = command.replace(folder, "/nowhere/bin")
        assert elsewhere != command
        assert read_answer(_run_elsewhere(project, elsewhere, f"{folder}:/bin").stdout.decode())[0] == "deny"
        missing = _run_elsewhere(project, elsewhere, "/nowhere")
        assert (missing.returncode, missing.stdout) == (code, b"")
        assert b"settings.json" not in missing.stderr
        without_script = command.replace("claude_hook/run.py", "claude_hook/gone.py")
        assert _run_elsewhere(project, without_script, "/bin").returncode == code


def test_agents_of_every_plugin_of_the_tree_have_roles(tmp_path: Path) -> None:
    """The host calls them `PLUGIN:AGENT`. Two plugins can have agents of one name, and a file that takes the name of one is no role."""
    agent = "---\nname: {name}\ndescription: Reviews.\ntools: {tools}\n---\nReview.\n"
    files = {
        ".claude-plugin/marketplace.json": json.dumps({"name": "shop", "owner": {"name": "x"}, "plugins": [
            {"name": name, "source": f"./plugins/{name}"} for name in ("one", "two")]}),
        "plugins/one/.claude-plugin/plugin.json": '{"name": "one"}',
        "plugins/two/.claude-plugin/plugin.json": '{"name": "two"}',
        "plugins/one/agents/reviewer.md": agent.format(name="reviewer", tools="Read"),
        "plugins/two/agents/reviewer.md": agent.format(name="reviewer", tools="Read, Bash"),
        ".claude/agents/own.md": agent.format(name="own", tools="Read"),
    }  # fmt: skip
    project = EvadedProject.__new__(EvadedProject)
    project.folder = write_tree(tmp_path, files)
    activate = ("host", "activate", "active", "--claude-code", ".", "--path", ".", "--main-role", "none")
    done = run_here(*activate, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers = {
        name: project.asks("Bash", {"command": "ls"}, name)[0]
        for name in ("one:reviewer", "two:reviewer", "own", "reviewer", "three:reviewer")
    }
    assert answers == {
        "one:reviewer": "deny", "two:reviewer": "none", "own": "deny", "reviewer": "deny", "three:reviewer": "deny",
    }  # fmt: skip
    assert project.asks("Read", {"file_path": "src/a.py"}, "one:reviewer") == ("none", "")
