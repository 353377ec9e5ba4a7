"""Questions of the command line write nothing, and what a refusal advises can be done there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import copy_template, write_tree

STORE = ("--store", "state.db")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A household in whose store something is."""
    copy_template(tmp_path / "house", "household")
    _run(tmp_path, "grant", "issue", "agent:clerk", "tool:github")
    _run(tmp_path, "request", "create", "agent:clerk", "tool:jira")
    return tmp_path


def _run(home: Path, *words: str, code: int = 0) -> str:
    done = run_here(*words, "--path", "house", *STORE, cwd=home)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def _list(home: Path, *words: str) -> str:
    return run_here(*words, *STORE, cwd=home).stdout


@pytest.mark.parametrize("question", ["agent list", "request show"])
def test_a_question_puts_no_grant_to_sleep(home: Path, question: str) -> None:
    """Commands that change the store do."""
    crew = home / "house/crew.yaml"
    text = crew.read_text(encoding="utf-8")
    crew.write_text(text[: text.index("  clerk:")], encoding="utf-8")
    before = _list(home, "audit", "query", "--format", "json")
    asked = _list(home, "request", "list").splitlines()[1].split()[0]
    _run(home, *question.split(), *([asked] if question == "request show" else []))
    assert "asleep" not in _list(home, "grant", "list")
    assert _list(home, "audit", "query", "--format", "json") == before
    _run(home, "agent", "set-rank", "butler", "ensign")
    assert "asleep" in _list(home, "grant", "list")


@pytest.mark.parametrize(
    ("words", "help"),
    [
        (
            ("request", "create", "agent:clerk", "tool:jira", "--by", "person:partner"),
            "the requester has to be `person:partner`",
        ),
        (
            ("request", "create", "agent:butler", "tool:jira", "--by", "agent:clerk"),
            "the requester has to be `agent:clerk`",
        ),
    ],
)
def test_a_refusal_names_who_has_to_ask(home: Path, words: tuple[str, ...], help: str) -> None:
    """And speaks of no field that the command line does not have."""
    assert f"help: {help}" in _run(home, *words, code=2)


def test_with_several_organizations_the_help_says_how_to_name_one(tmp_path: Path) -> None:
    """For a question, and for a write, which may also be for all of them."""
    document = "_schema: orgkernel:organization\norg_id: {}\norg_name: One\n"
    write_tree(tmp_path / "house", {f"{each}/org.yaml": document.format(each) for each in ("east", "west")})
    question = _run(tmp_path, "what-can", "role:any", code=2)
    assert "name one of `east`, `west`, or set `active` in orgkernel.toml" in question
    write = _run(tmp_path, "agent", "add", "moe", code=2)
    assert (
        "name one of `east`, `west`, or all of them: `--all-orgs` on the command line, `*` over HTTP" in write
    )
