"""`python -m benchmarks.claude_hook`: the hook of Claude Code beside the start of bare Python, in turns.

A call that may go on, one that is refused, and a write whose path is compared, in an organization of 60 roles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import yaml

from benchmarks.file_audit import measure
from orgkernel.project.hooks import claude_settings

ROLES, STARTS, GOAL = 60, 25, 2.5
HOOK = Path(claude_settings.__file__).with_name("claude_hook") / "run.py"
_TOOLS = ["file_read", "file_write", "file_find", "file_search"]


def make_project(folder: Path) -> None:
    """A project with an active organization. Every other role may run commands; the others have a file scope."""
    roles = [f"role{number}" for number in range(ROLES)]
    hierarchy = {"lead": {"subordinates": roles}, **{each: {} for each in roles}}
    _write(folder / "org/org.yaml", {"_schema": "orgkernel:organization", "org_id": "bench", "org_name": "Bench", "hierarchy": hierarchy})  # fmt: skip
    _write(
        folder / "org/roles/lead.yaml",
        {
            "_schema": "orgkernel:role_profile",
            "role_id": "lead",
            "role_name": "Lead",
            "role_type": "commander",
        },
    )
    for number, role in enumerate(roles):
        runs = number % 2 == 0
        tools = [*_TOOLS, "code_execution_tool"] if runs else _TOOLS
        profile = {
            "_schema": "orgkernel:role_profile", "role_id": role, "role_name": role,
            "capabilities": {"tools_primary": tools}, **({} if runs else {"file_scope": ["src/**", "docs/*.md"]}),
        }  # fmt: skip
        _write(folder / f"org/roles/{role}.yaml", profile)
    ours = (sys.executable, "-P", "-c", "from orgkernel.cli import main; main()")
    words = ("host", "activate", "bench", "--claude-code", ".", "--path", "org")
    subprocess.run((*ours, *words), cwd=folder, check=True, capture_output=True)


def _write(path: Path, document: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")


def main() -> None:
    """Measure each kind of call and print a row for it."""
    with TemporaryDirectory() as temporary:
        folder = Path(os.path.realpath(temporary)) / "project"
        make_project(folder)
        hook = (sys.executable, "-I", "-S", str(HOOK), "PreToolUse", "refuse")
        ways = {"bare Python": (sys.executable, "-c", "pass"), "the hook": hook}
        inside, outside = str(folder / "src/a.py"), str(folder / "org/org.yaml")
        for what, agent, tool, given in (
            ("a call that may go on", "role0", "Bash", {"command": "ls"}),
            ("a call that is refused", "role1", "Bash", {"command": "ls"}),
            ("a write in the scope", "role1", "Write", {"file_path": inside}),
            ("a write out of the scope", "role1", "Write", {"file_path": outside}),
        ):
            call = {
                "hook_event_name": "PreToolUse", "cwd": str(folder), "tool_name": tool, "tool_input": given,
                "agent_id": "a1", "agent_type": agent,
            }  # fmt: skip
            with mock.patch.dict(os.environ, {"CLAUDE_PROJECT_DIR": str(folder)}):
                found = measure(ways, folder, STARTS, json.dumps(call).encode())
            ratio = found["the hook"] / found["bare Python"]
            print(f"{what:26}{found['the hook'] * 1000:8.1f} ms   {ratio:.2f} × bare Python (goal {GOAL})")


if __name__ == "__main__":
    main()
