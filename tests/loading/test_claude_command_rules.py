"""Rules of Claude Code about commands: they are about what may begin so, and about nothing less than what the host may mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessContext, AccessRequest, Kernel
from orgkernel.loading.formats.claude_code.parts import parse_tool_part
from orgkernel.manifest.organization import list_policy_permissions
from tests.support.claude_trees import AGENTS, agent
from tests.support.in_process import run_here
from tests.support.trees import write_tree


def project(folder: Path, **rules: list[str]) -> Path:
    """A project with one agent that runs commands, and some rules."""
    files = {
        ".claude/settings.json": json.dumps({"permissions": rules}),
        f"{AGENTS}/a.md": agent("a", "Use it.", "Read, Bash, PowerShell"),
    }
    return write_tree(folder / "shop", files)


def outcome(kernel: Kernel, command: object = None, tool: str = "Bash") -> str:
    context = AccessContext(input=None if command is None else {"command": command})
    return kernel.can("shop", AccessRequest("role:a", "use", f"tool:{tool}", context)).outcome


def test_the_rules_that_settings_have_most(tmp_path: Path) -> None:
    """What may begin so is denied or asked about, every other command stays as it was, and nothing is found."""
    kernel = Kernel.open(project(tmp_path, deny=["Bash(rm:*)", "Bash(sudo *)"], ask=["Bash(git push:*)"]))
    for command in (
        "ls -la",
        "git status",
        "npm test && npm run build",
        "git log | head",
        "git commit -m 'a form'",
    ):
        assert outcome(kernel, command) == "allow", command
    for command in ("git push", "git -C a push -f", "cd a && git push", "'git' 'push'"):
        assert outcome(kernel, command) == "ask", command
    for command in (
        "rm -rf /",
        "git push; rm x",
        "/bin/rm x",
        "sudo ls",
        "$x",
        "sh -c 'rm x'",
        "sh -c $x",
        "",
        3,
        ["ls", "rm"],
    ):
        assert outcome(kernel, command) == ("allow" if command == "" else "deny"), command
    assert outcome(kernel) == "deny"
    assert [outcome(kernel, None, tool) for tool in ("Read", "PowerShell")] == ["allow", "allow"]
    assert [each.code for each in kernel.check()] == []


def test_a_denial_names_the_rule_and_the_command_that_would_do(tmp_path: Path) -> None:
    """The reason is at the line of the settings, and the remedy is to state another command."""
    project(tmp_path, deny=["Bash(rm:*)"], ask=["Bash(git push:*)"])
    done = run_here("can", "role:a", "use", "tool:Bash", "--path", "shop", cwd=tmp_path)
    assert done.returncode == 1
    said = "because policy `settings_deny_1` denies tool `Bash` for commands that begin with `rm`, and the request states no command"
    assert said in done.stdout
    assert "shop/.claude/settings.json:1" in done.stdout
    assert "would be allowed by: state a command that does not begin with `git push`, `rm`" in done.stdout
    for command, end in (
        ("ls; rm x", "a command in it could begin with these words"),
        ("eval $x", "`$x` cannot be read: the script is not known until the command runs"),
    ):
        context = json.dumps({"input": {"command": command}})
        done = run_here(
            "can", "role:a", "use", "tool:Bash", "--path", "shop", "--context", context, cwd=tmp_path
        )
        assert f"begin with `rm`, and {end}\n" in done.stdout
    listed = run_here("what-can", "role:a", "--path", "shop", cwd=tmp_path).stdout
    assert "PART_NOT_STATED, depends on command:git push, command:rm" in listed


@pytest.mark.parametrize(
    ("rule", "beginning"),
    [
        ("Bash(rm:*)", "rm"), ("Bash(rm *)", "rm"), ("Bash(rm)", "rm"), ("Bash(git push:*)", "git push"), ("Bash(git push *)", "git push"),
        ("Bash(npm run test:unit)", "npm run test:unit"), ("Bash(npm run test:*)", "npm run test"), ("Bash(./a-b.sh --x=1,2:*)", "./a-b.sh --x=1,2"),
        ("Bash(curl https://a.example/x:*)", "curl https://a.example/x"), ("Bash(FOO=1 make *)", "FOO=1 make"), ("Bash(rm -rf /:*)", "rm -rf /"),
    ],
)  # fmt: skip
def test_rules_that_are_understood(rule: str, beginning: str) -> None:
    """An exact command is taken for a beginning, which is more."""
    assert parse_tool_part(rule) == (("Bash",), (), (beginning,), False, {})


@pytest.mark.parametrize(
    "argument",
    [
        "", " ", ":*", " *", "ls:**", "* install", "git *:*", "rm :*", " rm:*", "rm  x:*", "rm\tx:*", "rm\nx:*",
        "'rm':*", 'echo "a":*', "a && b", "$x:*", "r\\m:*", "rm;:*", "(rm):*", "{rm}", "é:*", "x" * 201,
    ],
)  # fmt: skip
def test_rules_that_are_not_understood_close_the_whole_tool(argument: str, tmp_path: Path) -> None:
    """As before, and a finding says so."""
    for effect, answer in (("deny", "deny"), ("ask", "ask")):
        folder = tmp_path / effect
        kernel = Kernel.open(project(folder, **{effect: [f"Bash({argument})"]}))
        assert [outcome(kernel, each) for each in (None, "ls", "git status")] == [answer] * 3
        assert [each.code for each in kernel.check()] == ["ORG781"]


@pytest.mark.parametrize(
    ("argument", "beginning"),
    [
        ("ls*", "ls"),
        ("git * main", "git"),
        ("curl * | bash", "curl"),
        ("rm -rf /*", "rm -rf /"),
        ("a | b:*", "a"),
    ],
)
def test_a_wildcard_or_a_pipe_leaves_the_words_before_it(
    argument: str, beginning: str, tmp_path: Path
) -> None:
    """They are less than the tool. A finding says where they are more than the rule."""
    part = parse_tool_part(f"Bash({argument})")
    assert part is not None
    assert part.commands == (beginning,)
    kernel = Kernel.open(project(tmp_path, deny=[f"Bash({argument})"]))
    assert [outcome(kernel, each) for each in ("make", f"{beginning} x")] == ["allow", "deny"]
    assert [each.code for each in kernel.check()] == ["ORG781"] * part.is_wider


def test_a_whole_tool_stays_closed_beside_its_part(tmp_path: Path) -> None:
    """A rule about a part opens nothing that another rule closes."""
    kernel = Kernel.open(project(tmp_path, deny=["Bash", "Bash(rm:*)"]))
    assert outcome(kernel, "ls") == "deny"


def test_the_manifest_names_the_part(tmp_path: Path) -> None:
    """As Claude Code writes it, and never as the whole tool."""
    view = (
        Kernel.open(project(tmp_path, deny=["Bash(rm:*)"], ask=["Bash(git push)"]))
        .organization("shop")
        .snapshot.index
    )
    said = [list_policy_permissions(policy.record) for policy in view.records.policies.values()]
    assert [each["denies"] for each in said if each["denies"]] == [("tool:Bash(rm:*)",)]
    assert [each["asks"] for each in said if each["asks"]] == [("tool:Bash(git push:*)",)]


COMMANDS = (None, "ls", "rm x", "git push", "git status", "git push && rm x", "$x", 3)


def test_what_is_imported_says_what_the_rules_say(tmp_path: Path) -> None:
    """Plain documents answer as the settings where they lie, and an export closes at least as much when it is read again."""
    project(tmp_path, deny=["Bash(rm:*)"], ask=["Bash(git push:*)", "PowerShell(a:*)"])
    assert run_here("import", "claude-code", "shop", "plain", cwd=tmp_path).returncode == 0
    (tmp_path / "again").mkdir()
    done = run_here(
        "export",
        "--to",
        "claude-code",
        "--path",
        "shop",
        "--output",
        "again/shop",
        "--accept-losses",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    here, plain, again = (Kernel.open(tmp_path / each) for each in ("shop", "plain", "again/shop"))
    order = ("deny", "ask", "conditional", "allow")
    for command in COMMANDS:
        for tool in ("Bash", "PowerShell", "Read"):
            answers = [outcome(kernel, command, tool) for kernel in (here, plain, again)]
            assert answers[0] == answers[1], (tool, command, answers)
            assert order.index(answers[2]) <= order.index(answers[0]), (tool, command, answers)
    # The host compares how commands begin, and not what they run in turn: as a rule of its own, each would open more.
    assert outcome(again, "ls") == "deny"
    assert "tools that depend on circumstances (1): left out" in done.stderr
