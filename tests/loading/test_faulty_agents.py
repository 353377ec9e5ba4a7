"""In another format, an error takes out only what its file declares, and the other agents still answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from tests.support.claude_trees import agent
from tests.support.in_process import run_here
from tests.support.trees import write_tree

FAULTS = {
    "not_yaml": "---\nname: c\n- x\n---\n",
    "no_name": "---\nname: ''\ndescription: Does c.\n---\n",
    "wrong_type": "---\nname: c\ndescription: Does c.\ndisallowedTools: {a: b}\n---\n",
    "unprintable": "---\nname: c\ndescription: Does c.\n---\nText \x04.\n",
    "no_front_matter": "# Only text\n",
    "too_large": "---\nname: c\ndescription: Does c.\n---\n" + "word " * 60_000,
    "same_name": agent("a", "Does a too.", "Bash"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_faulty_agent_is_out_of_service(fault: str, tmp_path: Path) -> None:
    """It may do nothing, and the others answer, after reading and from the cache."""
    files = {
        ".claude/agents/a.md": agent("a", "Does a. Use it.", "Read"),
        ".claude/agents/b.md": agent("b", "Does b. Use it.", "Read"),
        ".claude/agents/c.md": FAULTS[fault],
    }
    write_tree(tmp_path, files)
    kernel = Kernel.open(tmp_path)
    org = kernel.organization("active").snapshot
    faulty = "a" if fault == "same_name" else "c"
    assert set(org.records.posts) == {"a", "b"} - {faulty}
    assert kernel.can(org.org_id, AccessRequest("role:b", "use", "tool:Read")).outcome == "allow"
    assert kernel.can(org.org_id, AccessRequest(f"role:{faulty}", "use", "tool:Read")).outcome == "deny"
    assert run_here("check", cwd=tmp_path).returncode == 1
    for _ in range(2):
        done = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
        assert (done.returncode, done.stdout.split(":")[0]) == (0, "allow")
        assert run_here("can", f"role:{faulty}", "use", "tool:Read", cwd=tmp_path).returncode == 1


def test_a_question_about_it_names_the_error(tmp_path: Path) -> None:
    """Not as if the role did not exist."""
    files = {".claude/agents/a.md": agent("a", "Does a."), ".claude/agents/b.md": agent("b", "Does b.")}
    files[".claude/agents/c.md"] = agent("b", "Does b too.")
    done = run_here("manifest", "b", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "is out of service: .claude/agents/c.md:2:7: role `b` is declared more than once" in done.stderr
    denied = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
    assert "because role `b` is out of service: role `b` is declared more than once" in denied.stdout
    assert ".claude/agents/c.md:2" in denied.stdout


def test_unreadable_permission_rules_hold_the_organization_back(tmp_path: Path) -> None:
    """What they deny is not known."""
    files = {".claude/agents/a.md": agent("a", "Does a.", "Read"), ".claude/settings.json": "{"}
    done = run_here("can", "role:a", "use", "tool:Read", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "has 1 error" in done.stderr
