"""What an upgrade makes of one text: the edits, their places, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from orgkernel.loading.files import decode
from orgkernel.project.edits.spans import Edit, apply_edits, find_start_of_insertion, move_back, move_forward
from orgkernel.project.upgrade import FileUpgrade, render_diff, upgrade_source
from orgkernel.project.upgrade_steps import Draft, ManualChange, TextChange
from tests.support.trees import ONTOLOGY, TEMPLATES

HEAD = '_schema: orgkernel:role_profile\n_version: "1.0"\nrole_id: dev\ndescription: d\n'


def upgrade(text: str, name: str = "dev.yaml", **options: Any) -> FileUpgrade:
    found = upgrade_source(decode(name, name, text.encode()), **options)
    assert found is not None
    assert upgrade(found.text, name, **options).text == found.text if found.is_changed else True
    return found


def trigger(written: str) -> str:
    return f"{HEAD}pace_plan:\n  alternate:\n    action: narrow_scope   # as before\n    trigger: {written}\n"


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("failures >= 3", "consecutive_tool_failures >= 3"),
        ("'failures>=3'  # c", "'consecutive_tool_failures>=3'  # c"),
        ('"NOT critical_failure"', '"NOT unrecoverable_error"'),
        ("stale_turns >  max_turns_without_progress", "turns_without_progress >  max"),
        ("failures + failures > 3", "consecutive_tool_failures + consecutive_tool_failures > 3"),
        ("&here failures >= 3", "&here consecutive_tool_failures >= 3"),
        ("&here 'failures >= 3'", "&here 'consecutive_tool_failures >= 3'"),
        ("failures >= unknown_word", "consecutive_tool_failures >= unknown_word"),
    ],
)
def test_published_words_are_replaced_exactly_where_they_stand(written: str, becomes: str) -> None:
    """However the text is quoted, and also where the trigger has another mistake."""
    found = upgrade(trigger(written))
    assert (found.text, found.left, found.refusal) == (trigger(becomes), (), "")


@pytest.mark.parametrize(
    "written",
    [
        "failures >= 3\n      OR context_fill > 0.5",
        ">-\n      failures >= 3",
        r'"failures\x20>= 3"',
        '"failures\n      >= 3"',
    ],
)
def test_a_trigger_that_is_not_there_letter_by_letter_is_left_to_a_person(written: str) -> None:
    """With its place and the words to write."""
    found = upgrade(trigger(written))
    assert (found.is_changed, found.refusal) == (False, "")
    (note,) = found.left
    assert note.before == note.after == (8, 14)
    assert note.what == "the trigger uses `failures`, and it is written with escapes or over several lines"
    assert note.help == "write `consecutive_tool_failures` instead"


def test_a_trigger_that_would_become_too_long_is_left_to_a_person() -> None:
    """The longer names may pass the length a trigger may have; it would stop working."""
    text = trigger(" OR ".join(["failures > 1"] * 60))
    found = upgrade(text)
    assert (found.text, len(found.left)) == (text, 1)
    assert found.left[0].what.endswith("and it becomes too long")


@pytest.mark.parametrize("written", ["consecutive_tool_failures >= 3", "failures >=", "3", "{failures: 3}"])
def test_what_is_current_or_no_trigger_is_not_touched(written: str) -> None:
    """Mistakes are for `orgkernel check`."""
    assert upgrade(trigger(written)) == FileUpgrade(decode("dev.yaml", "dev.yaml", trigger(written).encode()), trigger(written))  # fmt: skip


def test_words_that_its_author_keeps_for_a_reason_stay() -> None:
    """A suppression of ORG503 is honored, and one of another role is not."""
    kept = "suppressions:\n  - {rule: ORG503, subject: 'role:%s', reason: another tool reads it}\n"
    assert not upgrade(trigger("failures > 1") + kept % "dev").is_changed
    assert upgrade(trigger("failures > 1") + kept % "other").is_changed


def test_triggers_of_overrides_are_rewritten() -> None:
    """An organization may replace the tiers of a profile."""
    text = """_schema: orgkernel:organization
_version: "1.0"
org_id: o
hierarchy: {co: {}}
overrides: {co: {pace_plan: {emergency: {trigger: critical_failure}}}}
"""
    assert upgrade(text).text == text.replace("critical_failure", "unrecoverable_error")


@pytest.mark.parametrize(
    ("name", "text", "becomes"),
    [
        ("a.yaml", "_schema: S # c\nrole_id: a\n", '_schema: S # c\n_version: "1.0"\nrole_id: a\n'),
        ("a.yaml", "role_id: a\n_schema: 'S'", "role_id: a\n_schema: 'S'\n_version: \"1.0\""),
        ("a.yaml", "  _schema: S\r\n  role_id: a\r\n", '  _schema: S\r\n  _version: "1.0"\r\n  role_id: a\r\n'),
        ("a.yaml", "{_schema: &s S, x_it: *s, role_id: a}", '{_schema: &s S, _version: "1.0", x_it: *s, role_id: a}'),
        ("a.yaml", "{_schema: S, role_id: a}", '{_schema: S, _version: "1.0", role_id: a}'),
        ("a.yaml", "{\n  _schema: S,\n  role_id: a}", '{\n  _schema: S,\n  _version: "1.0",\n  role_id: a}'),
        ("a.json", '{"_schema": "S", "role_id": "a"}', '{"_schema": "S", "_version": "1.0", "role_id": "a"}'),
        ("a.json", '{"role_id":"a","_schema":"S"}', '{"role_id":"a","_schema":"S","_version":"1.0"}'),
        ("a.json", '{\n\t"_schema": "S",\n\t"role_id": "a"\n}', '{\n\t"_schema": "S",\n\t"_version": "1.0",\n\t"role_id": "a"\n}'),
        ("a.yaml", "{\n  _schema: S,  # c\n  role_id: a}", '{\n  _schema: S,  # c\n  _version: "1.0",\n  role_id: a}'),
        ("a.yaml", "{\n  role_id: a,\n  _schema: S\n}", '{\n  role_id: a,\n  _schema: S,\n  _version: "1.0"\n}'),
        ("a.yaml", "_schema: S\r\nrole_id: a\n", '_schema: S\r\n_version: "1.0"\r\nrole_id: a\n'),
        ("a.yaml", "_schema: S\rrole_id: a", '_schema: S\r_version: "1.0"\rrole_id: a'),
        ("a.yaml", "--- &a\n_schema: S\nrole_id: a\n", '--- &a\n_schema: S\n_version: "1.0"\nrole_id: a\n'),
        ("a.yaml", "_schema: S\n_version: 1.0 # n\nrole_id: a\n", '_schema: S\n_version: "1.0" # n\nrole_id: a\n'),
        ("a.yaml", "_schema: S\n_version: 1.00\nrole_id: a\n", '_schema: S\n_version: "1.0"\nrole_id: a\n'),
        ("a.json", '{"_schema":"S","_version":1.0,"role_id":"a"}', '{"_schema":"S","_version":"1.0","role_id":"a"}'),
    ],
)  # fmt: skip
def test_the_version_is_written_in_the_way_of_the_document(name: str, text: str, becomes: str) -> None:
    """On a line of its own after `_schema`, after a comma, or in quotes where it was a number."""
    text, becomes = (each.replace("S", "orgkernel:role_profile") for each in (text, becomes))
    found = upgrade(text, name)
    assert (found.text, found.left, found.refusal) == (becomes, (), "")


RENAMED = [
    ("dev.yaml", f"{HEAD}# whose\ntier:  utility  # kept\nlayer: top\n"),
    ("dev.yaml", f"{HEAD}'tier': external\n"),
    ("dev.json", '{"_schema":"orgkernel:role_profile","_version":"1.0","role_id":"dev","tier":"crew"}'),
    (
        "crew.yaml",
        '_schema: orgkernel:crew_roster\n_version: "1.0"\nagents:\n  a: {tier: utility}  # kept\n  tier: {}\n',
    ),
]


@pytest.mark.parametrize(("name", "text"), RENAMED)
def test_a_renamed_field_gets_its_new_name(name: str, text: str) -> None:
    """Only the name of the field changes; an agent may have the old name of the field as its id."""
    upgraded = upgrade(text, name)
    expected = (
        text.replace("tier:", "crew_tier:", 1)
        .replace("'tier'", "'crew_tier'")
        .replace('"tier"', '"crew_tier"')
    )
    assert (upgraded.text, upgraded.left, upgraded.refusal) == (expected, (), "")
    assert [each.what for each in upgraded.changes] == ["writes the field `crew_tier` instead of `tier`"]


def test_a_renamed_field_of_a_list_gets_its_new_name() -> None:
    """Each entry is rewritten where it stands."""
    head = '_schema: orgkernel:rank_ladder\n_version: "1.0"\nranks: [{id: a}, {id: b}]\npromotions:\n  b:\n    requirements:\n'
    entries = (
        "      - {%s: role, min_proficiency: 2}  # all\n      - %s: universal\n        min_proficiency: 3\n"
    )
    upgraded = upgrade(head + entries % ("scope", "scope"), "ranks.yaml")
    assert (upgraded.text, upgraded.left) == (head + entries % ("skills", "skills"), ())


def test_a_renamed_field_beside_its_new_name_is_left_to_a_person() -> None:
    """Only the author knows which of the two values is right."""
    upgraded = upgrade(f"{HEAD}tier: utility\ncrew_tier: crew\n")
    assert not upgraded.is_changed
    assert [(each.what, each.help) for each in upgraded.left] == [
        ("the field `tier` is renamed", "write `crew_tier`")
    ]


def test_every_document_of_a_file_is_upgraded_and_others_in_it_stay() -> None:
    """A stream may hold what is not ours."""
    ours = "_schema: orgkernel:role_profile\nrole_id: {}\n"
    text = "---\n".join([ours.format("a"), "kind: Deployment\n_version: 1.0\n", ours.format("b")])
    assert upgrade(text).text == text.replace("profile\n", 'profile\n_version: "1.0"\n')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            trigger("*words").replace("description: d", "description: &words failures >= 3"),
            "the upgrade would change its meaning; rewrite it by hand; `orgkernel check` shows what to change",
        ),
        (
            "_schema: orgkernel:role_profile\nrole_id: a\nrole_id: b\n",
            "the key `role_id` is already on line 2",
        ),
    ],
)
def test_a_file_that_would_not_say_the_same_is_left_alone(text: str, reason: str) -> None:
    """The values of the new text are compared with those that were announced."""
    found = upgrade(text)
    assert (found.is_changed, found.changes, found.refusal) == (False, (), reason)


@pytest.mark.parametrize(
    "text",
    [
        '"_schema": "orgkernel:role\\x5fprofile"\nrole_id: a\n',
        "? _schema\n: orgkernel:role_profile\n? role_id\n: a\n",
        "{\n  role_id: a,\n  _schema: orgkernel:role_profile  # c\n}\n",
    ],
)
def test_a_version_that_cannot_be_added_is_left_to_a_person(text: str) -> None:
    """With what to write."""
    found = upgrade(text)
    assert not found.is_changed
    assert [(note.what, note.help) for note in found.left] == [
        ("`_version` is missing", 'add `_version: "1.0"`')
    ]


@pytest.mark.parametrize("written", ['"1.7"', "1.7", '"2.0"', "1", "[1]"])
def test_a_document_of_another_version_is_left_to_its_own_tool(written: str) -> None:
    """Its words may mean something else there."""
    found = upgrade(trigger("failures > 1").replace('"1.0"', written))
    assert not found.is_changed
    assert found.left[0].before == (2, 11)


def test_files_that_are_not_ours_are_passed_over() -> None:
    """Unless they were named."""
    source = decode("a.yaml", "a.yaml", b"trigger: failures > 1\n")
    assert upgrade_source(source) is None
    named = upgrade_source(source, named=True)
    assert named is not None
    assert named.refusal == "it contains no orgkernel document"


def test_a_deprecated_field_is_left_to_a_person() -> None:
    """Its place in the new file counts the line that was added."""
    found = upgrade("_schema: orgkernel:organization\norg_id: o\nhierarchy: {co: {}}\ndefaults: {}\n")
    (note,) = found.left
    assert (note.before, note.after) == ((4, 1), (5, 1))
    assert note.what == "field `defaults` is deprecated"
    (change,) = found.changes
    assert (change.before, change.after, change.what) == ((1, 32), (2, 1), "adds `_version` `1.0`")


def test_what_ships_is_up_to_date() -> None:
    """Templates and ontology are examples of the current format."""
    for path in [*ONTOLOGY.glob("*.yaml"), *TEMPLATES.rglob("*.yaml")]:
        found = upgrade(path.read_text(encoding="utf-8"), path.name)
        assert (found.is_changed, found.left, found.refusal) == (False, (), ""), path


def rename_orders(draft: Draft) -> Iterator[TextChange | ManualChange]:
    """A step of a version to come, for the tests: orders end with a full stop."""
    for number, order in enumerate(draft.value.get("standing_orders", ())):
        route = ("standing_orders", number)
        span = draft.places.find_span(draft.mark(*route), order)
        if span is None:
            yield ManualChange(
                draft.places.compute_offset(draft.mark(*route)), "the order has no end", "write a full stop"
            )
        elif not order.endswith("."):
            yield TextChange(Edit(span[1], span[1], "."), "ends an order", route, f"{order}.")


def no_change(_: Draft) -> Iterator[TextChange | ManualChange]:
    """A step that only the number knows of."""
    yield from ()


LATER: dict[str, Any] = {"steps": {(1, 0): rename_orders, (1, 1): no_change}, "current": (1, 2)}


def test_a_step_to_a_version_that_is_not_read_changes_nothing() -> None:
    """Its document would have a finding of reading that the old one has not."""
    text = "_schema: orgkernel:role_profile\nrole_id: a\nstanding_orders: [Ask, Tell.]\n"
    found = upgrade_source(decode("a.yaml", "a.yaml", text.encode()), **LATER)
    assert found is not None
    assert found.text == text
    assert found.refusal.startswith("the upgrade would cause a new finding")


def test_steps_lead_from_version_to_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, after what is tidied; a document that a step cannot finish keeps its version."""
    monkeypatch.setattr("orgkernel.loading.documents.VERSION", (1, 2))
    text = "_schema: orgkernel:role_profile\nrole_id: a\nstanding_orders: [Ask, Tell.]\n"
    found = upgrade(text, **LATER)
    assert found.text == text.replace("role_id", '_version: "1.2"\nrole_id').replace("Ask", "Ask.")
    assert [(note.before, note.after, note.what) for note in found.changes] == [
        ((1, 32), (2, 1), "adds `_version` `1.0`"),
        ((1, 32), (2, 11), "writes `_version` `1.1` instead of `1.0`"),
        ((1, 32), (2, 11), "writes `_version` `1.2` instead of `1.1`"),
        ((3, 22), (4, 22), "ends an order"),
    ]
    half = upgrade(text.replace("Ask", '"As\\x6b"'), **LATER)
    assert '_version: "1.0"' in half.text
    assert [note.what for note in half.left] == ["the order has no end"]


def test_the_diff_is_of_lines_and_keeps_their_ends() -> None:
    """A carriage return ends no line of a patch, and a last line without an end is marked."""
    found = upgrade("_schema: orgkernel:role_profile\r\nrole_id: a")
    assert render_diff(found, "\ufeff") == (
        "--- dev.yaml\n+++ dev.yaml\n@@ -1,2 +1,3 @@\n \ufeff_schema: orgkernel:role_profile\r\n"
        '+_version: "1.0"\r\n role_id: a\n\\ No newline at end of file\n'
    )


def test_edits_and_the_places_they_move() -> None:
    """Forward and back agree on every character that stays."""
    edits = [Edit(1, 3, "xyz"), Edit(5, 5, ", n"), Edit(6, 8, "")]
    assert apply_edits("abcdefghi", edits) == "axyzde, nfi"
    assert [move_forward(at, edits) for at in (0, 1, 2, 3, 5, 8)] == [0, 1, 1, 4, 9, 10]
    assert [move_back(at, edits) for at in (0, 1, 4, 7, 9, 10)] == [0, 1, 3, 5, 5, 8]
    assert find_start_of_insertion(edits[1], edits) == 8
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", [Edit(0, 2, ""), Edit(1, 3, "")])
