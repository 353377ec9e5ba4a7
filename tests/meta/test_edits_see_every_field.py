"""Every declared field of every kind of document is compared: an edit of it is seen, or the field is named as told only.

Two versions are compared through their records. A record or a field that the comparison forgets would make `orgkernel diff`
say that nothing changed.
"""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.diff.edits import NOUNS, find_edits
from orgkernel.documents.records import CallLimit, ProgramEntry, SystemOrigin, Webhook
from orgkernel.graph.records import OrgRecords
from tests.support.trees import TEMPLATES, read

COMPARED_OTHERWISE = {
    "org_id": "what tells the two organizations to be compared",
    "document": "the section `organization`",
    "organization": "the section `organization`, with what the governance document sets",
    "without_profile": "follows from the hierarchy and the profiles",
    "withheld": "roles in files with errors, which are told apart",
    "withheld_agents": "agents that fill such a role, which are told apart",
    "excused": "roles in files that cannot be read, which are told apart",
    "incomplete": "catalogs that cannot be read, which hold the organization back",
    "elsewhere": "the section `sharing`",
    "files": "names of files, which no answer depends on",
    "unread": "names of files, which no answer depends on",
    "digest": "of the files",
    "catalogs": "the entries of catalogs are compared",
    "catalog_counts": "whether an entry is the organization's own is compared with the entry",
    "skill_categories": "the section `settings`",
    "proficiency_scale": "the section `settings`",
    "ladder": "where the ranks are written",
    "governance": "the section `governance`",
}


def test_every_part_of_the_records_is_a_section() -> None:
    """A new part of the records is compared, or this table says why not."""
    parts = {field.name for field in msgspec.structs.fields(OrgRecords)}
    assert parts - COMPARED_OTHERWISE.keys() == NOUNS.keys()
    assert COMPARED_OTHERWISE.keys() <= parts


@pytest.fixture(scope="module")
def starship() -> OrgRecords:
    (organization,) = read(TEMPLATES / "starship").organizations.values()
    return organization.records


@pytest.mark.parametrize(
    "section", [each for each in NOUNS if each not in ("posts", "aliases", "bills", "orders", "ranks")]
)
def test_every_field_of_an_entry_is_compared(starship: OrgRecords, section: str) -> None:
    """Whatever field of an entry of a catalog differs, there is an edit of that field."""
    if section in ("webhooks", "system_origins", "programs", "limits"):  # the template declares none
        record = {
            "webhooks": Webhook(description="One."),
            "system_origins": SystemOrigin(description="One."),
            "programs": ProgramEntry(effect="reads"),
            "limits": CallLimit(tools=("mail",)),
        }[section]
        person = next(iter(starship.people.values()))
        starship = replace(
            starship, **{section: {"one": replace(person, id="one", section=section, record=record)}}
        )
    entries = getattr(starship, section)
    assert entries, "nothing would be compared"
    entry_id, definition = next(iter(entries.items()))
    if not isinstance(definition.record, msgspec.Struct):
        changed = {**entries, entry_id: replace(definition, record=())}
        assert [
            (each.section, each.id) for each in find_edits(starship, replace(starship, **{section: changed}))
        ] == [(section, entry_id)]
        return
    for field in msgspec.structs.fields(definition.record):
        if field.name in ("kind", "version", "suppressions"):
            continue
        record = replace(definition.record, **{field.name: _another(getattr(definition.record, field.name))})
        changed = {**entries, entry_id: replace(definition, record=record)}
        edits = find_edits(starship, replace(starship, **{section: changed}))
        assert {(each.section, each.id) for each in edits} == {(section, entry_id)}, field.name
        assert {each.field for each in edits} == {field.encode_name}, field.name


def _another(value: object) -> object:
    """A value that differs, whatever the field allows: records are compared and not checked."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, tuple):
        return (*value, "another")
    if isinstance(value, dict):
        return {**value, "another": "value"}
    return "another"


def test_versions_without_an_edit_answer_alike(starship: OrgRecords) -> None:
    """Records that are the same have no edit; the tables of access are made from them alone."""
    assert find_edits(starship, starship) == ()
    (again,) = read(TEMPLATES / "starship").organizations.values()
    assert find_edits(starship, again.records) == ()
    assert get_access_tables(again.index).org_id == "starship"
