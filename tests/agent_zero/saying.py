"""Short words for tests: what a model asks for, what the log says, what lies in the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.agent_zero.double_loop import Agent, Prompt, Response
from tests.agent_zero.double_prompts import STOCK_TOOLS, files_in

MISSING = Response("cat: notes.txt: No such file or directory")


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool request."""
    return {"tool_name": tool, "tool_args": arguments}


def shell(command: str = "ls", number: int = 0) -> dict[str, Any]:
    """A shell command; a number makes it another request than the last."""
    return call("code_execution_tool", runtime="terminal", code=f"{command} {number}")


def answer(text: str = "done") -> dict[str, Any]:
    """The end of a turn."""
    return call("response", text=text)


def org_lines(agent: Agent) -> list[str]:
    """What we wrote to the log, without our mark and without the line that says that the activation is on."""
    lines = [
        text.removeprefix("[ORG] ").rpartition("…; ")[2]  # a heading that was cut, then the whole
        for _, text in agent.context.log.entries
        if text.startswith("[ORG] ")
    ]
    return [line for line in lines if not line.startswith("On: ")]


def reports(root: Path) -> dict[str, dict[str, Any]]:
    """Latest report of each role."""
    folder = root / "usr/organizations/reports"
    return {
        file.name.removesuffix("_latest.json"): json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("*_latest.json"))
    }


def archived(root: Path) -> list[dict[str, Any]]:
    """Copies of all reports, the oldest first."""
    folder = root / "usr/organizations/reports/archive"
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda each: each["time"]["timestamp"])


def role_of(agent: Agent) -> str | None:
    """The role in force, as neighbors read it."""
    role = agent._org_active_role
    return role["role_id"] if role else None


def shown_by(prompt: Prompt, generation: str) -> set[str]:
    """The tools whose prompt files a prompt holds, whole."""
    return {tool for name in files_in(prompt.system, generation) for tool in STOCK_TOOLS[name][0]}
