"""People type names, callsigns and files, in any case; programs state ids, and a name never opens anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from tests.support.in_process import run_here
from tests.support.trees import write_tree


def agent(name: str, description: str = "Reviews code. Use it first.") -> str:
    """The text of an agent of Claude Code."""
    return f"---\nname: {name}\ndescription: {description}\ntools: Read\n---\nDo it.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two agents with ids that are hard to type, and two whose ids differ only in separators."""
    files = {
        ".claude/agents/cr.md": agent("Code Reviewer"),
        ".claude/agents/se.md": agent("se-playwright-tester", "Tests pages. Use it last."),
        ".claude/agents/one.md": agent("api-doc", "Writes about the API. Use it then."),
        ".claude/agents/two.md": agent("api_doc", "Documents the interface. Use it now."),
    }
    return write_tree(tmp_path, files)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Code Reviewer", "Code_20_Reviewer"),
        ("code-reviewer", "Code_20_Reviewer"),
        ("CODE_REVIEWER", "Code_20_Reviewer"),
        ("Code_20_Reviewer", "Code_20_Reviewer"),
        ("cr", "Code_20_Reviewer"),
        ("cr.md", "Code_20_Reviewer"),
        (".claude/agents/cr.md", "Code_20_Reviewer"),
        ("SE Playwright Tester", "se-playwright-tester"),
        ("api-doc", "api-doc"),
        ("api_doc", "api_doc"),
    ],
)
def test_a_role_by_what_people_call_it(tree: Path, name: str, role: str) -> None:
    """Answers name the id, and a note says what was typed."""
    done = run_here("can", f"role:{name}", "use", "tool:read", cwd=tree)
    assert done.stdout.startswith(f"allow: role:{role} use tool:Read\n")
    assert ("note: role " in done.stderr) is (name != role)
    for words in (("manifest", name), ("role", "orders", name), ("what-can", f"role:{name}")):
        assert run_here(*words, cwd=tree).returncode == 0, words


def test_a_name_of_several_is_an_error(tree: Path) -> None:
    """None of them is guessed."""
    done = run_here("can", "role:Api Doc", "use", "tool:Read", cwd=tree)
    assert (done.returncode, done.stdout) == (2, "")
    assert "several roles have the name `Api Doc`" in done.stderr
    assert "choose one of `api-doc`, `api_doc`" in done.stderr


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("playwright", "did you mean `se-playwright-tester`?"),
        ("code review", "did you mean `Code_20_Reviewer`?"),
        ("Cod-Reveiwer", "did you mean `Code_20_Reviewer`?"),
        ("nonsense", "roles are `Code_20_Reviewer`, "),
    ],
)
def test_hints_give_the_nearest(tree: Path, name: str, help: str) -> None:
    """By a part of the name as well."""
    done = run_here("manifest", name, cwd=tree)
    assert done.returncode == 2
    assert help in done.stderr


def test_hints_of_many_roles_are_the_nearest(tmp_path: Path) -> None:
    """Never the first five."""
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    write_tree(tmp_path, {f".claude/agents/{each}.md": agent(f"{each}-writer") for each in words})
    help = run_here("manifest", "golfing-riter", cwd=tmp_path).stderr
    assert "golf-writer" in help
    assert "alpha" not in help
    assert "`orgkernel graph` shows the roles" in run_here("manifest", "zzzzzzzz", cwd=tmp_path).stderr


def test_programs_state_ids(tree: Path) -> None:
    """A decision of the kernel knows no other names."""
    kernel = Kernel.open(tree)
    request = AccessRequest("role:Code Reviewer", "use", "tool:Read")
    decision, reasons = kernel.can_with_reasons("active", request)
    assert decision.codes == ("UNKNOWN_PRINCIPAL",)
    assert "did you mean `Code_20_Reviewer`?" in reasons[0].text


def test_a_role_out_of_service_is_not_replaced(tmp_path: Path) -> None:
    """Although another role lies in a file of its name."""
    files = {
        ".claude/agents/a.md": agent("b", "Writes. Use it first."),
        ".claude/agents/b.md": "---\nname: a\ndescription: [x]\ntools: Read\n---\nx\n",
    }
    write_tree(tmp_path, files)
    assert run_here("can", "role:a", "use", "tool:Read", cwd=tmp_path).stdout.startswith("deny: role:a ")


def test_a_role_is_found_by_the_callsign_of_its_agent(tmp_path: Path) -> None:
    """In any case; the note names its id."""
    assert run_here("new", "crew", "--template", "starship", cwd=tmp_path).returncode == 0
    for name in ("Forge", "FORGE", "chief-engineer"):
        done = run_here("manifest", name, cwd=tmp_path / "crew")
        assert done.stdout.startswith("Chief Engineer (chief_engineer)")
        assert f"note: role `{name}` has the id `chief_engineer`" in done.stderr
