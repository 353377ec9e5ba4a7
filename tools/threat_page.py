"""The appendix of the threat model: the tests of each attempt, under the headings of the page."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[1]
THREATS = "docs/threat-model.md"
PAGE = "docs/threat-tests.md"
TESTS = "tests/threats.yaml"


def threat_page() -> str:
    """A table for each attacker: the number of the attempt, and its tests."""
    tests = yaml.safe_load((REPOSITORY / TESTS).read_text(encoding="utf-8"))
    lines = [
        "# Tests of the threat model",
        "",
        "Look up which tests prove an answer of the [threat model](threat-model.md). Tests are named by file and name, and files are "
        "below `tests/`.",
    ]
    text = (REPOSITORY / THREATS).read_text(encoding="utf-8")
    for section in re.split(r"(?m)^## ", text)[1:]:
        numbers = re.findall(r"(?m)^\| (T\d+) \|", section)
        if numbers:
            lines += ["", f"## {section.partition(chr(10))[0]}", "", "| no. | tests |", "|---|---|"]
        lines += [
            f"| {number} | {'<br>'.join(f'`{each}`' for each in tests[number])} |" for number in numbers
        ]
    return "\n".join(lines) + "\n"
