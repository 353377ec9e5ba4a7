"""The ontology of ProbOS: its files are one organization with its crew, and every value keeps its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import Kernel
from tests.support.in_process import run_here
from tests.support.other_trees import PROBOS, lay_out
from tests.support.trees import write_tree

ONTOLOGY = "config/ontology"


@pytest.fixture
def tender(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "tender", "probos")


def test_the_files_are_one_organization(tender: Path) -> None:
    """Posts, their skills, their tools, the crew, its personality and its orders come from six files."""
    assert run_here("check", ".", cwd=tender).returncode == 0
    kernel = Kernel.open(tender)
    view = kernel.organization("Tender").snapshot.index
    organization = view.records.organization
    assert (organization.org_name, organization.alerts, organization.watches, organization.external) == (
        "Tender",
        ("CALM", "STORM"),
        ("day", "night"),
        ("owner",),
    )
    post = view.records.posts["bosun"]
    role = post.profile
    assert (role.role_type, role.department, role.clearance) == ("specialist", "deck", "enhanced")
    assert role.description == "Lay a buoy and note its position. Mend the chain of a buoy."
    assert role.capabilities.intents == ("lay_buoy", "mend_chain")
    assert role.does_not_have == ("a chart plotter of its own",)
    skills = [(each.skill, each.min_proficiency, each.optional) for each in role.capabilities.skills]
    assert skills == [("communication", 2, False), ("rope_work", 4, False), ("navigation", 2, True)]
    place = post.document.place("capabilities", "skills", 1)
    assert (place.file.endswith(f"{ONTOLOGY}/skills.yaml"), place.line) == (True, 12)
    deckhand = view.records.agents["deckhand"].record
    assert (deckhand.callsign, deckhand.assignments[0].watches) == ("Tern", ("day",))
    assert deckhand.personality is not None
    assert (deckhand.personality.openness, deckhand.personality.neuroticism) == (0.7, 0.2)
    orders = kernel.standing_orders("Tender", "bosun")
    assert [(each.source, each.file.rpartition("/")[2]) for each in orders.sections] == [
        ("organization", "federation.md"),
        ("department", "deck.md"),
        ("role", "deckhand.md"),
    ]
    assert (
        view.records.orders["organization", ""][0].record.body
        == "Life comes first.\n\nWear a vest on deck.\n"
    )


@pytest.mark.parametrize(
    ("question", "effect", "line"),
    [
        ("agent:deckhand use tool:winch", "allow", f"{ONTOLOGY}/organization.yaml:23"),
        ("agent:deckhand use tool:read_tides", "allow", f"{ONTOLOGY}/resources.yaml:3"),
        ("agent:deckhand use tool:radio", "deny", f"{ONTOLOGY}/resources.yaml:4"),
        ("role:mate use tool:winch", "deny", ""),
        ("role:mate handoff role:bosun", "allow", ""),
        ("role:bosun handoff role:mate", "deny", ""),
    ],
)
def test_decisions_name_the_lines_of_the_ontology(
    tender: Path, question: str, effect: str, line: str
) -> None:
    """A tool of a post is its own, a tool of the crew is everyone's, and one from a rank on needs the rank."""
    answer = run_here("can", *question.split(), cwd=tender).stdout
    assert answer.partition(":")[0] == effect
    assert line in answer


def test_an_import_counts_what_is_lost(tender: Path) -> None:
    """Sections without a counterpart, and orders of an agent without a post."""
    done = run_here("import", "probos", ".", "../copy", cwd=tender)
    lost = [line.split()[0] for line in done.stderr.splitlines() if line.startswith("  `")]
    assert lost == [
        "`config/standing_orders/cook.md`",
        "`default_alert_condition`",
        "`duty_categories`",
        "`gated_by`",
        "`knowledge_tiers`",
        "`model_tiers`",
        "`outputs`",
        "`version`",
    ]
    assert run_here("check", ".", cwd=tender.parent / "copy").stdout == ""
    orders = (tender.parent / "copy/standing_orders/organization.md").read_text()
    assert orders == "Life comes first.\n\nWear a vest on deck.\n"


@pytest.mark.parametrize("start", [".", "config", ONTOLOGY, f"{ONTOLOGY}/organization.yaml"])
def test_it_is_found_from_every_folder_around_it(tender: Path, start: str) -> None:
    """From the ontology alone, the orders and skills beside it are not read."""
    listed = run_here("check", start, cwd=tender)
    skills = "1 skill; " if start in (".", "config") else ""
    assert f"note: read as ProbOS: 2 agents, {skills}" in listed.stderr.replace("2 agents; ", "2 agents, ")
    assert listed.returncode == 0


def test_a_file_of_this_name_alone_is_not_an_ontology(tmp_path: Path) -> None:
    """Another program can have an `organization.yaml`, with or without posts."""
    tree = write_tree(tmp_path, {"organization.yaml": "posts: [{id: hello, title: A blog post}]\n"})
    assert "nothing to check" in run_here("check", ".", cwd=tree).stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("organization", "department: deck\n    reports_to: mate", "reports_to: mate", "organization.yaml:16:5: error[ORG101] missing-field: post `bosun` has no `department`"),
        ("organization", "clearance: ENHANCED", "clearance: ENHANCD", "error[ORG104] unknown-value: `clearance` of post `bosun` is `ENHANCD`"),
        ("organization", "- id: bosun", "- id: mate", "error[ORG006] duplicate-key: post `mate` is declared twice"),
        ("organization", "post_id: bosun", "post_id: boson", "role `boson`"),
        ("organization", "reports_to: mate", "reports_to: mat", "reports to `mat`"),
        ("skills", "skill_id: rope_work, min_proficiency: 4", "skill_id: rope_work, min_proficiency: 9", "`min_proficiency` of a skill of post `bosun` is the number `9`, not a number from 1 to 7"),
        ("skills", "ensign_to_lieutenant", "ensign_to_admiral", "a qualification path leads to the rank `admiral`"),
        ("resources", "available_to: all_crew", "available_to: officers", "`available_to` of tool `read_tides` is `officers`, so no role has the tool"),
        ("skills", "  bosun:\n", "  boson:\n", "skills.yaml:10:5: error[ORG784] overlay-without-role: no source of organization `Tender` has the role `boson`"),
    ],
)  # fmt: skip
def test_faults_are_reported_at_their_line(
    tmp_path: Path, file: str, old: str, new: str, expected: str
) -> None:
    """What ProbOS accepts in silence: dangling references, unknown words, levels out of range, duplicates."""
    name = f"{ONTOLOGY}/{file}.yaml"
    assert old in PROBOS[name]
    tree = write_tree(tmp_path, {**PROBOS, name: PROBOS[name].replace(old, new)})
    done = run_here("check", ".", cwd=tree)
    assert expected in done.stdout, done.stdout
    assert done.returncode == 1
