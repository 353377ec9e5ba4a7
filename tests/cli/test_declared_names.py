"""Grants, requests and promotions need declared names, and the grantor needs the right."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import TEMPLATES

Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(quick_folder: Path) -> Path:
    folder = quick_folder / "home"
    shutil.copytree(TEMPLATES / "household", folder)
    with (folder / "roles" / "errand_runner.yaml").open("a", encoding="utf-8") as role:
        role.write("may_grant: [{tool: github, level: write}]\n")
    return folder


@pytest.fixture
def ask(home: Path) -> Ask:
    """Run a command in the household; it has to end as the test says."""

    def ask(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = run_here(*arguments, cwd=home)
        assert done.returncode == code, done.stderr
        return done

    return ask


@pytest.mark.parametrize(
    ("given", "message", "help"),
    [
        (("person:partnr", "tool:github"), "`person:partnr` is not declared", "did you mean `person:partner`?"),
        (("person:partner", "tool:githb"), "`tool:githb` is not declared", "did you mean `tool:github`?"),
        (("agent:zorblax", "tool:github"), "`agent:zorblax` is not declared", "declare it first"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [("grant", "issue"), ("request", "create")])
def test_what_nothing_declares_is_neither_given_nor_asked_for(
    ask: Ask, home: Path, command: tuple[str, str], given: tuple[str, str], message: str, help: str
) -> None:
    """The name that was meant is suggested, and nothing is remembered."""
    assert ask(*command, *given, code=2).stderr == f"error: {message}\nhelp: {help}\n"
    assert json.loads(ask(command[0], "list", "--format", "json").stdout) == []


def test_without_documents_names_are_not_checked_and_that_is_said(quick_folder: Path) -> None:
    """A store may be looked after from elsewhere; a path that was named has to be there."""
    done = run_here("grant", "issue", "agent:worf", "tool:any", "--org", "bridge", cwd=quick_folder)
    assert (done.returncode, done.stderr) == (
        0,
        "note: there is no organization here, so names are not checked\n",
    )
    done = run_here("grant", "issue", "agent:worf", "tool:any", "--path", "nowhere", cwd=quick_folder)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("by", ["agent:butler", "role:errand_runner"])
def test_a_role_and_its_agent_give_what_the_role_may_give(ask: Ask, by: str) -> None:
    """At most at the level that `may_grant` names, without lifting caps; the help says what they may."""
    give = ("grant", "issue", "agent:clerk", "tool:github", "--by", by)
    refused = ask(*give, code=2).stderr
    assert refused == (
        f"error: `{by}` may not grant `tool:github` at level `full`\n"
        "help: it may grant level `write`: role errand_runner may grant tool github at roles/errand_runner.yaml:28\n"
    )
    assert "may not lift `rank`" in ask(*give, "--level", "write", "--waive", "rank", code=2).stderr
    ask(*give, "--level", "write")
    assert f"`{by}` may not grant `tool:jira`" in ask(
        "grant", "issue", "agent:clerk", "tool:jira", "--by", by, code=2
    ).stderr  # fmt: skip
    wanted = ask("request", "create", "agent:clerk", "tool:jira").stdout.split()[0]
    assert "may not grant `tool:jira`" in ask("request", "approve", wanted, "--by", by, code=2).stderr
    ask("request", "approve", wanted, "--by", "person:owner")


@pytest.mark.parametrize(
    ("by", "subject"),
    [("agent:butler", "role:errand_runner"), ("role:errand_runner", "agent:butler"), ("role:steward", "agent:butler")],
)  # fmt: skip
def test_a_gift_does_not_come_back_to_the_giver(ask: Ask, by: str, subject: str) -> None:
    """A subject cannot grant itself a permission through a role that it fills."""
    refused = ask("grant", "issue", subject, "tool:github", "--level", "read", "--by", by, code=2).stderr
    assert refused == f"error: `{by}` cannot give itself a permission\nhelp: another subject has to do it\n"


@pytest.mark.parametrize(
    "change",
    [
        ("grant", "issue", "agent:clerk", "tool:github"), ("agent", "move", "clerk", "suspended"), ("key", "create", "--admin"),
        ("restriction", "issue", "agent:clerk", "tool:github"), ("request", "create", "agent:clerk", "tool:github"),
    ],
)  # fmt: skip
def test_an_empty_name_is_no_operator(ask: Ask, change: tuple[str, ...]) -> None:
    """A script that writes `--by "$WHO"` and has no `WHO` does not act with all rights."""
    assert ask(*change, "--by", "", code=2).stderr == (
        "error: no caller given\nhelp: name a subject such as `person:ID`; without `--by` an operator acts\n"
    )


def test_a_grantor_must_have_the_permission_at_that_moment(ask: Ask) -> None:
    """A suspended agent gives nothing, whatever its roles may give, and asks for nothing."""
    ask("agent", "add", "butler", "--lifecycle", "suspended")
    give = ("grant", "issue", "agent:clerk", "tool:github", "--level", "read", "--by", "agent:butler")
    assert "error: `agent:butler` is suspended\n" in ask(*give, code=2).stderr
    want = ("request", "create", "agent:butler", "tool:jira", "--by", "agent:butler")
    assert "error: `agent:butler` is suspended\n" in ask(*want, code=2).stderr


@pytest.mark.parametrize("by", ["person:partner", "agent:clerk", "system:hook_runner", "webhook:github"])
def test_a_refusal_names_who_has_the_right_over_a_subject(ask: Ask, by: str) -> None:
    """With the line of the chain of command; `--by` is checked like the credential of that subject."""
    refused = ask("agent", "move", "butler", "suspended", "--by", by, code=2).stderr
    what = f"error: `{by}` may not change the lifecycle of `agent:butler`, because `agent:butler` is "
    if by == "agent:clerk":
        assert refused == (
            f"{what}above it\nhelp: role record_keeper reports to role steward at org.yaml:24; "
            "a superior of `agent:butler`, the owner or an operator may\n"
        )
    else:
        assert refused.startswith(f"{what}not below it\nhelp: one of its superiors (role steward reports to ")
    ask("agent", "move", "butler", "suspended", "--by", "person:owner")
    row = json.loads(ask("audit", "query", "--kind", "agent", "--format", "json").stdout)[0]
    assert row["actor"] == "person:owner"
    assert row["detail"]["right"] == "owner"


@pytest.mark.parametrize("by", ["person:nobody", "agent:parrot", "nobody", "person:unknown"])
def test_who_is_not_declared_does_nothing(ask: Ask, by: str) -> None:
    """Whatever they want to do: the names of `--by` are those of the documents."""
    for arguments in (
        ("grant", "issue", "agent:clerk", "tool:jira"),
        ("agent", "set-rank", "clerk", "commander", "--reason", "the review"),
        ("key", "create", "ci", "--scope", "read"),
        ("request", "create", "agent:clerk", "tool:jira"),
    ):
        assert f"error: `{by}` " in ask(*arguments, "--by", by, code=2).stderr


def test_agents_of_the_roster_need_not_be_added_first(ask: Ask, home: Path) -> None:
    """They are listed with their starting values before there is any store, and ranked, trusted and moved as they are."""
    listed = json.loads(ask("agent", "list", "--format", "json").stdout)
    assert [(each["agent_id"], each["rank"], each["trust"]) for each in listed] == [
        ("butler", "commander", 0.75), ("clerk", "lieutenant", 0.6),
    ]  # fmt: skip
    assert not (home / ".orgkernel" / "state.db").exists()
    assert (
        ask("agent", "set-rank", "clerk", "commander", "--reason", "the review").stdout
        == "clerk is commander\n"
    )
    ask("agent", "move", "butler", "suspended")
    ask("agent", "add", "parrot", "--rank", "ensign")
    rows = [" ".join(line.split()) for line in ask("agent", "list").stdout.splitlines()[1:]]
    assert rows == [
        "butler household commander suspended 0.75 (alpha 3, beta 1; 0 of 0 succeeded)",
        "clerk household commander active 0.60 (alpha 2.4, beta 1.6; 0 of 0 succeeded)",
        "parrot household ensign active unknown (no outcomes)",
    ]
    assert "code AGENT_INACTIVE" in ask("why", "agent:butler", "use", "tool:weather", code=1).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("set-rank", "clerk", "comander"), "there is no rank `comander`\nhelp: did you mean `commander`?"),
        (("add", "parrot", "--rank", "comander"), "there is no rank `comander`\nhelp: did you mean `commander`?"),
        (("set-rank", "clark", "commander"), "organization `household` has no agent `clark`\nhelp: did you mean `clerk`?"),
        (("move", "clark", "suspended"), "organization `household` has no agent `clark`\nhelp: did you mean `clerk`?"),
    ],
)  # fmt: skip
def test_agents_and_ranks_that_nothing_declares(ask: Ask, arguments: tuple[str, ...], message: str) -> None:
    """Are refused with what was meant, and nothing is stored."""
    assert ask("agent", *arguments, code=2).stderr == f"error: {message}\n"


def test_a_restriction_holds_until_it_is_lifted(ask: Ask) -> None:
    """It leaves less than a grant and a role give; the denial names it, and so does what lifts it."""
    assert (
        "did you mean `tool:weather`?"
        in ask("restriction", "issue", "agent:butler", "tool:wether", code=2).stderr
    )
    ask("grant", "issue", "agent:butler", "tool:weather")
    made = ask("restriction", "issue", "agent:butler", "tool:weather", "--reason", "broken").stdout.split()[0]
    denied = ask("can", "agent:butler", "use", "tool:weather", code=1).stdout
    assert (
        f"because restriction `{made}` limits agent `butler` to level `none` of tool `weather`, and `read` is required"
        in denied
    )
    (line,) = ask("restriction", "list").stdout.splitlines()[1:]
    assert line.split()[:4] == [made, "agent:butler", "household", "none"]
    assert ask("restriction", "lift", made).stdout == f"{made} lifted\n"
    ask("can", "agent:butler", "use", "tool:weather")
    assert ask("restriction", "list").stderr == "none\n"
    assert "`orgkernel restriction list --all`" in ask("restriction", "lift", "x-1", code=2).stderr
