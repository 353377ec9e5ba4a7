"""Attacks on the hook of Claude Code as it is installed: its command from the settings, as a process, on real files."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_claude_code_roles import HookedProject, find_script, read_answer
from tests.support.sampling import sample_every

MILD = """\
_schema: orgkernel:tool_catalog
tools:
  git_log: {type: computer_use, description: Reads the history., actions: {use: read}, side_effects: read, names: {claude_code: "Bash(git log:*)"}}
  git_branch: {type: computer_use, description: Lists branches., side_effects: read, names: {claude_code: "Bash(git branch:*)"}}
  searching: {type: computer_use, description: Searches., side_effects: read, names: {claude_code: "Bash(find:*)"}}
  sorting: {type: computer_use, description: Sorts., side_effects: read, names: {claude_code: "Bash(sort:*)"}}
  editing: {type: computer_use, description: Prints lines., side_effects: read, names: {claude_code: "Bash(sed:*)"}}
  unheard: {type: computer_use, description: Reads something., side_effects: none, names: {claude_code: "Bash(unheard:*)"}}
  building: {type: computer_use, description: Builds., side_effects: write, names: {claude_code: "Bash(build:*)"}}
  files: {type: mcp_server, description: Files., side_effects: destructive, path_arguments: []}
"""
READER = """\
_schema: orgkernel:role_profile
role_id: code_reviewer
role_name: Reviewer
capabilities:
  tools_primary: [file_read, git_log, git_branch, searching, sorting, editing, unheard, building]
"""
BUILDER = """\
_schema: orgkernel:role_profile
role_id: builder
role_name: Builder
capabilities:
  tools_primary: [file_read, file_search, file_write, code_execution_tool, files]
"""


class AttackedProject(HookedProject):
    """A project whose hook is asked as the host asks it."""

    def asks(self, tool: str, given: dict[str, Any], agent: str | None = None) -> tuple[str, str]:
        done = self.runs("PreToolUse", self.call(tool, given, agent))
        return ("deny", done.stderr.decode()) if done.returncode == 2 else read_answer(done.stdout.decode())


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> AttackedProject:
    project = AttackedProject(tmp_path_factory.mktemp("attacked"))
    folder = project.folder
    (folder / "org/tools.yaml").write_text(
        MILD + (folder / "org/tools.yaml").read_text().split("tools:\n")[1].split("  git_log:")[0]
    )
    (folder / "org/roles/code_reviewer.yaml").write_text(READER)
    (folder / "org/roles/builder.yaml").write_text(BUILDER)
    for command in (
        ["git", "init", "-q", "."],
        ["mkdir", "-p", ".claude/agents"],
        ["touch", ".mcp.json", ".claude/agents/a.md"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    (folder / "inside").symlink_to(folder / ".claude")
    project.activate()
    return project


@pytest.mark.parametrize(
    "command",
    [
        "git log --output=.orgkernel/claude-code/active.json", "git log --output=src/a.py", "git log --outp src/a.py",
        "git log --ext-diff", "git branch new", "git branch -D main", "find . -delete", "find . -exec rm x +", "find . -fprint src/a.py",
        "sort -o src/a.py docs/guide.md", "sort -uo src/a.py docs/guide.md", "sort --output=src/a.py docs/guide.md",
        "sed -i s/a/b/ src/a.py", "sed wsrc/a.py docs/guide.md", "unheard --output=src/a.py", "unheard -o src/a.py", "unheard --exec=rm",
    ],
)  # fmt: skip
def test_a_prefix_that_only_reads_does_not_write(attacked: AttackedProject, command: str) -> None:
    """With an option that writes, the command is `Bash` as a whole, which the role does not have."""
    assert attacked.asks("Bash", {"command": command}, "code-reviewer")[0] == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -5 --stat", "git log -p -- src/a.py", "git branch -vv", "git branch --list", "find . -name a.py -print",
        "sort -u -k 2 docs/guide.md", "unheard src/a.py", "build -o src/out", "find .claude -name a.md",
    ],
)  # fmt: skip
def test_a_prefix_that_only_reads_still_reads(attacked: AttackedProject, command: str) -> None:
    """So does a prefix of a tool that writes."""
    assert attacked.asks("Bash", {"command": command}, "code-reviewer") == ("none", "")


PROTECTED = (
    ".claude/settings.json", ".CLAUDE/Settings.json", ".claude/settings.local.json", ".claude/agents/a.md", ".claude/agents/new.md",
    ".orgkernel/claude-code/active.json", ".orgkernel/owned-files.json", ".orgkernel/orgkernel.db", ".mcp.json", ".git/config",
    ".git/hooks/pre-commit", "org/org.yaml", "org/roles/builder.yaml", "inside/settings.json", "src/../.mcp.json", "./.mcp.json",
    "~/.claude/settings.json", "/etc/claude-code/managed-settings.json", "{project}/.mcp.json", "{hook}",
)  # fmt: skip


@pytest.mark.parametrize("path", PROTECTED)
def test_no_tool_changes_what_decides(attacked: AttackedProject, path: str) -> None:
    """File tools, tools of MCP servers and commands, for a role that may use all of them."""
    hook = find_script(attacked)
    path = path.format(project=attacked.folder, hook=hook)
    whole = os.path.expanduser(path)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Write", {"file_path": whole, "content": ""}), ("Edit", {"file_path": whole, "old_string": "", "new_string": "x"}),
        ("NotebookEdit", {"notebook_path": whole, "new_source": ""}), ("mcp__files__write", {"path": path, "content": "x"}),
        ("mcp__files__move", {"moves": [{"from": "src/a.py", "to": path}]}), ("mcp__files__run", {"command": f"rm {path}"}),
        ("mcp__files__write", {"uri": f"file://{os.path.join(attacked.folder, whole)}"}), ("Bash", {"command": f"echo x > {path}"}),
        ("Bash", {"command": f"rm -f {path}"}), ("Bash", {"command": f"git log --output={path}"}), ("Bash", {"command": f"cp src/a.py '{path}'"}),
        ("Bash", {"command": f"cat {path} | tee {path}"}), ("Bash", {"command": f"true && sed -i d {path}"}),
        ("Bash", {"command": f"python - <<X\nopen('{path}', 'w')\nX"}), ("Bash", {"command": f"sort -o{path} src/a.py"}),
    ]  # fmt: skip
    for tool, given in calls:
        outcome, text = attacked.asks(tool, given, "builder")
        assert outcome == "deny", (tool, given)
        assert "decides what agents may do here" in text or "may not" in text, text


@pytest.mark.parametrize("command", ["cat .claude/settings.json", "grep x .mcp.json", "ls .claude"])
def test_commands_that_read_what_decides_are_not_refused(attacked: AttackedProject, command: str) -> None:
    """A role that may run commands can see why a call was refused."""
    assert attacked.asks("Bash", {"command": command}, "builder")[0] != "deny"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf .claude", "rm -rf .orgkernel", "mv .git x", "cd .claude && rm settings.json", "rm -rf .c*", "rm .orgkernel/*/active.json",
        "rm -rf org", "git -C .git config x y", "rm .clau''de/settings.json", "rm .clau\\de/settings.json", "orgkernel host deactivate --claude-code .",
        "rm .{claude,x}/settings.json", "rm .claude/{a,{b,settings}}.json", "rm $'.claude/settings.json'", "rm $'\\x2eclaude/settings.json'",
        "rm -rf *", "rm -rf .", "rm -rf ./", "rm -rf $PWD", "rm -rf ${PWD}/.claude", 'rm -rf "$CLAUDE_PROJECT_DIR"', "rm -rf ../*", "rm -rf ~/.claude",
        "rm -rf /", "sudo rm -rf .", "cd src; rm -rf ..", "rm org/*", "echo 'rm .claude/settings.json' | sh", "cat .mcp.json | bash",
        "at now <<< 'rm .claude/settings.json'", "socat - OPEN:.claude/settings.json", "claude config set -g disableAllHooks true",
        "claude mcp add x y", "python -m orgkernel host deactivate --claude-code .", "env -i orgkernel host activate shop --claude-code .",
        "orgkernel host deactivate --claude-code list", "PWD=/settings.json; rm .claude$PWD", "rm .claude$PWDX/settings.json",
        "orgkernel grant issue role:builder tool:x", "orgkernel store restore x.db",
        "cd org && rm org.yaml", "cd org/roles; sed -i s/x/y/ builder.yaml", "pushd org && echo x > org.yaml", "(cd org; tee org.yaml)",
        "cd src && cd .. && cd org && rm org.yaml", "tar -xf a.tar -Corg roles/builder.yaml", "rm org/*.yaml", "rm */org.yaml", "rm o?g/org.yam[l]", "rm -r o*",
        "cd org && rm *.yaml", "sed -i s/x/y/ **/*.yaml", "find . -name org.yaml -delete", "find . -path '*/roles/*' -delete", "find org -delete", "rm .mcp.jso\\\nn",
    ],
)  # fmt: skip
def test_no_command_removes_what_decides(attacked: AttackedProject, command: str) -> None:
    """Nor a folder with it, nor by wildcards or quotes within a word."""
    assert attacked.asks("Bash", {"command": command}, "builder")[0] == "deny"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        *[
            ("Bash", {"command": command})
            for command in (
                "cat .claude/settings.json", "ls -la .claude", "grep -rn x .mcp.json", "git add .mcp.json", "git commit -m 'change .mcp.json'",
                "git diff org/org.yaml | head", "echo see .mcp.json", "pytest -q src", "ls", "make build", "rm -rf src/*", "cat org/org.yaml",
                "orgkernel check org", "rm *.py", "rm -rf src/*", "rm -rf build dist", "rm {src,docs}/*.pyc", "cp src/a.py .", "mv src/a.py ..",
                "ls | xargs echo", "echo done | sh", "find . -name '*.pyc' -delete", "orgkernel grant list", "orgkernel why role:builder use tool:x",
                "cd src && rm -f *.pyc", "cd docs && sed -i s/a/b/ guide.md", "sed -i s/x/y/ src/**/*.py", "find . -name '*.pyc' -o -name x -delete",
                "make -C src all", "grep -C 3 x org/*.yaml", "cd org && cat *.yaml", "orgkernel role list", "claude --version", "cd src && rm -rf out", "echo $PWD", "source .venv/bin/activate && cat org/org.yaml", "tar cf /tmp/x.tgz .", "cp -r src/. /tmp/x",
            )
        ],
        ("Read", {"file_path": ".claude/settings.json"}),
        ("Grep", {"pattern": ".mcp.json", "path": ".claude"}),
        ("mcp__files__write", {"path": "src/a.py", "content": "see .mcp.json and org/org.yaml"}),
        ("mcp__files__write", {"path": "src", "name": "a.md", "content": "50% of org"}),
        ("mcp__files__list", {"path": "."}),
        ("Write", {"file_path": "src/settings.json", "content": ".mcp.json"}),
    ],
)  # fmt: skip
def test_everyday_calls_pass(attacked: AttackedProject, tool: str, given: dict[str, Any]) -> None:
    """What only reads a protected file, or mentions one, is no change of it."""
    if "file_path" in given:
        given = {**given, "file_path": str(attacked.folder / given["file_path"])}
    assert attacked.asks(tool, given, "builder") == ("none", "")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("PowerShell", {"command": "Remove-Item src"}), ("Monitor", {"command": "rm -r src", "description": "x", "timeout_ms": 1}),
        ("REPL", {"code": "1"}), ("Workflow", {"script": "export const meta = {}"}),
    ],
)  # fmt: skip
def test_another_tool_that_runs_commands_is_no_way_around(
    attacked: AttackedProject, tool: str, given: dict[str, Any]
) -> None:
    """The organization lists only `Bash`, and its answers apply to the tools that do the same."""
    assert attacked.asks(tool, given, "fixer")[0] == "deny"
    assert attacked.asks(tool, given, "builder") == ("none", "")
    assert attacked.asks(tool, dict.fromkeys(given, "rm .mcp.json"), "builder")[0] == "deny"


@pytest.mark.parametrize(
    "given",
    [
        {"path": " .mcp.json"}, {"path": ".mcp.json\n"}, {"path": "./" * 3_000 + ".mcp.json"}, {"path": "%2emcp.json"}, {"path": ".claude\\settings.json"},
        {"uri": "file://{project}/%2emcp.json"}, {"uri": "file:{project}/.mcp.json"}, {"uri": "FILE://localhost{project}/.mcp.json"},
        {"files": {".mcp.json": "x"}}, {"files": [{"x": [{"x": [{"x": [{"x": [{"path": ".mcp.json"}]}]}]}]}]}, {"folder": "org", "name": "org.yaml"},
    ],
    ids=str,
)  # fmt: skip
def test_no_spelling_of_a_path_hides_it_from_an_mcp_tool(
    attacked: AttackedProject, given: dict[str, Any]
) -> None:
    """Servers trim, decode and join what they get, so a file is protected in every such form."""
    text = json.dumps(given).replace("{project}", str(attacked.folder))
    assert HookedProject.asks(attacked, "mcp__files__write", json.loads(text), "builder")[0] == "deny"


@pytest.mark.parametrize("on_error", ["refuse", "pass"])
def test_arguments_without_end_are_refused(attacked: AttackedProject, on_error: str) -> None:
    """Deep and many arguments are neither skipped nor an error of the hook, after which a call could pass."""
    deep: object = ".mcp.json"
    for _ in range(500):
        deep = [deep]
    for given in ({"path": deep}, {"paths": ["a"] * 100_001}):
        call = json.dumps(attacked.call("mcp__files__write", given, "builder")).encode()
        assert attacked.answer(call, on_error=on_error)[0] == "deny"


@pytest.mark.parametrize("script", ["claude_hook/run.py", "write_hook.py"])
def test_a_hook_that_takes_too_long_refuses(attacked: AttackedProject, script: str) -> None:
    """A host lets a call pass after its time limit, so the hook ends before. Here its input never ends."""
    path = Path(find_script(attacked)).parent.parent / script
    code = (
        "import _signal, runpy, sys\nstart = _signal.setitimer\n_signal.setitimer = lambda which, seconds: start(which, seconds / 200)\n"
        f"sys.argv = ['', 'PreToolUse', 'pass']\nrunpy.run_path({str(path)!r}, run_name='__main__')"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as hook:  # fmt: skip
        assert hook.wait(30) == (2 if script == "write_hook.py" else 0)
        assert hook.stdout is not None
        assert hook.stderr is not None
        printed, complaint = hook.stdout.read().decode(), hook.stderr.read().decode()
    assert "takes more than 45 seconds" in (complaint or read_answer(printed)[1])
    assert complaint or read_answer(printed)[0] == "deny"


MALFORMED = (
    b"", b"{", b"nul", b"[1,]", b'{"a":}', b'{"a" 1}', b"{a:1}", b'["a', rb'"\q"', b'{"a":1,}', b'{"x": NaN}', b'"\x01"', b"\xff", b"{}{}",
    b"[" * 50_000, b'{"tool_name": "Read", "tool_input": "\\ud800', b'{"tool_name": "Read", "tool_input": {}} x', b"-", b"1e",
)  # fmt: skip


@pytest.mark.parametrize("on_error", ["refuse", "pass"])
@pytest.mark.parametrize("raw", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_input_is_refused(attacked: AttackedProject, raw: bytes, on_error: str) -> None:
    """Also where orgkernel lets calls pass after errors of its own."""
    assert _run_raw(attacked, raw, on_error) == "deny"


def _run_raw(project: HookedProject, raw: bytes, on_error: str) -> str:
    command = project.settings()["hooks"]["PreToolUse"][-1]["hooks"][0]["command"]
    done = subprocess.run(
        ["sh", "-c", command.replace("PreToolUse refuse", f"PreToolUse {on_error}")], input=raw, cwd="/", capture_output=True,
        env=os.environ | {"CLAUDE_PROJECT_DIR": str(project.folder)}, check=False,
    )  # fmt: skip
    return "deny" if done.returncode == 2 else read_answer(done.stdout.decode())[0]


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{}", b"[]", b"{", b'{"_schema": "orgkernel:claude_code_activation", "_version": "2.0"}'],
)
def test_a_damaged_activation_refuses(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty and half-written answers deny, whatever is stated for errors."""
    project = AttackedProject(tmp_path / "project", "--on-error", "pass")
    call = json.dumps(project.call("Bash", {"command": "ls"}, "builder")).encode()
    assert _run_raw(project, call, "pass") == "none"
    answers = project.folder / ".orgkernel/claude-code"
    role = json.loads((answers / "active.json").read_text())["roles"]["builder"]
    for name in (role, "active.json"):
        if content is None:
            (answers / name).unlink()
        else:
            (answers / name).write_bytes(content)
        assert _run_raw(project, call, "pass") == "deny", name


@pytest.mark.parametrize(
    "command",
    sample_every([
        "{" * 500_000,
        "{a,b}" * 200_000,
        "rm " + "{a,b,c}" * 580,
        "$'" * 200_000,
        "rm " + "./" * 500_000,
        "echo a | sh; " * 50_000,
        ";".join(f"a{number}" for number in range(90_000)),
    ], 3),
)  # fmt: skip
def test_a_long_command_is_answered_soon(attacked: AttackedProject, command: str) -> None:
    """A hook that takes too long is passed over by its host. It is the processor time that counts: the machine may be busy."""
    before = count_child_seconds()
    attacked.asks("Bash", {"command": command}, "builder")
    assert count_child_seconds() - before < 20


def count_child_seconds() -> float:
    """The seconds of processor time of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONPATH": "{project}/evil"}, {"PYTHONHOME": "/nowhere"}, {"PYTHONSTARTUP": "{project}/evil/sitecustomize.py"}, {"PYTHONINSPECT": "1"},
        {"PYTHONOPTIMIZE": "2"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "LC_ALL": "C"}, {"PYTHONBREAKPOINT": "evil.x"},
        {"PYTHONPYCACHEPREFIX": "{project}/evil"}, {"PYTHONDONTWRITEBYTECODE": ""}, {"PYTHONWARNINGS": "error"}, {"HOME": "/nowhere"}, {"HOME": ""},
        {"TMPDIR": "/nowhere"}, {"LANG": "x"}, {"IFS": "/"}, {"CDPATH": "/"}, {"ENV": "{project}/evil/sitecustomize.py"},
        {"BASH_ENV": "{project}/evil/sitecustomize.py"}, {"ORGKERNEL_DISABLE_ENGINES": "all"},
    ],
    ids=lambda variables: next(iter(variables)),
)  # fmt: skip
def test_no_variable_opens_the_hook(attacked: AttackedProject, variables: dict[str, str]) -> None:
    """What an agent could export in its own shell, or a project in an environment file, changes no denial."""
    evil = attacked.folder / "evil"
    evil.mkdir(exist_ok=True)
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "os.py", "orgkernel.py", "encodings.py"):
        (evil / name).write_text("import sys\nsys.exit(0)\n")
    project = AttackedProject.__new__(AttackedProject)
    project.folder = attacked.folder
    project.variables = {name: each.format(project=attacked.folder) for name, each in variables.items()}
    for tool, given in (
        ("Write", {"file_path": ".claude/settings.json", "content": ""}),
        ("Bash", {"command": "rm .mcp.json"}),
    ):
        assert project.asks(tool, given, "builder")[0] == "deny"


@pytest.mark.parametrize(
    "cwd",
    [
        "",
        "/",
        "src",
        "/nowhere",
        None,
        5,
        ["x"],
        "\0",
        "/proc/self/cwd",
        "{project}/inside",
        "{project}/src/..",
    ],
)
def test_no_folder_of_a_call_opens_the_hook(attacked: AttackedProject, cwd: object) -> None:
    """The call states where it runs. A file of the project is protected from everywhere."""
    cwd = cwd.format(project=attacked.folder) if isinstance(cwd, str) else cwd
    for given in (f"rm {attacked.folder}/.mcp.json", f"rm -rf {attacked.folder}"):
        call = attacked.call("Bash", {"command": given}, "builder") | {"cwd": cwd}
        done = attacked.runs("PreToolUse", call)
        assert done.returncode == 2 or read_answer(done.stdout.decode())[0] == "deny"
