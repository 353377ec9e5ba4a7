"""A project of 500 Claude Code subagents, checked cold in a process of its own, beside what it cannot do without.

That is the start of the command, on a project of one agent, and the reading and parsing of every front matter by libyaml.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

AGENTS = 500
_TURNS = 9
_BASE = """
import os, sys, yaml
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        yaml.load(text.split("---\\n", 2)[1], yaml.CSafeLoader)
"""
_RUN = "import sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"
_FILE = """---
name: agent-{number}
description: Does work {number} of area {area} for team {team}. Use when number {number} comes up.
tools: Read, Edit, Write, Bash, Grep, Glob
model: sonnet
color: blue
---

You do your work.

## Steps

{steps}
"""


def write_agents(folder: Path, count: int = AGENTS) -> Path:
    """A project with so many agents, each of two kilobytes."""
    steps = "\n".join(
        f"- Step {step} of the work: look at it, do it, and say what came of it." for step in range(30)
    )
    for number in range(count):
        path = folder / ".claude" / "agents" / f"group-{number % 10}" / f"agent-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _FILE.format(number=number, area=number * 7, team=number * 13, steps=steps)
        path.write_text(text, encoding="utf-8")
    return folder


def agents(folder: Path) -> dict[str, Any]:
    """Seconds of whole processes, in turns, and the check as a multiple of parsing plus start."""
    tree = write_agents(folder)
    alone = write_agents(folder.parent / f"{folder.name}_of_one", 1)
    commands = {
        "front_matter_of_one": [sys.executable, "-c", _BASE, str(alone / ".claude" / "agents")],
        "front_matter": [sys.executable, "-c", _BASE, str(tree / ".claude" / "agents")],
        "start": [sys.executable, "-c", _RUN, "check", "--no-cache", str(alone)],
        "check": [sys.executable, "-c", _RUN, "check", "--no-cache", str(tree)],
    }
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(_TURNS + 1):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment
            )
            if turn:  # the first turn compiles
                times[name].append(time.perf_counter() - begin)
    found = {name: median(those) for name, those in times.items()}
    parsing = found["front_matter"] - found["front_matter_of_one"]
    return found | {"parsing": parsing, "ratio": found["check"] / (parsing + found["start"])}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        for name, value in agents(Path(temporary) / "project").items():
            print(f"{name:20} {value:.3f}")
