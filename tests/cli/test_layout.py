"""What a reader sees of the commands: six groups, summaries that are whole, and the way from a wrong name to the right one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from orgkernel.cli import cli
from orgkernel.cli.layout import COMMANDS, GROUPS, RENAMED, RENAMED_BELOW
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.tools import TOOLS
from tests.support.in_process import run_here
from tests.support.trees import write_tree

TYPED_FIRST = [
    "new",
    "check",
    "list",
    "dispatch",
    "manifest",
    "crew",
    "can",
    "why",
    "who-can",
    "graph",
    "diff",
    "test",
    "serve",
    "mcp",
    "gateway",
    "import",
    "export",
    "agent",
    "task",
    "command",
]
QUESTIONS = ("can", "why", "who-can", "what-can", "dispatch", "manifest", "handle")


def groups_below(
    group: click.Group, above: click.Context
) -> Iterator[tuple[str, click.Group, click.Context]]:
    """All groups below a group, each with its path and its context."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if isinstance(command, click.Group):
            context = click.Context(command, parent=above, info_name=name, terminal_width=78)
            yield context.command_path, command, context
            yield from groups_below(command, context)


TOP = click.Context(cli, info_name="orgkernel", terminal_width=78, help_option_names=["-h", "--help"])
BELOW = list(groups_below(cli, TOP))


def test_help_shows_six_groups_in_80_columns(tmp_path: Path) -> None:
    """Each command has one line below the label of its group."""
    lines = run_here("--help", cwd=tmp_path).stdout.splitlines()
    labels = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert labels == ["Options:", "Author:", "Ask:", "Crew:", "Work:", "Operate:", "Hosts:"]
    shown = [line.split()[0] for line in lines[lines.index("Author:") :] if line.startswith("  ")]
    assert shown == list(COMMANDS) == [name for entries in GROUPS.values() for name in entries]
    assert max(map(len, lines)) <= 80


def test_what_a_reader_types_first_stays_at_the_top() -> None:
    """Twenty commands are not below a noun."""
    assert [name for name in TYPED_FIRST if name not in COMMANDS] == []


@pytest.mark.parametrize(("path", "group", "context"), BELOW, ids=[path for path, _, _ in BELOW])
def test_no_summary_of_a_subcommand_is_cut(path: str, group: click.Group, context: click.Context) -> None:
    """Each subcommand has one line, which is no cut sentence."""
    help = group.get_help(context)
    rows = help[help.index("\nCommands:\n") :].splitlines()[2:]
    assert [row.split()[0] for row in rows] == group.list_commands(context), path
    assert [row for row in rows if row.endswith(("...", "…")) or len(row) > 80] == []


@pytest.mark.parametrize(
    ("words", "help"),
    [
        ("orders", "did you mean `orgkernel role orders`?"),
        ("agent vacancies", "did you mean `orgkernel crew vacancies`?"),
        ("signal", "did you mean `orgkernel host signals`?"),
        ("task pln", "did you mean `plan`?"),
        ("scope", "it is part of `orgkernel claim` or `orgkernel ownership`"),
        ("scope claim", "it is now `orgkernel claim add`"),
        ("role show co", "`orgkernel manifest ROLE` shows a role"),
        ("role list", "`orgkernel graph` shows the roles"),
        ("agent show data", "`orgkernel manifest --agent AGENT` shows an agent"),
        ("scope audit", "it is now `orgkernel ownership audit`"),
        ("contract check", "it is now `orgkernel task check`"),
        ("contract --help", "it is part of `orgkernel task`"),
        ("org activate", "it is now `orgkernel host activate`"),
        ("org watch", "it is now `orgkernel crew watch`"),
        ("batch plan", "it is now `orgkernel task plan`"),
        ("dispatch-check co xo", "it is part of `orgkernel task handoff check`"),
        ("dispatches list", "it is now `orgkernel task handoff list`"),
        ("task dispatch", "it is now `orgkernel task handoff`"),
        ("task dispatch record a b", "it is now `orgkernel task handoff record`"),
        ("gateway serve", "leave `serve` out: `orgkernel gateway` serves"),
        (
            "scope hook pre-commit",
            "an earlier version installed this hook: run `orgkernel ownership install-hooks` again",
        ),
        ("task xyz", "list all commands with `orgkernel task --help`"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(tmp_path: Path, words: str, help: str) -> None:
    """It is looked for in the group, then in all groups."""
    done = run_here(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[1]) == (2, f"help: {help}")


def test_former_commands_lead_to_commands_that_exist(tmp_path: Path) -> None:
    """None of the former names is a command, and each of the new places is one."""
    paths = {path.removeprefix("orgkernel ") for path, _, _ in BELOW} | set(COMMANDS)
    for name, places in RENAMED.items():
        assert name not in COMMANDS
        for place in places:
            assert place in paths or place.rpartition(" ")[0] in paths
    for place in RENAMED_BELOW.values():
        assert run_here(*place.split(), "--help", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks the installed command; the shell in use is the default."""
    done = run_here("completion", shell, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_ORGKERNEL_COMPLETE={shell}_complete" in done.stdout
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert run_here("completion", cwd=tmp_path).stdout == done.stdout
    monkeypatch.setenv("SHELL", "/usr/bin/nonesuch")
    assert run_here("completion", cwd=tmp_path).returncode == 2


def test_bash_completes_a_role(tmp_path: Path) -> None:
    """The completion script completes an id in a real bash."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    write_tree(
        tmp_path, {".claude/agents/a.md": "---\nname: reviewer\ndescription: Use it.\ntools: Read\n---\nx\n"}
    )
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    script = 'eval "$(orgkernel completion bash)"; COMP_WORDS=(orgkernel manifest rev); COMP_CWORD=2; _orgkernel_completion orgkernel; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        [bash, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "reviewer", done.stderr


@pytest.mark.parametrize("words", ["crew --skill maps vacancies", "mcp --role co tools mcp.json"])
def test_an_option_before_a_subcommand_is_refused(tmp_path: Path, words: str) -> None:
    """It would have no effect there."""
    done = run_here(*words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert "` comes before `" in done.stderr
    assert "write options after it: `orgkernel" in done.stderr


def test_a_question_has_one_name() -> None:
    """On the command line, in Python and over MCP, where the subject is always the one who asks."""
    for question in QUESTIONS:
        assert question in COMMANDS
        assert callable(getattr(Kernel, question.replace("-", "_")))
    own = {"who_am_i", "request_access", "report"}  # no question of the command line
    assert {tool.name.replace("_", "-") for tool in TOOLS if tool.name not in own} <= set(QUESTIONS)


def test_organizations_and_agents_of_others_are_listed(tmp_path: Path) -> None:
    """Each with its format, its place and its size; what an organization of ours reads itself is not listed again."""
    assert run_here("new", "shop", "--template", "software_dev", cwd=tmp_path).returncode == 0
    skill = tmp_path / "shop/skills/pricing/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: pricing\ndescription: Finds prices.\n---\nLook.\n", encoding="utf-8")
    agent = tmp_path / "site/.claude/agents/fixer.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: fixer\ndescription: Fixes.\ntools: Read\n---\nFix.\n", encoding="utf-8")
    done = run_here("list", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trees"] == [
        {"org": "software_dev", "format": "orgkernel", "roles": 8, "agents": 0, "skills": 1, "path": "shop/org.yaml"},
        {
            "org": "site", "format": "claude-code", "roles": 1, "agents": 1, "skills": 0, "path": "site",
            "note": "is not read from here: pass `--path site`",
        },
    ]  # fmt: skip
    alone = run_here("list", "site", cwd=tmp_path)
    assert alone.stdout.splitlines()[1].split() == ["site", "claude-code", "1", "1", "0", "site"]
    assert alone.stderr == ""


def test_organizations_with_one_id_and_broken_ones_are_listed(tmp_path: Path) -> None:
    """Each has its row; a broken one is not read, and the command fails. A compiled copy is no organization."""
    assert run_here("new", "shop", "--template", "software_dev", cwd=tmp_path).returncode == 0
    shutil.copytree(tmp_path / "shop", tmp_path / "copy")
    write_tree(tmp_path, {"host/bundles/software_dev.json": "{}"})
    compiled = {"_schema": "orgkernel:organization", "org_id": "software_dev", "hierarchy": {}}
    write_tree(tmp_path, {"host/software_dev.json": json.dumps(compiled)})
    done = run_here("list", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["software_dev", "orgkernel", "8", "0", "0", "copy/org.yaml"],
        ["software_dev", "orgkernel", "8", "0", "0", "shop/org.yaml"],
    ]
    same = (
        "has the id `software_dev`, the id of another organization here: choose one of the two with `--path`"
    )
    assert done.stderr == f"note: `copy/org.yaml` {same}\nnote: `shop/org.yaml` {same}\n"
    write_tree(tmp_path, {"copy/org.yaml": "_schema: orgkernel:organization\norg_id: [\n"})
    done = run_here("list", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].split() == ["–", "orgkernel", "0", "0", "0", "copy/org.yaml"]
    assert done.stderr == "note: `copy/org.yaml` has errors: run `orgkernel check copy`\n"


def test_a_folder_without_agents_lists_nothing(tmp_path: Path) -> None:
    """Exit code 1, as for other lists that are empty."""
    done = run_here("list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "there are no organizations here, and no agents in another format\n"


@pytest.mark.parametrize(
    "words", ["host install", "host uninstall", "host compile", "host activate x", "host status"]
)
def test_a_host_has_to_be_named(tmp_path: Path, words: str) -> None:
    """Each command says so in the same sentence, and which option names it."""
    done = run_here(*words.split(), cwd=tmp_path)
    error, help = done.stderr.splitlines()
    assert (done.returncode, error) == (2, "error: the host is not clear")
    assert "`--agent-zero" in help
