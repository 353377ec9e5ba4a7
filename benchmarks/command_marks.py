"""Compare the command catalog with what specifications of command lines mark as dangerous: `make nightly` runs it.

The specifications are those of the npm package `@withfig/autocomplete`. A command that they mark and that is harmless for us is
explained in `explained_command_marks.yaml`, or is a fault. Prints the numbers, and the commands without an explanation.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import yaml

from orgkernel.shell.check import check_command

_HERE = Path(__file__).parent
_ENVIRONMENT = _HERE.parent / ".venv/marks"
_SPECIFICATIONS = "node_modules/@withfig/autocomplete/build"


def list_marked_commands() -> list[str]:
    """The commands that the installed specifications mark. Raises `CalledProcessError` if they cannot be read."""
    command = [_ENVIRONMENT / "bin/node", _HERE / "list_command_marks.mjs", _ENVIRONMENT / _SPECIFICATIONS]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    commands: list[str] = json.loads(done.stdout)
    return commands


def read_explanations() -> dict[str, str]:
    """The reason for each beginning of a command that is harmless although it is marked."""
    text = (_HERE / "explained_command_marks.yaml").read_text(encoding="utf-8")
    explanations: dict[str, str] = yaml.safe_load(text)
    return explanations


def main() -> int:
    """Print the comparison. Returns 1 if a mark has no explanation."""
    explanations = read_explanations()
    outcomes: Counter[str] = Counter()
    unexplained = []
    for command in list_marked_commands():
        outcome = check_command(command).outcome
        if outcome == "harmless":
            is_explained = any(f"{command} ".startswith(f"{each} ") for each in explanations)
            outcome = "harmless, explained" if is_explained else "harmless"
            if not is_explained:
                unexplained.append(command)
        outcomes[outcome] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:6} {outcome}")
    for command in unexplained:
        print(f"without an explanation: {command}")
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())
