"""The command as a process: help, exit codes, closed pipes, hostile input; never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from click import Context

from orgkernel.cli import cli
from tests.cli.running import ORGKERNEL, SHOP
from tests.cli.running import run as run_process
from tests.support.in_process import run_here as run
from tests.support.sampling import sample
from tests.support.trees import write_tree

COMMANDS = tuple(cli.list_commands(Context(cli)))
# The exit codes that other tools rely on.
PROMISED = {"new", "check", "rule", "schema", "dispatch", "manifest", "graph", "test", "serve"}
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def test_help_lists_every_command_and_what_it_is_for(tmp_path: Path) -> None:
    """One line each, also by `-h` and without arguments."""
    done = run_process("--help", cwd=tmp_path)
    assert done.returncode == 0
    listed = re.findall(r"^  (\w[\w-]*)  +\S.*\.$", done.stdout, re.MULTILINE)
    assert listed == list(COMMANDS)
    assert set(listed) >= PROMISED
    assert run_process("-h", cwd=tmp_path).stdout == done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_is_readable(tmp_path: Path, command: str) -> None:
    """It fits a terminal, explains every option and shows no markup."""
    done = run(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Usage: orgkernel {command} [OPTIONS]")
    assert max(map(len, lines)) <= 80
    assert "\\b" not in done.stdout
    assert lines[2].strip().endswith((".", ",")) or lines[3].strip()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("  -"):
            assert re.search(r"\S {2,}\S", line) or below.startswith(" " * 20), f"{line} is not explained"


def test_the_version_is_printed(tmp_path: Path) -> None:
    """Name and number."""
    assert re.fullmatch(r"orgkernel \d+\.\d+\.\d+\n", run_process("--version", cwd=tmp_path).stdout)


@pytest.mark.parametrize(
    "arguments",
    [("--nosuch",), ("check", "--nosuch"), ("check", "--format", "xml"), ("check", "--fail-on", "never"),
     ("rule", "a", "b"), ("serve", "--port", "99999"), ("serve", "--port", "x")],
)  # fmt: skip
def test_wrong_usage_is_exit_2_on_stderr(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """1 is for findings only."""
    done = run_process(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    first, *others = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert [line[:6] for line in others] == ["help: "]


def closing_early(arguments: list[str], folder: Path) -> tuple[int, bytes, str]:
    """Run with a reader that closes stdout after its first line."""
    with subprocess.Popen(
        [ORGKERNEL, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().decode()
    return process.returncode, first, said


@pytest.mark.parametrize("arguments", [["manifest", "--org", "sigint_alpha", "--format", "yaml"], ["schema", "organization"]])  # fmt: skip
def test_a_reader_that_stops_reading_is_not_an_error(tmp_path: Path, arguments: list[str]) -> None:
    """`| head -1`: quiet, no traceback, and not 1, which means findings."""
    code, first, said = closing_early(arguments, tmp_path)
    assert first
    assert code in (0, 141)
    assert "rror" not in said
    assert "BrokenPipe" not in said


def test_a_closed_pipe_is_not_an_error(shop: Path) -> None:
    """Enough of them that the pipe is full when it is closed."""
    roles = {
        f"roles/r{number}.yaml": f"_schema: orgkernel:role_profile\nrole_id: [{number}\n"
        for number in range(600)
    }
    write_tree(shop, roles)
    code, first, said = closing_early(["check"], shop)
    assert first.startswith(b"roles/")
    assert code in (1, 141)
    assert "BrokenPipe" not in said


def test_a_full_disk_is_said_and_exit_2(tmp_path: Path) -> None:
    """Not a bug of ours, and not 1."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ORGKERNEL, "rule"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_a_bug_of_ours_is_exit_2_without_a_traceback(tmp_path: Path) -> None:
    """An internal error exits with 2, and shows a traceback only with `ORGKERNEL_DEBUG=1`."""
    (tmp_path / "sitecustomize.py").write_text(
        "import orgkernel.rules.pages as p\ndef build_all_pages(): raise RuntimeError('boom\\x1b[31m')\np.build_all_pages = build_all_pages\n"
    )
    env = {"PYTHONPATH": str(tmp_path)}
    done = run_process("rule", cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "internal error: RuntimeError: boom\\x1b[31m\nhelp: this is a bug in orgkernel; set ORGKERNEL_DEBUG=1 to see the traceback, and report it\n"
    )
    with pytest.raises(AssertionError, match="Traceback"):
        run_process("rule", cwd=tmp_path, env=env | {"ORGKERNEL_DEBUG": "1"})


HOSTILE_WORDS = (
    "../../etc/passwd", "a/b", "..", "", " ", "é", "日本語", "a\nb", "\x1b[31mred", "\u202egnp", "x" * 10_000,
    "{}", "%s", "`id`", "$(id)", "-", "active", "null", "🙂" * 3_000,
)  # fmt: skip


@pytest.mark.parametrize("word", HOSTILE_WORDS, ids=[ascii(word[:16]) for word in HOSTILE_WORDS])
def test_hostile_ids_are_answered_in_a_line_or_two(shop: Path, word: str) -> None:
    """As a domain: `not_applicable`. As an organization or a role: exit 2. Never a traceback or a raw escape."""
    asked = run("dispatch", "--org", "shop", "--format", "json", "--", word, cwd=shop)
    assert asked.returncode == 0
    assert json.loads(asked.stdout)["outcome"] == "not_applicable"
    answers = [asked, run("dispatch", "--org", "shop", "--", word, cwd=shop)]
    for arguments in (("dispatch", "codegen", f"--org={word}"), ("manifest", "--org", "shop", "--", word)):
        done = run(*arguments, cwd=shop)
        if word != "active" or "--" in arguments:
            assert (done.returncode, done.stdout) == (2, "")
            assert len(done.stderr) < 400
        answers.append(done)
    for done in answers:
        assert not RAW.search(done.stdout + done.stderr)


def test_bytes_that_are_no_text_are_answered(shop: Path) -> None:
    """Arguments need not be UTF-8."""
    for arguments in ([b"dispatch", b"\xff\xfe", b"--org", b"shop"], [b"check", b"\xff"], [b"rule", b"\xff"]):
        done = subprocess.run([ORGKERNEL.encode(), *arguments], cwd=shop, capture_output=True, check=False)
        assert done.returncode in (0, 2)
        assert b"Traceback" not in done.stderr
        assert b"internal error" not in done.stderr


HOSTILE_FILES = {
    "binary": bytes(range(256)) * 40,
    "nul": b"_schema: orgkernel:role_profile\x00\n",
    "empty": b"",
    "utf16": "_schema: orgkernel:role_profile\nrole_id: a\n".encode("utf-16"),
    "deep": b"_schema: orgkernel:role_profile\nx: " + b"[" * 20_000,
    "long_line": b"_schema: orgkernel:role_profile\nrole_id: " + b"x" * 200_000 + b"\n",
    "escape": b'_schema: orgkernel:role_profile\nrole_id: "\\e[31m\\x9bred\\u202e"\n',
    "keys": b'_schema: orgkernel:role_profile\nrole_id: a\n"\\e]0;title\\a": 1\n"{0.__class__}": 2\n',
    "bomb": b"_schema: orgkernel:role_profile\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (b, b, b",".join([b"*%c" % a] * 9))
        for a, b in zip(b"abcdefghi", b"bcdefghij", strict=True)
    ),
    "python": b"_schema: !!python/object/apply:os.system [id]\n",
}


@pytest.mark.parametrize("suffix", ["yaml", "json"])
@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_files_are_findings(shop: Path, name: str, suffix: str) -> None:
    """One clear finding or more in that file, exit 1, in every format, with nothing raw on the terminal."""
    (shop / "roles" / f"hostile.{suffix}").write_bytes(HOSTILE_FILES[name])
    done = run("check", "--fail-on", "info", "--format", "json", cwd=shop)
    assert done.returncode == 1
    assert {found["file"] for found in json.loads(done.stdout)} == {f"roles/hostile.{suffix}"}
    for form in ("full", "json"):
        done = run("check", "--fail-on", "info", "--format", form, cwd=shop)
        assert done.returncode == 1
        assert not RAW.search(done.stdout + done.stderr)


def test_names_of_roles_and_files_do_not_drive_the_terminal(shop: Path) -> None:
    """Names and descriptions may hold anything; every way to show them writes control characters out."""
    name = '"\\e[31m\\x9b1mRed\\a\\b\\r\\n\\u2028\\u202e"'
    write_tree(
        shop,
        {"roles/dev.yaml": SHOP["roles/dev.yaml"].replace("Writes code.", name) + f"role_name: {name}\n"},
    )
    (shop / "roles" / "ops.yaml").rename(shop / "roles" / "o\x1b[31mps.yaml")
    for arguments in (
        ("check", "--fail-on", "info"),
        ("dispatch", "codegen", "--org", "shop"),
        ("dispatch", "codegen", "--org", "shop", "--format", "json"),
        *(("manifest", "dev", "--org", "shop", "--format", form) for form in ("table", "json", "yaml")),
        *(("manifest", "--org", "shop", "--format", form) for form in ("table", "json", "yaml")),
        *(("graph", "--org", "shop", "--format", form) for form in ("tree", "mermaid", "dot", "json")),
    ):
        done = run(*arguments, cwd=shop)
        assert done.returncode == 0, done.stderr
        assert not RAW.search(done.stdout + done.stderr), arguments
        assert "\u202e" not in done.stdout + done.stderr


def test_a_file_whose_name_is_no_text_is_read(shop: Path) -> None:
    """File systems allow names that are not UTF-8; answers about such a file are still text."""
    os.rename(shop / "roles" / "ops.yaml", os.fsencode(shop / "roles") + b"/\xff\xfe.yaml")
    assert run("check", "--fail-on", "info", cwd=shop).returncode == 0
    for arguments in (("manifest", "ops", "--org", "shop"), ("dispatch", "docker_ops", "--org", "shop")):
        for form in ("json", "table" if arguments[0] == "manifest" else "text"):
            done = run(*arguments, "--format", form, cwd=shop)
            assert (done.returncode, done.stderr) == (0, "")


def test_an_unreadable_file_whose_name_is_no_text_is_reported(shop: Path) -> None:
    """A file that cannot be read, and whose name is not UTF-8, is reported like any other, and kept in the cache."""
    with open(os.fsencode(shop / "roles") + b"/\xff\xfe.yaml", "w") as file:
        file.write("_schema: orgkernel:role_profile\nrole_id: [a\n")
    for _ in range(2):
        done = run("check", "--format", "concise", cwd=shop)
        assert done.returncode == 1
        assert done.stdout.startswith("roles/\\udcff\\udcfe.yaml:3:1: error[ORG005]")
        assert "internal error" not in done.stderr


def test_output_works_where_the_terminal_speaks_no_utf8(shop: Path) -> None:
    """JSON stays UTF-8; the rest writes out what cannot be shown."""
    env = {"PYTHONIOENCODING": "latin-1"}
    assert run_process("dispatch", "codegen", "--org", "shop", cwd=shop, env=env).stdout.startswith(
        "codegen \\u2192 dev (Dev)"
    )
    assert "\\u2514\\u2500\\u2500 co" in run_process("graph", "--org", "shop", cwd=shop, env=env).stdout
    write_tree(shop, {"roles/dev.yaml": SHOP["roles/dev.yaml"] + "role_name: Développeur\n"})
    answer = run_process("dispatch", "codegen", "--org", "shop", "--format", "json", cwd=shop, env=env)
    assert json.loads(answer.stdout)["role_name"] == "Développeur"


SAME = (
    ("check",), ("check", "--format", "json", "--fail-on", "info"), ("check", "gone"), ("check", "--shipped"),
    ("dispatch", "codegen", "--org", "shop"), ("dispatch", "osint", "--org", "shop", "--format", "json"),
    ("manifest", "--org", "shop", "--format", "yaml"), ("manifest", "dev", "--org", "shop"), ("manifest", "--org", "shp"),
    ("graph", "--org", "shop"), ("graph", "--org", "software_dev", "--format", "json"), ("rule", "ORG202"), ("schema",),
    ("test", "cases.yaml"), ("new", "."), ("new", "role", "dev", "--org", "shop"), ("nosuch",), ("check", "--format", "xml"),
)  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    sample((pytest.param(each, id=" ".join(each)) for each in SAME), lambda each: each.values[0][0]),
)
def test_a_process_of_its_own_says_the_same(shop: Path, arguments: tuple[str, ...]) -> None:
    """What is tested inside this process, for speed, holds for the console script: output, talk and exit code."""
    cases = "_schema: orgkernel:decision_cases\ncases: [{name: x, org: shop, dispatch: [{ask: {domain: osint}, outcome: role}]}]\n"
    write_tree(
        shop,
        {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("description", "descripton"), "cases.yaml": cases},
    )
    real, here = run_process(*arguments, cwd=shop), run(*arguments, cwd=shop)
    assert (real.returncode, real.stdout, real.stderr) == (here.returncode, here.stdout, here.stderr)


@pytest.mark.parametrize("arguments", [("new", "mine"), ("new", "role", "extra", "--org", "shop")])
def test_a_process_of_its_own_writes_what_it_says(shop: Path, arguments: tuple[str, ...]) -> None:
    """The commands that write, as their users run them; the result is clean."""
    assert run_process(*arguments, cwd=shop).returncode == 0
    assert run_process("check", "--fail-on", "info", cwd=shop).returncode == 0
