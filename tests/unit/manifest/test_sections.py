"""A manifest as text: every part of it is there, as a section or among those that say nothing."""

from __future__ import annotations

import msgspec
import pytest

from orgkernel.cli.tables import render_agent, render_role
from orgkernel.decisions.reasons import Why
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.sections import Profile, build_rows, build_sections, get_title
from orgkernel.manifest.v1 import Item, RoleManifest
from tests.support.trees import TEMPLATES

# What the heading or the last line says, and what every manifest of a kind has.
HEADING = {"manifest_of", "role_id", "role_name", "role_type", "agent_id", "callsign", "lifecycle", "org_id", "description", "snapshot"}  # fmt: skip
NOT_SAID = {"schema", "version", "why", "org_name", "state_version", "trust"}


def check_text(manifest: Profile) -> None:
    """Every part that says something has a section with all its items; the others are named in one line."""
    text = render_role(manifest) if isinstance(manifest, RoleManifest) else render_agent(manifest)
    sections = build_sections(manifest)
    body, _, folded = text.partition("nothing under: ")
    empty = set(" ".join(folded.partition("\n\n")[0].split()).split(", "))
    for part in set(manifest.__struct_fields__) - HEADING - NOT_SAID:
        title, value = get_title(part), getattr(manifest, part)
        rows = sections[title]
        assert bool(rows) != (title in empty), title
        if rows:
            assert f"\n{title} " in body, title
        for item in value if isinstance(value, tuple) else ():
            missing = [row for row in build_rows(item) if row not in rows]
            assert missing == [], part
    for part in HEADING & set(manifest.__struct_fields__) - {"manifest_of"}:
        assert str(getattr(manifest, part)) in text, part


@pytest.mark.parametrize("template", ["software_dev", "household", "starship", "omega"])
def test_the_text_of_a_template_has_every_part(template: str) -> None:
    """All its roles and agents."""
    kernel = Kernel.open(TEMPLATES)
    index = kernel.latest(template).index
    assert index.roles
    for role in index.roles:
        check_text(kernel.manifest(template, role))
    for agent in index.records.agents:
        check_text(kernel.agent_manifest(template, agent))


def test_the_text_of_a_role_that_says_everything_has_every_part(whole: Kernel) -> None:
    """File scope, credentials, data, standing orders, intents, department and layer among them."""
    maker = whole.manifest("whole", "maker")
    check_text(maker)
    sections = build_sections(maker)
    for title, item in (
        ("file scope", "src/**"), ("credentials", "workshop_key"), ("data", "drawings"), ("intents", "make_something"),
        ("department", "works"), ("layer", "bottom"),
    ):  # fmt: skip
        assert [row.item for row in sections[title]] == [item]
    assert [row.details for row in sections["orders"]] == ["Wear goggles."]
    assert [row.item for row in sections["identity"]] == [fact.id for fact in maker.identity]
    expected = {
        "authority_level": "1", "can_delegate": "false", "crew_tier": "utility", "position": "worker", "clearance": "basic",
        "entry_rank": "apprentice", "open_to_probation": "true", "lmc_mode": "direct",
    }  # fmt: skip
    assert expected.items() <= {row.item: row.details for row in sections["identity"]}.items()


def test_a_part_without_words_of_its_own_is_shown_by_its_fields() -> None:
    """So a new shape cannot be forgotten."""

    class New(Item, frozen=True, kw_only=True):
        level: str

    class Other(msgspec.Struct, frozen=True):
        depth: int
        inner: New
        nothing: str | None = None

    place = (Why("x", "f.yaml", 1),)
    rows = list(build_rows(Other(3, New(id="a", level="full", why=place))))
    assert [(row.item, row.details) for row in rows] == [
        ("depth", "3"),
        ("inner.id", "a"),
        ("inner.level", "full"),
    ]


def test_a_fact_that_is_a_part_is_not_named_twice() -> None:
    """Its title is its name."""
    (row,) = build_sections(Kernel.open(TEMPLATES).manifest("software_dev", "co"))["depth left"]
    assert (row.item, row.details) == ("", "3")
