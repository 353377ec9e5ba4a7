"""Beginnings of commands: what may begin so is never missed, by what bash itself runs, and plain commands stay free."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orgkernel.runtime.commands import MAX_CHARACTERS, may_begin
from tests.support.patience import PATIENCE

BEGINNING = [
    "rm", "rm -rf x", "  rm x", "\trm", "rm\n", "RM x", "rmdir x", "rm;ls", "ls; rm x", "ls && rm x", "ls || rm x", "ls & rm x", "ls | rm x", "ls |& rm",
    "ls\nrm x", "/bin/rm x", "./rm x", "../bin/rm", "~/bin/rm x", "/usr/bin/../bin/rm", "//bin//rm", "/bin/rm/", "C:/x/rm",
    "\\rm x", "r\\m x", "r\\\nm x", "'rm' x", '"rm" x', "r'm' x", 'r"m" x', "''rm x", "$'rm' x", "rm'' x", "'/bin/rm' x",
    "$(rm x)", "ls $(rm x)", "`rm x`", "ls `rm`", "<(rm)", "ls <(rm x)", "(rm x)", "{ rm x; }", "$x", "$x y", "${x}", "a=rm; $a x", "a=r; ${a}m",
    "r{m,} x", "r*m", "r? x", "r[m] x", "/bin/r*", "!!", "!rm", "^a^rm", "=rm", "a=b rm x", "a='b' rm x", "time rm", "if true; then rm x; fi",
    "while rm; do ls; done", "! rm x", "command rm x", "builtin rm", "exec rm x", "env rm x", "env A=b rm x", "env -i rm", "env -S 'rm x'", "env '-Srm x'",
    "sudo rm x", "sudo -u a rm x", "doas rm", "nice -n 5 rm", "nohup rm x &", "timeout 5 rm x", "stdbuf -o0 rm", "setsid rm", "busybox rm", "watch rm x",
    "sh -c 'rm x'", "sh -c ls", "bash -c 'ls'", "bash a", "/bin/bash a", "bash5.1 a", "echo a | sh", "zsh", "dash -c a", "fish -c a", "eval ls", "eval 'r''m'",
    "source a", ". a", ". ./a", "ls; . a", "then . a", "alias a=b", "alias rm=ls", "xargs rm", "ls | xargs", "ls | xargs sudo", "ls | xargs -I{} {} x", "ls | xargs env A=b", "find . | parallel a", "fd a -x git",
    "find . -exec rm x +", "find . -exec rm {} +", "ssh a rm x", "ssh a 'rm x'", "ssh a 'r?'", "su -c 'rm x'", "su -c '/bin/r*'", "su -crm", "git rm x",
    "rm\rx", "rm\x00", "r\x00m", "ｒm x", "rm\u00a0x", "rm #x", "#rm", "trap rm EXIT", "trap 'rm x' EXIT", "coproc rm", "f() { rm; }", "python3 <<E\nrm\nE", "cat <<E | python3\nrm x\nE", "cat <<E\n$(rm x)\nE", "command . a",
    "echo ${ rm x; }", "echo ${| rm x; }", "cat <<EOF\na\\\nEOF\n", "cat <<$'E'\nE\nrm x\n$E\n", "echo '!rm x' | dc", "sqlite3 a '.shell rm x'", "psql -c '\\! rm x'",
    "git submodule foreach 'rm x'", "bat --pager='rm x' a", "jc 'rm' x", "complete -C 'rm x' ls", "bind -x '\"a\": rm x'", "echo 'os.system(\"rm x\")' | python3",
    "unset 'a[$(rm x)]'", "export GIT_PAGER='rm x'; git log", "export LESSOPEN=\"|r${x}m %s\"; less a", "echo 'rm x' | at now", "rm<a", "rm>a", "<a rm", ">a rm x", "2>&1 rm", "a" * (MAX_CHARACTERS + 1), "powershell a", "bash.exe a", "sudo $x", "find . -exec $x {} +", "nohup \"$x\"", "unheard-of $x",
]  # fmt: skip
FREE = [
    "", " ", "ls", "ls -la src", "git status", "git log --format=%h --no-merges", "git diff | cat", "git commit -m 'the form of it (now)'", "cat a > b 2>&1",
    "grep -rn 'r*m' src | head -5", 'grep "[r]m; x" a', "npm run build && npm test", "cd a; make", "python3 -m pytest -q tests/a.py::test_b", "docker run --rm x",
    "find . -name '*.py' -type f", "ls .", "git add .", "FOO=bar make", "FOO='a b' make", "echo alarm", "echo a-rm", "curl https://a.example/x?", "format x",
    "ls | xargs wc -l", "find . -name '*.py' | xargs -n 1 wc -l", "cat <<'E'\nrm x\nE", "git commit -m \"$(cat <<'E'\nWe rm what is old.\nE\n)\"", "ls *.md", "ls 'a'b",
    "'x'rm", "cat \"$file\"", "echo \"$HOME/rm\"", "mkdir -p build/{a,b}", "cp *.py out/", "head -5 $(git ls-files)", "wc -l src/**/*.ts", "echo $((1 + 2))",
    "grep -c '^$' a.txt", "git add src/*.py", "git commit -m 'say how to rm a file'", "for f in *.md; do wc -l \"$f\"; done", "test -f a && cat a",
    "ls # it's\nls # it's", "export PATH=\"$PATH:/a b\"; make", "test \"$x\" = 'a b[1]'", "echo 'a $b' | grep c", "echo \"5$\"; ls", "echo $((1<<2)); cat <<E\nls\nE",
    "./build.sh", "scripts/form.sh --now", "ssh a ls", "sed -n 1,5p a", "cp -r a b", "echo 'alarm'",
]  # fmt: skip


@pytest.mark.parametrize("command", BEGINNING)
def test_what_may_begin_so_is_found(command: str) -> None:
    """The words match anywhere in the command, in any spelling, and also if the command cannot be parsed."""
    assert may_begin(command, "rm")


@pytest.mark.parametrize("command", FREE)
def test_what_surely_does_not_begin_so_is_free(command: str) -> None:
    """What agents run all day is not taken for what it is not."""
    assert not may_begin(command, "rm")


@pytest.mark.parametrize(
    ("command", "beginning", "may"),
    [
        ("git push", "git push", True),
        ("git  push -f", "git push", True),
        ("git -C a push", "git push", True),
        ("git --no-pager push", "git push", True),
        ("git push-all", "git push", True),
        ("git status", "git push", False),
        ("push git", "git push", False),
        ("echo push && git log", "git push", False),
        ("gitx push", "git push", False),
        ("echo push | xargs git", "git push", True),
        ("rm /etc/passwd", "rm /etc", True),
        ("rm -f /etc/passwd", "rm /etc", True),
        ("rm ./etc", "rm /etc", True),
        ("rm a", "rm /etc", False),
        ("./scripts/deploy.sh", "./scripts/deploy", True),
        ("scripts/deploy", "./scripts/deploy", True),
        ("./scripts/build", "./scripts/deploy", False),
        ("npm run test:unit", "npm run test", True),
        ("npm run test:unit", "npm run test:u", True),
        ("npm run lint", "npm run test:unit", False),
        ("FOO=bar make", "FOO=bar make", True),
        ("make", "FOO=bar make", False),
        ("ls", "..", True),
        ("ls", "/", True),
        ("rm a", "rm ..", True),
    ],
)
def test_words_in_their_order(command: str, beginning: str, may: bool) -> None:
    """Other words may come between them, and the last may go on."""
    assert may_begin(command, beginning) is may


HIDDEN = [
    "ls # it's\nrm x # it's", "ls; # '\nrm x #'", "echo $(ls # '\nrm x #'\n)", "cat <<E\n\tE\ncat <<'X'\nE\nrm x\nX\n", "cat <<E\na\\\nE\ncat <<'X'\nE\nrm x\nX\n",
    'cat <<E\n$(echo "a)" ; rm x)\nE\n', "cat <<E\n$'$(rm x)'\nE\n", 'cat <<E\n$"$(rm x)"\nE\n', "(( a=1<<2 ))\nrm x\n2\n", "((\na=1<<2 ))\nrm x\n2 \n", 'echo "5$"; rm x; echo "b"',
    "echo \"$'$(rm x)'\"", "let 'a[$(rm x)]=1'", "test -v 'a[$(rm x)]'", "[ -v 'a[`rm x`]' ]", "declare 'a[$(rm x)]=1'", "printf -v 'a[$(rm x)]' x",
    "compgen -W '$(rm x)'", "compgen -C 'rm x'",
]  # fmt: skip


@pytest.mark.parametrize("command", HIDDEN)
def test_a_command_that_bash_runs_is_found(command: str, programs: Path, tmp_path: Path) -> None:
    """A command is found where bash reads quotes, comments, here-documents and subscripts in its own way."""
    assert any(line.startswith("rm") for line in _list_calls(command, programs, tmp_path))
    assert may_begin(command, "rm")


_PARTS = st.sampled_from(
    [
        "rm", "r", "m", "git", "push", "pu", "sh", "ls", "a", "x", "-x", "-c", "-S", "-I", "%", "=", " ", " ", " ", " ", ";", "|", "&&", "&", "\n", "'", "'", '"', '"',
        "\\", "$x", "x=", "a=rm", "$(", ")", "`", "{", ",", "}", "*", "?", "[r]m", "<", ">", "env ", "sudo ", "sh -c ", "eval ", "xargs ", "command ", "exec ", ". ",
        "alias ", "if true; then ", "; fi", "#", "!", "~", ".", "./", "/", "echo ", "echo rm | ", "printf push | ", "time ", "time -p ", "export ", "exit", "<<E", "<<-E", "<<'E'", "\nE\n", "\n\tE\n", "\\\n", "((", "))", "$((", "<<", '$"', "$'", "${ ", "# ", "let ", "test -v ", "a[", "]",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that write down how they were called."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("rm", "git", "push", "ls", "a", "x"):
        (folder / name).write_text(f'#!/bin/bash\nprintf "%s\\n" "{name} $*" >> "$LOG"\n')
        (folder / name).chmod(0o755)
    (folder / "sudo").write_text('#!/bin/bash\nexec "$@"\n')
    (folder / "sudo").chmod(0o755)
    for name, real in (("env", "env"), ("xargs", "xargs"), ("sh", "bash")):
        found = shutil.which(real)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(_PARTS, max_size=12))
def test_bash_runs_nothing_that_begins_as_a_command_surely_does_not(
    parts: list[str], programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever bash makes of a text, no program is called so if we say that none is."""
    command = "".join(parts)
    free = [each for each in ("rm", "git push") if not may_begin(command, each)]
    if not free or not command.strip():
        return
    for line in _list_calls(command, programs, tmp_path_factory.mktemp("run")):
        for each in free:
            assert line.split()[: len(each.split())] != each.split(), (command, line)


def _list_calls(command: str, programs: Path, folder: Path) -> list[str]:
    """The programs that bash starts for a command, with their words."""
    log = folder / "log"
    bash = shutil.which("bash")
    assert bash is not None
    subprocess.run(
        [bash, "-c", f"{command}\nwait"], cwd=folder, env={"PATH": str(programs), "LOG": str(log), "HOME": str(folder)}, check=False,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    return log.read_text().splitlines() if log.exists() else []
