"""Holding findings against a baseline."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.diagnostics.baseline import (
    Allowed,
    build_baseline,
    build_entry,
    compare,
    parse_baseline,
    render_baseline,
)
from orgkernel.errors import BadBaseline
from tests.support.findings import a_finding, several


@given(several)
def test_everything_that_was_written_down_is_known(found):
    """Also after the way through the file."""
    baseline = parse_baseline(render_baseline(build_baseline(found, str)), "b")
    comparison = compare(baseline, found, str)
    assert (comparison.new, comparison.known, comparison.stale) == ((), len(found), ())


@given(several, several)
def test_what_is_new_and_what_is_stale_is_counted_exactly(before, after):
    """A naive count per entry agrees: more than allowed is new, less is stale."""
    comparison = compare(build_baseline(before, str), after, str)
    allowed = Counter(build_entry(found, str) for found in before)
    there = Counter(build_entry(found, str) for found in after)
    assert Counter(build_entry(found, str) for found in comparison.new) == there - allowed
    assert set(comparison.stale) == set(allowed - there)
    assert comparison.known + len(comparison.new) == len(after)


@given(several, st.randoms(use_true_random=False))
def test_the_file_does_not_depend_on_the_order_of_findings(found, random):
    """The same findings, the same bytes, and no number of a line in them."""
    shuffled = list(found)
    random.shuffle(shuffled)
    text = render_baseline(build_baseline(found, str))
    assert render_baseline(build_baseline(shuffled, str)) == text
    moved = [replace(each, place=each.place._replace(line=each.place.line + 1)) for each in found]
    assert render_baseline(build_baseline(moved, str)) == text


def test_the_exact_file():
    """A line per entry, in order, so that a change to it can be read and merged."""
    text = render_baseline(build_baseline([a_finding(), a_finding(line=7), a_finding(code="ORG102")], str))
    assert text == (
        '{\n  "orgkernel_baseline": "1",\n  "entries": [\n'
        '    {"code": "ORG102", "file": "roles/dev.yaml", "subject": "role:dev", '
        '"message": "f213a998fb33dbac682c3fdb77b0df5b", "count": 1, "text": "role `dev` handles `codegn`"},\n'
        '    {"code": "ORG301", "file": "roles/dev.yaml", "subject": "role:dev", '
        '"message": "f213a998fb33dbac682c3fdb77b0df5b", "count": 2, "text": "role `dev` handles `codegn`"}\n'
        "  ]\n}\n"
    )


def test_texts_have_no_numbers_that_an_edit_elsewhere_changes():
    """Writing a baseline again changes a line only if its finding has changed."""
    texts = [
        [each.text for each in build_baseline([a_finding(message=message)], str).values()]
        for message in ("`co` has 8 subordinates, see a.yaml:3:1", "`co` has 9 subordinates, see a.yaml:7:1")
    ]
    assert texts == [["`co` has # subordinates, see a.yaml:#"]] * 2


def test_a_baseline_without_texts_is_read():
    """Files from before there were texts stay valid."""
    old = {"code": "ORG301", "file": "a", "subject": "", "message": "x", "count": 2}
    text = json.dumps({"orgkernel_baseline": "1", "entries": [old]})
    assert list(parse_baseline(text, "b").values()) == [Allowed(2, "")]


def test_findings_follow_a_renamed_file():
    """A finding in a new file is known if a file that is gone had it; as many as it had, and only the same finding."""
    old = [a_finding(file="roles/dev.yaml", line=line) for line in (1, 2)]
    baseline = build_baseline(old, str)
    renamed = [replace(each, place=each.place._replace(file="people/developer.yaml")) for each in old]
    (entry,) = baseline

    def is_gone(file: str) -> bool:
        return file == "roles/dev.yaml"

    followed = compare(baseline, renamed, str, is_gone=is_gone)
    assert (followed.new, followed.known, followed.stale, followed.moved) == ((), 2, (), (entry,))
    assert compare(baseline, renamed, str).new == tuple(renamed)
    third = replace(renamed[0], place=renamed[0].place._replace(line=9))
    assert compare(baseline, [*renamed, third], str, is_gone=is_gone).new == (third,)
    for other in (
        replace(renamed[0], code="ORG302"),
        replace(renamed[0], message="role `dev` handles `osnt`"),
        replace(renamed[0], subject="role:ops"),
    ):
        assert compare(baseline, [other], str, is_gone=is_gone).new == (other,)


def test_a_finding_about_a_whole_file_follows_only_its_name():
    """An empty file that was deleted does not allow an empty file of another name."""
    baseline = build_baseline([a_finding(code="ORG004", file="a/one.yaml", subject="")], str)
    moved, other = (a_finding(code="ORG004", file=file, subject="") for file in ("b/one.yaml", "b/two.yaml"))
    assert compare(baseline, [moved], str, is_gone=lambda file: file == "a/one.yaml").new == ()
    assert compare(baseline, [other], str, is_gone=lambda file: file == "a/one.yaml").new == (other,)


def test_an_empty_baseline_allows_nothing():
    """It is what remains when everything has been mended."""
    text = render_baseline({})
    assert text == '{\n  "orgkernel_baseline": "1",\n  "entries": []\n}\n'
    assert compare(parse_baseline(text, "b"), [a_finding()], str).new == (a_finding(),)


def test_of_findings_that_look_the_same_the_later_ones_are_new():
    """It is unknown which finding was added, so the last one is reported."""
    first, second = a_finding(line=3), a_finding(line=8)
    assert compare(build_baseline([first], str), [first, second], str).new == (second,)


def test_entries_about_unchecked_files_are_not_stale():
    """Checking one file says nothing about the others."""
    baseline = build_baseline([a_finding(file="a.yaml"), a_finding(file="b.yaml")], str)
    comparison = compare(baseline, [], str, lambda file: file == "a.yaml")
    assert [entry.file for entry in comparison.stale] == ["a.yaml"]


def test_an_entry_that_a_merge_doubled_still_counts_once():
    """Two branches that accept the same finding do not together accept two."""
    entry = json.loads(render_baseline(build_baseline([a_finding()], str)))["entries"][0]
    text = json.dumps({"orgkernel_baseline": "1", "entries": [entry, entry]})
    assert [allowed.number for allowed in parse_baseline(text, "b").values()] == [1]


ENTRY = {"code": "ORG301", "file": "a", "subject": "", "message": "x", "count": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a baseline: line 1 is not JSON"),
        ("{\n<<<<<<< ours\n", "is not a baseline: line 2 is not JSON"),
        ("[" * 100_000, "is not a baseline: it is not JSON"),
        ("1" * 5_000, "is not a baseline: it is not JSON"),
        ("[]", "is not a baseline: it has no `orgkernel_baseline`"),
        ('{"entries": []}', "is not a baseline: it has no `orgkernel_baseline`"),
        ('{"orgkernel_baseline": "2"}', "is a baseline of version `2`, but this program reads version `1`"),
        ('{"orgkernel_baseline": [1]}', "is a baseline of version `[1]`"),
        ('{"orgkernel_baseline": "1"}', "is not a baseline: it has no list `entries`"),
        ('{"orgkernel_baseline": "1", "entries": {}}', "it has no list `entries`"),
        *(
            (
                json.dumps({"orgkernel_baseline": "1", "entries": [ENTRY, entry]}),
                "entry 2 lacks one of `code`, ",
            )
            for entry in (
                None,
                [],
                ENTRY | {"count": 0},
                ENTRY | {"count": True},
                ENTRY | {"count": 1.5},
                ENTRY | {"code": 301},
                {name: value for name, value in ENTRY.items() if name != "message"},
            )
        ),
    ],
)
def test_what_is_no_baseline_is_refused(text, message):
    """With what is wrong, and never with a traceback; passing over a broken one would report everything."""
    with pytest.raises(BadBaseline) as raised:
        parse_baseline(text, "b.json")
    assert message in raised.value.message
    assert raised.value.message.startswith("`b.json` ")
    assert raised.value.help
