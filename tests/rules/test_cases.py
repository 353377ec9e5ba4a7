"""Every case of every rule: the complete list of what the rule says about some files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orgkernel.decisions.evidence.crew_records import OrgStatus, Personality, PersonalityObservation
from orgkernel.decisions.evidence.state_view import AgentState, Grant, QualificationResult, StateView
from orgkernel.diagnostics import Diagnostic
from orgkernel.kernel.drift import find_drift
from tests.support import other_trees
from tests.support.claude_trees import well_kept
from tests.support.crew_trees import yaml_crew
from tests.support.format_trees import cards, specification
from tests.support.trees import change_line, copy_template, read, write_tree
from tests.support.yaml_text import read_yaml_file

CASES = Path(__file__).parent / "cases"
FOREIGN = {
    "claude_code": well_kept,
    "crew": yaml_crew,
    "cards": cards,
    "specification": specification,
    **{name: partial(other_trees.lay_out, name=name) for name in other_trees.TREES},
}
"""Well-kept trees in the formats of others."""


def load_cases() -> dict[str, dict[str, Any]]:
    """Rule code to its case file."""
    files = [read_yaml_file(path) for path in sorted(CASES.glob("*.yaml"))]
    return {file["rule"]: file["cases"] for file in files}


def lay_out(case: dict[str, Any], folder: Path, *, changed: bool = True) -> None:
    """Write the files of a case, beside those of its template if it has one, and change the one line."""
    if case.get("template") in FOREIGN:
        FOREIGN[case["template"]](folder)
    elif "template" in case:
        copy_template(folder, case["template"])
    write_tree(folder, case.get("files", {}))
    for repeated in case.get("repeat", ()):
        with (folder / repeated["file"]).open("a", encoding="utf-8") as file:
            file.write(repeated["text"] * repeated["times"])
    if "change" in case and changed:
        change = case["change"]
        change_line(folder / change["file"], change["line"], change["becomes"])


def everything_found(case: dict[str, Any], folder: Path) -> tuple[Diagnostic, ...]:
    """What is found in the documents, and in the agents, grants and scores a case says are stored."""
    snapshot = read(folder)
    agents = {name: AgentState(name, **each) for name, each in case.get("stored_agents", {}).items()}
    grants: dict[str, tuple[Grant, ...]] = {}
    asleep: dict[str, tuple[Grant, ...]] = {}
    for name, each in case.get("stored_grants", {}).items():
        grant = Grant(name, resources=("tool:x",), **each)
        found = grants if grant.asleep_since is None else asleep
        found[grant.subject] = (*found.get(grant.subject, ()), grant)
    status = {
        kind: msgspec.convert({"org_id": "", "kind": kind, "value": value}, OrgStatus)
        for kind, value in case.get("stored_status", {}).items()
    }
    seen = {
        name: PersonalityObservation(name, "", Personality(**each), 0.0, "")
        for name, each in case.get("stored_personalities", {}).items()
    }
    results = {
        name: tuple(
            QualificationResult(
                name,
                test,
                score,
                score >= 0.5,
                0.0,
                result_id=number,
                sample_size=10**8,
                digests={"model": "m1"},
            )
            for test, scores in tests.items()
            for number, score in enumerate(scores, 1)
        )
        for name, tests in case.get("stored_scores", {}).items()
    }
    state = StateView(1, agents, grants, results=results, asleep=asleep, status=status, personalities=seen)
    return (*snapshot.diagnostics, *find_drift(snapshot, lambda org_id: state, {}))


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
        for diagnostic in everything_found(case, tmp_path)
        if diagnostic.code == code
    ]
    assert found == case["expect"]


@pytest.mark.parametrize(
    ("code", "case"),
    [
        pytest.param(code, case, id=f"{code}-{name}")
        for code, cases in load_cases().items()
        for name, case in cases.items()
        if (code[3] in "46" or code[3:5] in ("75", "76", "77", "78")) and "change" in case
    ],
)
def test_it_is_the_changed_line(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """Without the change the template, with the files beside it, has no finding of any rule."""
    lay_out(case, tmp_path, changed=False)
    assert everything_found(case, tmp_path) == ()
