"""The hook of file owners without the libraries of the full program: it answers what the full program answers, or not at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import orgkernel
from orgkernel.decisions.ownership.owners import build_claimed_work
from orgkernel.engines import SOME
from orgkernel.errors import UsageError
from orgkernel.project.hooks.owned_files import write_owned_files
from orgkernel.project.hooks.quick_answers import OWNED_FILES, read_current
from orgkernel.project.hooks.write_decision import decide_write, pack_rules, render_answer, unpack_rules
from orgkernel.shell.check import check_writes
from tests.cli.test_claude_code_hook import AgentProject
from tests.support.in_process import run_here
from tests.support.sampling import sample_every
from tests.support.trees import REPOSITORY
from tests.support.yaml_text import read_yaml_file

PACKAGE = Path(orgkernel.__file__).parent
SCRIPT = PACKAGE / "project/hooks/write_hook.py"
CORPUS = REPOSITORY / "tests/decisions/command_corpus"
ORDINARY = [
    "git commit -m 'Say what changed'", "npm test", "pytest -q", "git push", "rm -rf src/a/build", "rm -rf build", "ls -la | grep py | wc -l",
    "cd src && make", "cat <<'EOF' > src/a/x.py\nprint(1)\nEOF", "cat <<EOF > src/b/x.py\n$(date)\nEOF", "echo x >> src/a/one.py", "git push --force",
    "npm install left-pad", "docker compose up -d", "python -m venv .venv", "sed -i s/a/b/ src/a/one.py", "rm -rf /srv/data", "git status",
    "psql -c 'drop table x'", "black src/b", "kill -9 1", "find . -name '*.pyc' -delete", "echo $HOME", "unheard-of --force",
]  # fmt: skip
READING = [
    "ls -la src", "git status", "git log --oneline -5", "git diff HEAD", "grep -rn 'x' src | head -5", "cat src/a/one.py", "pytest -q src", "find src -name x",
    "wc -l src/a/one.py 2>/dev/null", "rg -n x src 2>&1 | sort | uniq -c", "cd src && ls", "git -C src status", "sed -n 1,5p a", "ls *.py",
    "git add src/a/one.py", "git commit -m 'Say what changed'", "cargo build --release", "docker ps -a", "pip install -r requirements.txt", "npm ci",
]  # fmt: skip
CHANGING = [
    "git log --output=x", "git log -p --ext-diff", "sort -o src/b/x a", "sort -osrc/b/x a", "git branch x", "git branch -D x", "echo x > src/b/two.py", "ls >> a",
    "rg --pre sh x", "find . -delete", "find . -exec rm {} +", "less -o x a", "uniq a src/b/two.py", "tee a", "ls; rm -rf /srv", "ls | xargs rm", "ls $(rm x)",
    "cat <(rm x)", "env rm x", "ls && git push -f", "date -s x", "hostname x", "tree -o x", "xxd -r a b", "FOO=x ls", "git status;\nrm x", "grep x a &>src/b/two.py",
    "ls # '\nrm src/b/two.py #'", "cat <<E\n\tE\ncat <<'X'\nE\nrm a\nX\n", 'cat <<E\n$(echo "a)" ; rm a)\nE\n', 'echo "5$"; rm a; echo "b"', "echo \"$'$(rm a)'\"",
    "ls >&1x", "cat a 2>&1x", "ls >&12x", "export GIT_PAGER='rm a' && git log", "export PATH=/x", "declare -x GIT_EXTERNAL_DIFF=x && git diff", "test -v 'a[$(rm a)]'", "let 'a[$(rm a)]=1'", "printf -v 'a[$(rm a)]' x",
    "enable -f ./x ls", "hash -p ./x ls", "complete -C 'rm a' ls", "compgen -C 'rm a'", "bind -x '\"a\": rm a'", "op run -- rm a", "aws-vault exec x -- rm a", "kitty rm a",
    "gnome-terminal -- rm a", "jc rm a", "bat --pager='rm a' a", "less +!rm a", "man -C a ls", "tar xf a.tgz", "tar -C src -xzf x.tgz", "tar tf a --to-command='rm a'", "tar -I 'rm a' -tf a",
    "echo '!rm a' | dc", "echo '.shell rm a' | sqlite3 a", "psql -f a", "mysql < a", "git ls-remote 'ext::rm a'", "git ls-remote --upload-pack='rm a' .", "pytest --junitxml=src/b/two.py",
    "coverage html -d src/b", "shuf -o src/b/two.py a", "xlsx2csv a src/b/two.py", "jsonnet -m src/b a", "ag --pager='rm a' x", "go list -exec ./x", "at now < a", "perf script -s a",
    "unheard-of", "git unheard-of", "npm install x", "black src/b", "cp a b", "git -c core.pager=x log", "setenforce 0", "python -c 'x'", "ls > /dev/nullx",
    "echo 'drop table x' | psql shop", "psql -c 'drop table x'", "npm publish", "npm run deploy", "make deploy", "git commit -am x --exec y; rm x", "docker run x rm y",
    "kubectl delete pod x", "git push --force", "pip uninstall x", "systemctl stop auditd", "docker rm -f x", "cargo publish", "git stash drop", "git gc --prune=now",
]  # fmt: skip
STRANGE = [
    "rm -rf '\ue000'", "echo 'a\x00b'", "(" * 70 + "ls" + ")" * 70, "x=1; " * 3000, "echo \ud800", "if then fi <<<<", "ls *.py src/{a,b}/*", "echo ü > src/a/ü.py",
    "tee src/a/package.json", "echo '{}' > package.json", "cp a src/a/.env", "ln -s /etc src/a/out && rm -r src/a/out", "", " ", "#", "\n",
]  # fmt: skip
EDITS = [
    {"tool_name": tool, "tool_input": {"file_path": path, **given}}
    for tool, given in (
        ("Write", {"content": "{}"}), ("Edit", {"old_string": "1", "new_string": "2"}), ("MultiEdit", {"edits": [{"old_string": "1", "new_string": "2"}]}),
        ("NotebookEdit", {}), ("Read", {}), ("", {}),
    )
    for path in (
        "src/a/one.py", "src/b/two.py", "src/A/one.py", "src/a/../b/two.py", "../x", "/etc/passwd", "package.json", "src/a/package.json", "src/a/.env",
        "src/a/pyproject.toml", "src/auth/login.py", ".orgkernel/brief.yaml", ".git/config", "src/a/migrations/1.py", "", "src/a\0", "src/a/ü.py", "src/a",
    )
]  # fmt: skip


def read_corpora() -> Iterator[str]:
    """The commands of every corpus, of every label, except those whose answers depend on what lies in `/tmp`."""
    for path in sorted(CORPUS.glob("*.yaml")):
        yield from (each for each in _list_commands(read_yaml_file(path)) if not _looks_into_tmp(each))


def _looks_into_tmp(command: str) -> bool:
    """Whether the answer depends on the names in `/tmp`, which other processes change between the two answers.

    `/tmp/*` stands for them, and a secret file among them is a reason to deny a program that reads the whole folder.
    """
    return "/tmp" in command and ("*" in command or "/tmp" in check_writes(command)[0].opened_trees)


def _list_commands(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _list_commands(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_commands(each)


def build_call(project: AgentProject, call: Mapping[str, Any]) -> dict[str, Any]:
    return {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(project.folder), **call}


def build_command(project: AgentProject, command: str) -> dict[str, Any]:
    return build_call(project, {"tool_name": "Bash", "tool_input": {"command": command}})


def answer_lightly(project: AgentProject, calls: list[dict[str, Any]]) -> list[str | None]:
    """The answers of the light start, in one process."""
    lines = "".join(json.dumps(each) + "\n" for each in calls)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(REPOSITORY / "tests/support/light_start.py"), str(PACKAGE), str(project.folder)],
        input=lines, capture_output=True, text=True, cwd="/", env=_clean_environment(), check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(calls)
    return answers


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ORGKERNEL")}


def answer_fully(project: AgentProject, call: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The answer of the full code to the rules that the hook wrote down."""
    monkeypatch.chdir(project.folder)
    root = str(project.folder)
    values = json.loads((project.folder / OWNED_FILES).read_text(encoding="utf-8"))["rules"]
    try:
        return render_answer(decide_write(call, root, unpack_rules(values)))
    except UsageError:
        return None  # the full program makes a question of it


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> AgentProject:
    """A project whose rules were written down by the full program."""
    project = AgentProject(tmp_path_factory.mktemp("light"))
    (project.folder / "src/a/package.json").write_text('{"dependencies": {}}', encoding="utf-8")
    (project.folder / "src/a/pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (project.folder / "acme/programs.yaml").write_text(
        "_schema: orgkernel:command_catalog\nprograms:\n  shopctl: {effect: unknown, subcommands: [{names: [show], effect: reads}]}\n",
        encoding="utf-8",
    )
    assert project.writes("src/a/one.py", content="")[0] == "allow"
    return project


def compare(
    project: AgentProject, calls: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """Assert that both answer the same. Returns the calls that the light start leaves to the full program."""
    left, different = [], []
    for call, answer in zip(calls, answer_lightly(project, calls), strict=True):
        if answer is None:
            left.append(call)
            continue
        full = answer_fully(project, call, monkeypatch)
        if (json.loads(answer) if answer else {}) != full:
            different.append((call["tool_input"], answer, full))
    assert different == []
    return left


def test_all_corpora_are_answered_alike(ruled: AgentProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Destructive, harmless and borderline commands, and disguises: every answer, with its text, is that of the full code."""
    commands = dict.fromkeys(
        [*read_corpora(), *READING, *CHANGING, *ORDINARY, "shopctl show", "shopctl drop", "git shopctl"]
    )
    assert len(commands) > 1_400
    left = compare(ruled, [build_command(ruled, each) for each in commands], monkeypatch)
    assert [each["tool_input"]["command"] for each in left] == []


def test_edits_and_strange_commands_are_answered_alike_or_not_at_all(
    ruled: AgentProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the light start cannot read, it leaves."""
    left = compare(ruled, [build_call(ruled, each) for each in EDITS], monkeypatch)
    assert {each["tool_name"] for each in left} <= {"", "Read", "NotebookEdit", *_list_unreadable(left)}
    compare(ruled, [build_command(ruled, each) for each in STRANGE], monkeypatch)


def _list_unreadable(calls: list[dict[str, Any]]) -> set[str]:
    """The tools of calls without a path, and of manifests that only the full program reads."""
    paths = ("", "src/a\0", "src/a/pyproject.toml", "src/a/package.json", "package.json")
    return {each["tool_name"] for each in calls if each["tool_input"]["file_path"] in paths}


@pytest.mark.parametrize("command", sample_every(ORDINARY, 4))
def test_the_script_answers_like_the_full_program(ruled: AgentProject, command: str) -> None:
    """As processes: with the light start and without it, the same comes out."""
    given = json.dumps(build_command(ruled, command)).encode()
    printed = [run_script(ruled, given, off) for off in ("", "light_start")]
    assert printed[0] == printed[1]


def test_the_rules_are_those_of_the_full_program(ruled: AgentProject) -> None:
    """Written down and read again, with the claim of another worker, they say the same."""
    values = json.loads((ruled.folder / OWNED_FILES).read_text(encoding="utf-8"))["rules"]
    rules = unpack_rules(values)
    assert rules.workers[0].brief.files_owned == ("src/a/**", "package.json", "src/auth/**", ".orgkernel/**")
    assert "shopctl" in rules.programs.own
    assert rules.sacred.scopes
    more = rules._replace(workers=(*rules.workers, build_claimed_work("agent:b (claim 1 of x)", [])))
    assert json.loads(json.dumps(pack_rules(unpack_rules(json.loads(json.dumps(pack_rules(more))))))) == (
        json.loads(json.dumps(pack_rules(more)))
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-40],
        lambda content: content.replace(b"src/a/**", b"src/b/**"),
        lambda content: content.replace(b'"rules"', b'"rulez"'),
        lambda content: b"{}",
        lambda content: b"\xff" + content,
        lambda content: b"[" * 100_000,
        lambda content: content.replace(b'{"digest": "', b'{"digest": "0', 1),
    ],
)
def test_damaged_rules_decide_nothing(ruled: AgentProject, damage: Any) -> None:
    """A file that is not what was written leaves every call to the full program."""
    path = ruled.folder / OWNED_FILES
    content = path.read_bytes()
    calls = [build_command(ruled, "ls"), build_call(ruled, EDITS[0])]
    assert answer_lightly(ruled, calls)[0] == ""
    path.write_bytes(damage(content))
    try:
        assert answer_lightly(ruled, calls) == [None, None]
    finally:
        path.write_bytes(content)


def test_rules_with_a_true_digest_and_wrong_values_decide_nothing(
    ruled: AgentProject, tmp_path: Path
) -> None:
    """Values of another version, or of another time, are not used."""
    folder = tmp_path / "project"
    (folder / ".orgkernel").mkdir(parents=True)
    root = str(folder)
    values = json.loads((ruled.folder / OWNED_FILES).read_text(encoding="utf-8"))["rules"]
    other = AgentProject.__new__(AgentProject)
    other.folder = folder
    call = [build_command(other, "ls")]
    write_owned_files(root, ["src/**"], [], [], values)
    assert answer_lightly(other, call) == [""]
    for wrong in (
        None,
        {},
        {**values, "workers": []},
        {**values, "workers": [["x", ["y"]]]},
        {**values, "scopes": 5},
    ):
        write_owned_files(root, ["src/**"], [], [], wrong)
        assert answer_lightly(other, call) == [None], wrong
    write_owned_files(root, ["src/**"], [], [], values, until=0.0)
    assert read_current(root) is None
    assert answer_lightly(other, call) == [None]


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"tool_name": "Bash"}',
        b'{"tool_name": "Bash", "tool_input": {"command": 5}}',
        b'{"tool_name": "Bash", "tool_input": {"command": "echo \\ud800"}}',
        b'{"tool_name": "Bash", "tool_input": {"command": "ls", "x": NaN}}',
        b'\xef\xbb\xbf{"tool_name": "Bash", "tool_input": {"command": "ls"}}',
    ],
)
def test_calls_that_cannot_be_read_are_questions(ruled: AgentProject, given: bytes) -> None:
    """The light start leaves them to the full program, which asks a person."""
    printed = [run_script(ruled, given, off) for off in ("", "light_start")]
    assert printed[0] == printed[1]
    assert json.loads(printed[0])["hookSpecificOutput"]["permissionDecision"] == "ask"


def run_script(project: AgentProject, given: bytes, off: str, more: Mapping[str, str] | None = None) -> bytes:
    """What the script of the hook prints, with an engine or without it."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT)], input=given, capture_output=True, check=True, cwd=project.folder,
        env={**_clean_environment(), "CLAUDE_PROJECT_DIR": str(project.folder), SOME: off, **(more or {})},
    )  # fmt: skip
    return done.stdout


STAND_INS = """
import os, sys
package = sys.argv[1]
for name in ("orgkernel", "orgkernel.project", "orgkernel.project.hooks"):
    module = sys.modules[name] = type(sys)(name)
    module.__path__ = [os.path.join(package, *name.split(".")[1:])]
if sys.argv[2] == "light":
    from orgkernel.project.hooks.engine.stand_ins import install
    install(package)
    import typing, dataclasses, msgspec
    assert not hasattr(typing, "__file__") and not hasattr(dataclasses, "__file__") and not hasattr(msgspec, "__file__")
from typing import NamedTuple
from dataclasses import dataclass, field
import msgspec
from msgspec.structs import replace
class Pair(NamedTuple):
    one: int
    two: str = "x"
    @property
    def more(self):
        return self.one + 1
class Base(msgspec.Struct, frozen=True, kw_only=True):
    one: int
    two: tuple = ()
class Below(Base, frozen=True, kw_only=True):
    three: str
@dataclass(slots=True)
class Kept:
    one: int
    two: list = field(default_factory=list)
below = Below(one=1, three="x")
print([
    Pair(1) == (1, "x"), Pair(two="y", one=2).more, Pair(1)._replace(two="z").two, Pair._fields, hash(Pair(1)) == hash((1, "x")),
    below == Below(one=1, two=(), three="x"), below == Base(one=1), hash(below) == hash(Below(one=1, three="x")), replace(below, one=2).one,
    below.two, Kept(1) == Kept(1, []), Kept(1).two is Kept(1).two, len({below, Below(one=1, three="x")}),
])
for make in (lambda: Pair(), lambda: Pair(1, "x", 2), lambda: Pair(1, three=2), lambda: Base(), lambda: Base(one=1, four=2), lambda: Kept(), lambda: Kept(1, one=2)):
    try:
        print(make())
    except (TypeError, KeyError):
        print("refused")
"""


def test_stand_ins_make_the_records_that_the_libraries_make(tmp_path: Path) -> None:
    """Defaults, inheritance, equality, copies, and values that a record refuses."""
    script = tmp_path / "records.py"
    script.write_text(f"from __future__ import annotations\n{STAND_INS}", encoding="utf-8")
    light, full = (
        subprocess.run(
            [sys.executable, *options, str(script), str(PACKAGE), kind], capture_output=True, text=True, check=True
        ).stdout
        for options, kind in ((("-I", "-S"), "light"), (("-P",), "full"))
    )  # fmt: skip
    assert light == full
    assert "refused" in light


def test_the_light_start_imports_no_library() -> None:
    """Of what is installed, only the two modules in C of the parser are loaded."""
    names = set(list_imports("git commit -m x"))
    assert not names & {
        "typing",
        "dataclasses",
        "msgspec",
        "pydantic",
        "yaml",
        "networkx",
        "json",
        "ast",
        "inspect",
    }
    assert "orgkernel.shell.reader" in names
    assert "orgkernel.shell.readers.databases" not in names


def list_imports(command: str) -> list[str]:
    """The modules that a process of the hook imports for a command, by its own rules."""
    with TemporaryDirectory() as folder:
        project = AgentProject(Path(folder))
        assert project.writes("src/a/one.py", content="")[0] == "allow"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "importtime", str(SCRIPT)], input=json.dumps(build_command(project, command)),
            text=True, capture_output=True, check=True, cwd=project.folder,
            env={**_clean_environment(), "CLAUDE_PROJECT_DIR": str(project.folder)},
        )  # fmt: skip
    assert done.stdout == ""
    return [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]


def test_claims_count_like_briefs_until_one_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder of claims gets the same answers, and a new claim makes the rules invalid at once."""
    project = AgentProject(tmp_path)
    root = str(project.folder)
    shutil.rmtree(project.folder / "acme")
    (project.folder / ".orgkernel/brief.yaml").unlink()
    for arguments in (
        ("new", "acme", "--template", "household"),
        ("claim", "add", "household", "agent:clerk", "src/a"),
        ("claim", "add", "household", "agent:butler", "docs"),
    ):
        done = run_here(*arguments, cwd=project.folder)
        assert done.returncode == 0, done.stderr
    holder = {"ORGKERNEL_HOLDER": "agent:clerk"}
    monkeypatch.setenv("ORGKERNEL_HOLDER", "agent:clerk")
    calls = [
        build_command(project, f"echo x > {path}") for path in ("src/a/new.py", "src/b/new.py", "docs/x.md")
    ]
    light, full = (
        [run_script(project, json.dumps(call).encode(), off, holder) for call in (calls[0], *calls)]
        for off in ("", "light_start")
    )
    assert light == full
    assert [b"FILE_OWNED_BY_OTHER" in each for each in light] == [False, False, False, True]
    done = run_here("claim", "add", "household", "agent:butler", "web", "--seconds", "50", cwd=project.folder)
    assert done.returncode == 0, done.stderr
    soon = time.time() + 50
    assert read_current(root) is None
    run_script(project, json.dumps(calls[0]).encode(), "", holder)
    assert json.loads((project.folder / OWNED_FILES).read_text(encoding="utf-8"))["until"] <= soon
