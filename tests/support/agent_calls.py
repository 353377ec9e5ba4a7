"""Tool calls of Claude Code, and what the hook of file owners answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgkernel.project.hooks.write_hook import __file__ as hook_script
from tests.support.in_process import run_here


def decide_call(folder: Path, tool: str, given: Mapping[str, Any]) -> str:
    """The decision of the full program without a process of its own: `deny` or `ask`, empty if the call is allowed."""
    call = _render_call(folder, tool, given)
    env = {"CLAUDE_PROJECT_DIR": str(folder)}
    return _read_decision(run_here("ownership", "hook", "claude-code", cwd=folder, env=env, input=call))


def run_hook_script(folder: Path, tool: str, given: Mapping[str, Any]) -> str:
    """The same, by the script that Claude Code runs."""
    call = _render_call(folder, tool, given)
    return _read_decision(
        subprocess.run(
            [sys.executable, hook_script], input=call, cwd=folder, text=True, capture_output=True, check=False
        )
    )


def _render_call(folder: Path, tool: str, given: Mapping[str, Any]) -> str:
    return json.dumps({"tool_name": tool, "tool_input": given, "cwd": str(folder)})


def _read_decision(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        return ""
    decision: str = json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"]
    return decision
