"""Every case of every rule: the complete list of what the rule says about some files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.trees import change_line, copy_template, read, write_tree

CASES = Path(__file__).parent / "cases"


def load_cases() -> dict[str, dict[str, Any]]:
    """Rule code to its case file."""
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*.yaml"))]
    return {file["rule"]: file["cases"] for file in files}


def lay_out(case: dict[str, Any], folder: Path) -> None:
    """Write the files of a case, or copy its template and change the one line."""
    if "template" in case:
        copy_template(folder, case["template"])
        change = case["change"]
        change_line(folder / change["file"], change["line"], change["becomes"])
    write_tree(folder, case.get("files", {}))


@pytest.mark.parametrize(
    ("code", "case"),
    [
        pytest.param(code, case, id=f"{code}-{name}")
        for code, cases in load_cases().items()
        for name, case in cases.items()
    ],
)
def test_case(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """The rule says exactly this."""
    lay_out(case, tmp_path)
    found = [
        {
            "at": str(diagnostic.place),
            "message": diagnostic.message,
            **({"help": diagnostic.help} if diagnostic.help else {}),
            **({"subject": diagnostic.subject} if diagnostic.subject else {}),
            **(
                {"related": [f"{each.place} {each.text}" for each in diagnostic.related]}
                if diagnostic.related
                else {}
            ),
        }
        for diagnostic in read(tmp_path).diagnostics
        if diagnostic.code == code
    ]
    assert found == case["expect"]
