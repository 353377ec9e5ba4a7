"""A result of a test counts as long as the parts that it measured are unchanged on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import write_tree

FILES = {
    "org.yaml": """
_schema: orgkernel:organization
org_id: desk
hierarchy: {writer: {}}
external: [user]
---
_schema: orgkernel:role_profile
role_id: writer
description: Writes.
standing_orders: [Sign what you write.]
capabilities: {tools: [{tool: post}]}
---
_schema: orgkernel:tool_catalog
tools:
  post: {type: remote_api, side_effects: write, path_arguments: [], qualifications: [posting], input_schema: {type: object}}
---
_schema: orgkernel:qualification_catalog
qualifications:
  posting: {threshold: 0.7, digests: {instructions: "skill:write-posts", prompt: "orders:writer", tools: "tool:post"}}
---
_schema: orgkernel:crew_roster
org: desk
agents: {ann: {assignments: [{role: writer}]}}
""",
    "skills/write-posts/SKILL.md": "---\nname: write-posts\ndescription: Writes posts.\n---\nWrite it.\n",
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "desk", FILES)


def run(desk: Path, *words: str, code: int = 0) -> str:
    done = run_here(*words, cwd=desk)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def qualify(desk: Path) -> str:
    digests = ("--digest", "instructions", "--digest", "prompt", "--digest", "tools")
    return run(desk, "agent", "qualify", "ann", "posting", "--score", "0.9", *digests)


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("skills/write-posts/SKILL.md", "Write it.", "Write it fast.", "instructions (skill:write-posts)"),
        ("org.yaml", "Sign what you write.", "Sign nothing.", "prompt (orders:writer)"),
        ("org.yaml", "input_schema: {type: object}", "input_schema: {type: string}", "tools (tool:post)"),
    ],
)
def test_a_change_of_a_part_drops_the_result(desk: Path, file: str, old: str, new: str, part: str) -> None:
    """The tool that the test unlocks is closed again, and changing the file back opens it."""
    ask = ("can", "agent:ann", "use", "tool:post")
    assert (
        "orgkernel agent qualify ann posting --score 0.7 --digest instructions --digest prompt --digest tools"
        in run(desk, *ask, code=1)
    )
    assert qualify(desk) == "ann passed posting with 0.9\n"
    run(desk, *ask)
    path = desk / file
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace(old, new), encoding="utf-8")
    run(desk, *ask, code=1)
    assert f"but these parts have changed since: `{part}`" in run(desk, "agent", "results", "ann")
    path.write_text(before, encoding="utf-8")
    run(desk, *ask)


def test_a_digest_that_was_measured_on_another_version_does_not_count(desk: Path) -> None:
    """It is recorded, and opens nothing."""
    words = [
        word for name in ("instructions", "prompt", "tools") for word in ("--digest", f"{name}=sha256:0")
    ]
    run(desk, "agent", "qualify", "ann", "posting", "--score", "0.9", *words)
    run(desk, "can", "agent:ann", "use", "tool:post", code=1)


def test_only_a_part_that_is_named_has_a_digest_of_its_own(desk: Path) -> None:
    """`--digest model` without a value says which names can do without."""
    done = run_here("agent", "qualify", "ann", "posting", "--score", "0.9", "--digest", "model", cwd=desk)
    assert done.returncode == 2
    assert "leave out the digest only of `instructions`, `prompt`, `tools`" in done.stderr
