"""What a newcomer types works, or the answer says what to type instead."""

from __future__ import annotations

import errno
import io
import os
import pty
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.cli.running import ORGKERNEL, SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import copy_template, write_tree


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A project with two organizations."""
    other = {name: text.replace("org_id: shop", "org_id: kiosk") for name, text in SHOP.items()}
    return write_tree(
        tmp_path,
        {"orgkernel.toml": 'paths = ["shop", "kiosk"]\n'}
        | {f"shop/{name}": text for name, text in SHOP.items()}
        | {f"kiosk/{name}": text for name, text in other.items()},
    )


QUESTIONS = (
    ("dispatch", "codegen"),
    ("manifest",),
    ("manifest", "dev"),
    ("can", "role:dev", "use", "tool:memory_load"),
    ("why", "role:dev", "use", "tool:memory_load"),
    ("who-can", "use", "tool:memory_load"),
    ("what-can", "role:dev"),
    ("role", "pace", "dev"),
    ("graph",),
    ("export", "--to", "cedar"),
    ("host", "compile", "--agent-zero"),
    ("new", "role", "night"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each[0])
def test_the_only_organization_need_not_be_named(shop: Path, question: tuple[str, ...]) -> None:
    """Every command means the one that is there."""
    assert run(*question, cwd=shop).returncode == 0


def test_the_organization_of_the_current_folder_need_not_be_named(two: Path) -> None:
    """Where several are read, it is the one in whose folder the user stands; elsewhere the answer lists them."""
    for org_id in ("shop", "kiosk"):
        for folder in (two / org_id, two / org_id / "roles"):
            assert f"({org_id}), 3 roles" in run("graph", cwd=folder).stdout
    done = run("can", "role:dev", "use", "tool:memory_load", cwd=two)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: there are 2 organizations and none of them is the active one\n"
        "help: name one of `shop`, `kiosk`, or set `active` in orgkernel.toml\n"
    )
    write_tree(two, {"orgkernel.toml": 'paths = ["shop", "kiosk"]\nactive = "kiosk"\n'})
    assert "(kiosk)" in run("graph", cwd=two / "shop").stdout


@pytest.mark.parametrize(
    ("command", "help"),
    [("chekc", "did you mean `check`?"), ("xyz", "list all commands with `orgkernel --help`")],
)
def test_an_unknown_command_gets_the_nearest_one(tmp_path: Path, command: str, help: str) -> None:
    """Or the place where all are listed."""
    done = run(command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"error: there is no command `{command}`\nhelp: {help}\n")


def test_a_sentence_is_routed_by_its_domain(shop: Path) -> None:
    """`dispatch` takes a domain. For a sentence it names the option that takes one."""
    done = run("dispatch", "fix the login bug", cwd=shop)
    assert done.stderr == (
        "help: this is a sentence, and DOMAIN is one word; ask `orgkernel dispatch --text SENTENCE`\n"
    )
    assert "no catalog declares domain `hm hm`" in run("dispatch", "hm hm", cwd=shop).stdout
    assert "did you mean `codegen`?" in run("dispatch", "codgen", cwd=shop).stdout


@pytest.mark.parametrize("name", ["Bash", "bash"])
def test_a_tool_is_known_by_its_names_in_other_runtimes(shop: Path, name: str) -> None:
    """A profile or a question with a tool name of Claude Code gets a suggestion with orgkernel's name."""
    help = f"did you mean `code_execution_tool`, which another runtime calls `{name}`?"
    assert help in run("can", "role:dev", "use", f"tool:{name}", cwd=shop).stdout
    write_tree(shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("code_execution_tool", name)})
    assert f"help: {help}" in run("check", cwd=shop).stdout


def test_a_renamed_role_suggests_its_profile(shop: Path) -> None:
    """One role without a profile and one profile without a role: probably the same."""
    write_tree(shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("role_id: ops", "role_id: caretaker")})
    done = run("check", cwd=shop)
    assert (
        "help: did you rename it? `roles/ops.yaml` declares `caretaker`, which no organization includes"
        in done.stdout
    )


def test_a_template_gets_an_id(tmp_path: Path) -> None:
    """Also in its cases, which still hold; without a folder, the folder has the name of the id."""
    assert run("new", "--template", "software_dev", "--id", "acme", cwd=tmp_path).returncode == 0
    assert "(acme), 8 roles" in run("graph", cwd=tmp_path / "acme").stdout
    assert run("test", "cases.yaml", cwd=tmp_path / "acme").returncode == 0
    assert run("check", "--fail-on", "info", cwd=tmp_path / "acme").returncode == 0
    done = run("new", "x", "--id", "not an id", cwd=tmp_path)
    assert (done.returncode, "`not an id` is not an id" in done.stderr) == (2, True)
    assert not (tmp_path / "x").exists()


def test_a_tool_and_a_domain_are_added_and_used(tmp_path: Path) -> None:
    """Each in a catalog beside the organization, which grows with the second one; nothing else changes."""
    copy_template(tmp_path, "blank")
    for what, ids, part in (
        ("tool", ("jira", "slack"), "tools"),
        ("domain", ("selling", "buying"), "domains"),
    ):
        for each in ids:
            done = run("new", what, each, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (0, f"{part}.yaml\n")
        text = (tmp_path / f"{part}.yaml").read_text(encoding="utf-8")
        assert text.index(f"  {ids[0]}:") < text.index(f"  {ids[1]}:")
        again = run("new", what, ids[0], cwd=tmp_path)
        assert (again.returncode, f"{what} `{ids[0]}` is already declared" in again.stderr) == (2, True)
    co = tmp_path / "roles" / "co.yaml"
    co.write_text(
        co.read_text(encoding="utf-8").replace("- codegen", "- codegen\n    - selling\n    - buying"),
        encoding="utf-8",
    )
    assert run("dispatch", "selling", cwd=tmp_path).stdout.startswith("selling → co")
    assert run("can", "role:co", "use", "tool:jira", cwd=tmp_path).returncode == 1


def test_standard_input_is_checked(shop: Path) -> None:
    """An editor has no file yet: the document is checked by itself, under its own name."""
    for text, code, out in (
        (SHOP["roles/dev.yaml"], 0, ""),
        ("role_type: specialst\n" + SHOP["roles/dev.yaml"], 1, "<stdin>:1:12: error[ORG104]"),
        ("a: [", 1, "<stdin>:1:"),
    ):
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        with mock.patch.object(sys, "stdin", stdin):
            done = run("check", "-", "--format", "concise", cwd=shop)
        assert (done.returncode, done.stdout[: len(out)]) == (code, out), done.stderr
    assert run("check", "-", ".", cwd=shop).returncode == 2


def complete(words: str, cwd: Path) -> list[str]:
    """What the shell is told for a command line whose last word is being typed."""
    env = {"_ORGKERNEL_COMPLETE": "zsh_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = run(cwd=cwd, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()[1::3]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("orgkernel di", ["diff", "dispatch"]),
        ("orgkernel manifest d", ["dev"]),
        ("orgkernel can role:d", ["role:dev"]),
        ("orgkernel can role:dev use tool:memory_l", ["tool:memory_load"]),
        ("orgkernel graph --org s", ["shop"]),
        ("orgkernel new x --template b", ["blank"]),
        ("orgkernel rule ORG21", [f"ORG2{number}" for number in range(10, 20)]),
    ],
)
def test_the_shell_completes_ids(shop: Path, words: str, expected: list[str]) -> None:
    """Of the documents that the command would read."""
    assert complete(words, shop) == expected


def test_the_shell_completes_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    """Without an error on the line that is being typed."""
    assert complete("orgkernel manifest ", tmp_path) == []


def on_a_terminal(*arguments: str, cwd: Path, columns: int, env: dict[str, str]) -> str:
    """What a terminal of so many columns shows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI")}
        os.execve(ORGKERNEL, [ORGKERNEL, *arguments], kept | {"TERM": "xterm", "COLUMNS": str(columns)} | env)
    shown = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError as error:
            assert error.errno == errno.EIO  # noqa: PT017
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_has_colors_unless_its_user_wants_none(shop: Path) -> None:
    """Findings and outcomes stand out; a pipe and NO_COLOR get none."""
    question = ("can", "role:ops", "use", "tool:memory_load")
    assert on_a_terminal(*question, cwd=shop, columns=80, env={}).startswith(
        "\x1b[31m\x1b[1mdeny\x1b[0m: role:ops"
    )
    assert on_a_terminal(*question, cwd=shop, columns=80, env={"NO_COLOR": "1"}).startswith("deny: role:ops")
    write_tree(shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("docker_ops", "docker_op")})
    assert "\x1b[31m\x1b[1merror[ORG301]\x1b[0m unknown-domain" in on_a_terminal(
        "check", cwd=shop, columns=80, env={}
    )
    assert "\x1b" not in run("check", cwd=shop).stdout


def test_tables_are_as_wide_as_the_terminal_and_break_no_path(tmp_path: Path) -> None:
    """A narrow terminal breaks the other columns; a wide one breaks nothing."""
    deep = tmp_path / "/".join(["folder_with_a_long_name"] * 3)
    copy_template(deep, "software_dev")
    for columns in (60, 200):
        shown = on_a_terminal(
            "manifest",
            "bugfix_specialist",
            "--path",
            str(deep),
            cwd=tmp_path,
            columns=columns,
            env={"NO_COLOR": "1"},
        )
        lines = shown.splitlines()
        assert any(line.endswith("roles/bugfix_specialist.yaml:13") for line in lines)
        assert max(map(len, lines[3:-2])) <= max(columns, 100)
