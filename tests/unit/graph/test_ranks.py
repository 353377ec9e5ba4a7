"""Which level each rank has for a tool: the matrix that decides, and its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.graph.records import OrgRecords
from tests.support.trees import REPOSITORY, read, write_tree

ORG = "_schema: orgkernel:organization\norg_id: demo\nhierarchy: {co: {}}\n"
CO = "_schema: orgkernel:role_profile\nrole_id: co\nrole_type: commander\n"
SHARED = "ontology/ranks.yaml"
NOBODY = dict.fromkeys(("ensign", "lieutenant", "commander", "senior"), "none")


def records_of(folder: Path, tool: str, org: str = "", **files: str) -> OrgRecords:
    """An organization whose own catalog has one tool, `t`."""
    catalog = f"_schema: orgkernel:tool_catalog\ntools:\n  t: {tool}\n"
    tree = {"org.yaml": ORG + org, "roles/co.yaml": CO, "tools.yaml": catalog}
    tree |= {f"{name}.yaml": text for name, text in files.items()}
    return read(write_tree(folder, tree)).organizations["demo"].records


def test_a_tool_without_a_matrix_has_no_rank_ceiling(tmp_path: Path) -> None:
    """The shipped matrix is data until something refers to it."""
    records = records_of(tmp_path, "{type: browser}")
    assert [rank.id for rank in records.ranks] == list(NOBODY)
    assert "default" in records.matrices
    assert records.get_rank_levels("t") is None


@pytest.mark.parametrize(
    ("tool", "org", "levels", "statement", "place"),
    [
        ("{type: browser, rank_matrix: {commander: read}}", "",
         {"ensign": "none", "lieutenant": "none", "commander": "read", "senior": "read"}, "tool:t", "tools.yaml:3:35"),
        ("{type: browser, rank_matrix: federation}", "rank_matrix: default\n",
         {"ensign": "none", "lieutenant": "read", "commander": "write", "senior": "write"},
         "matrix:default/federation", SHARED),
        ("{type: browser, rank_matrix: default}", "",
         {"ensign": "none", "lieutenant": "read", "commander": "write", "senior": "full"},
         "matrix:default/browser", SHARED),
        ("{type: mcp_server, side_effects: write}", "rank_matrix: default\n",
         {"ensign": "none", "lieutenant": "read", "commander": "write", "senior": "full"},
         "matrix:default/mcp_read_write", SHARED),
        ("{type: browser, rank_matrix: broswer}", "rank_matrix: default\n", NOBODY, "tool:t", "tools.yaml:3:35"),
        ("{type: browser}", "rank_matrix: defalt\n", NOBODY, "organization:demo", "org.yaml:4:14"),
    ],
    ids=["its_own", "a_row_by_name", "a_matrix_by_name", "the_organization_s", "unknown", "unknown_in_organization"],
)  # fmt: skip
def test_what_decides(
    tmp_path: Path, tool: str, org: str, levels: dict[str, Any], statement: str, place: str
) -> None:
    """The matrix of the tool comes before that of the organization; an undeclared name leaves no access."""
    row = records_of(tmp_path, tool, org).get_rank_row("t")
    assert row is not None
    assert (dict(row.levels), row.statement) == (levels, statement)
    if place is SHARED:
        line = (REPOSITORY / SHARED).read_text(encoding="utf-8").split("\n")[row.place.line - 1]
        assert (row.place.file, line) == (SHARED, f"    - name: {statement.rpartition('/')[2]}")
    else:
        assert str(row.place) == place


def test_a_near_ladder_takes_the_place_of_the_shared_one(tmp_path: Path) -> None:
    """With its promotions; the shared matrices stay, and say nothing about ranks of another name."""
    ladder = (
        "_schema: orgkernel:rank_ladder\nranks: [{id: junior}, {id: senior, trust_from: 0.6}]\n"
        "promotions: {senior: {qualifications: [q]}}\n"
    )
    records = records_of(tmp_path, "{type: browser, rank_matrix: default}", ladder=ladder)
    assert [rank.id for rank in records.ranks] == ["junior", "senior"]
    assert list(records.promotions) == ["senior"]
    assert records.ladder is not None
    assert records.ladder.name == "ladder.yaml"
    assert records.get_rank_levels("t") == {"junior": "none", "senior": "full"}


def test_a_matrix_without_a_row_for_the_tool_is_no_ceiling(tmp_path: Path) -> None:
    """What it does not speak of is neutral."""
    ladder = "_schema: orgkernel:rank_ladder\nmatrices: {m: [{name: r, types: [browser], levels: {senior: full}}]}\n"
    records = records_of(tmp_path, "{type: federation}", "rank_matrix: m\n", ladder=ladder)
    assert records.get_rank_levels("t") is None
    assert records.get_rank_levels("ghost") is None
