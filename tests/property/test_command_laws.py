"""Laws of the recognizer of destructive commands: it always answers, soon, and no wrapping makes a command harmless."""

from __future__ import annotations

import shlex
import time
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.shell.check import check_command
from orgkernel.shell.ownership import Ground
from orgkernel.shell.reader import MAX_CHARACTERS

DESTRUCTIVE = st.sampled_from(
    [
        "rm -rf /srv",
        "git push -f origin main",
        "psql -c 'drop table x'",
        "kill -9 1",
        "crontab -r",
        "git reset --hard",
        "mkfs.ext4 /dev/sda",
    ]
)
HARMLESS = st.sampled_from(
    ["ls", "npm test", "git status", "true", "echo 'rm -rf /'", "X=1", "grep -r a src", "cd src"]
)
ATOMS = st.sampled_from(
    ["rm", "-rf", "/", "~", "$X", "${X}", "$(", ")", "`", "'", '"', "\\", "|", "||", "&", "&&", ";", ";;", "<", ">", "<<", "<<<", ">>", "<(", "{", "}", "(", ")", "[[", "]]", "((", "))", "if", "then", "fi", "for", "in", "do", "done", "while", "case\n", "", "", "", "esac", "function", "!", "#", "=", "a=b", "*", "?", "[a]", "{a,b}", "eval", "sh", "-c", "xargs", "find", ".", "-exec", "{}", "+", "\\;", "-delete", "sudo", "env", "git", "push", "-f", "psql", "drop", "table", "EOF\n", "", "", "", "<<EOF", "\n", "\t", "$'\\x41'", "echo", "printf", "%s", "cat", "-", "--", "--force", "ü", "\u200b"]
)  # fmt: skip
WRAPPERS = st.sampled_from(
    [
        "sudo {}", "env A=1 {}", "timeout 5 {}", "nohup nice -n 5 {}", "sh -c {q}", "bash -lc {q}", "eval {q}", "( {} )", "{{ {}; }}",
        "true && {}", "false || {}", "echo $({})", "if true; then {}; fi", "while true; do {}; done", "for i in 1 2; do {}; done",
        "f() {{ {}; }}; f", "echo {q} | sh", "sh <<'XYZ'\n{}\nXYZ", "cat <({})", "ssh host {q}", "{} > log.txt 2>&1", "{} | tee log.txt",
        "xargs -I% sh -c {q} < list.txt", "trap {q} EXIT", "time {}", "! {}", "x=`{}`", "case a in a) {};; esac", "watch {q}", "su -c {q}",
        "docker exec web sh -c {q}", "kubectl exec pod -- sh -c {q}", "git submodule foreach {q}", "X={q}; eval \"$X\"",
        "echo {q} > run.sh; bash run.sh", "bash <(echo {q})", "find . -name x -exec sh -c {q} \\;", "python3 -c {p}",
    ]
)  # fmt: skip


def wrap(wrapper: str, command: str) -> str:
    """A command inside another one."""
    code = f"import os; os.system({command!r})"
    return wrapper.format(command, q=shlex.quote(command), p=shlex.quote(code))


@settings(max_examples=60, deadline=None)
@given(st.text("abr -/$`'\"(){}[]|&;<>*?#!~=\\\n\t\0\x1b\x7f\ue000\u00fc\u202e\U0001f600", max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    """No text raises, and a text that is not a program that is known is not harmless without a reason."""
    found = check_command(text)
    assert (found.outcome == "destructive") == bool(found.operations)
    assert found.outcome != "harmless" or not found.unread


@settings(max_examples=250, deadline=None)
@given(st.lists(ATOMS, max_size=40), st.sampled_from([" ", ""]))
def test_pieces_of_shells_have_an_answer(atoms: list[str], between: str) -> None:
    """Whatever is put together from pieces of shells is answered within a bounded time, the same way twice."""
    command = between.join(atoms)
    start = time.process_time()
    found = check_command(command)
    assert time.process_time() - start < 3
    assert check_command(command) == found


@settings(max_examples=120, deadline=None)
@given(DESTRUCTIVE, st.lists(WRAPPERS, min_size=1, max_size=3))
def test_wrapping_makes_nothing_harmless(command: str, wrappers: list[str]) -> None:
    """A destructive command is not harmless inside any other, and found inside one."""
    wrapped = command
    for each in wrappers:
        wrapped = wrap(each, wrapped)
    found = check_command(wrapped)
    assert found.outcome != "harmless", wrapped
    if len(wrappers) == 1:
        assert found.outcome == "destructive", wrapped


@settings(max_examples=80, deadline=None)
@given(DESTRUCTIVE, st.lists(HARMLESS, max_size=4), st.lists(HARMLESS, max_size=4))
def test_company_hides_nothing(command: str, before: list[str], after: list[str]) -> None:
    """Harmless commands before and after it change nothing about a destructive one."""
    found = check_command("\n".join([*before, command, *after]))
    assert [each.id for each in found.operations] == [each.id for each in check_command(command).operations]


@settings(max_examples=60, deadline=None)
@given(st.lists(HARMLESS, min_size=1, max_size=4), WRAPPERS)
def test_harmless_commands_stay_harmless_together(commands: list[str], wrapper: str) -> None:
    """What is harmless is not destructive in company or inside a wrapper."""
    assert check_command(wrap(wrapper, "; ".join(commands))).outcome != "destructive"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["src", "build", "a/b", "../x", "/srv", "~", "."]),
    st.sampled_from([None, ("build/**",), ("a/**", "src")]),
)
def test_owning_more_never_adds_an_operation(target: str, own: tuple[str, ...] | None) -> None:
    """With another owned glob, no more is destructive than before."""
    less = check_command(f"rm -rf {target}", Ground("/work", own or ()))
    more = check_command(f"rm -rf {target}", Ground("/work", (*(own or ()), "dist/**")))
    assert len(more.operations) <= len(less.operations)


@pytest.mark.parametrize(
    "command",
    [
        "(" * 9_000, "$(" * 5_000, "'" * 9_999, "<" * 9_999, "$)" * 5_000, "eval " * 1_900 + "ls", "{a,b}" * 1_900, "{a," * 3_000,
        "a=xx;" + 'a="$a$a";' * 500 + "eval $a", "f() { f; f; }; f", ":(){ :|:& };:", "rm -rf " + "/a " * 3_000, "{| a " * 2_000,
        "find " + "/a " * 1_500 + "-exec rm -rf {} + " * 250, "for a in 1 2 3 4 5 6 7 8 9;do " * 12 + "rm -rf /$a;" + "done;" * 12,
        "x" * (MAX_CHARACTERS + 1), "sh -c '" * 1_400, "psql -c '" + "delete from x where " * 450 + "'", "\ue000",
        "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do eval '" + "$) a " * 300 + "'; done; done",
    ],
)  # fmt: skip
def test_hostile_commands_are_answered_soon(command: str) -> None:
    """Depth, length and repetition have limits; what lies beyond one is said not to be read."""
    start = time.process_time()
    assert check_command(command).outcome != "harmless" or command.startswith(("{a,", "sh"))
    assert time.process_time() - start < 6


def test_nothing_is_run_or_opened() -> None:
    """The recognizer starts no process and opens no file."""
    refuse = mock.Mock(side_effect=AssertionError)
    with (
        mock.patch("builtins.open", refuse),
        mock.patch("os.system", refuse),
        mock.patch("subprocess.Popen", refuse),
    ):
        check_command("sudo sh -c 'cat /etc/passwd > /tmp/x; . /tmp/x; rm -rf /'")
