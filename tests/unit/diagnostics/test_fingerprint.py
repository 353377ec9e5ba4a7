"""What a finding is recognized by when the file around it changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.diagnostic import fingerprint_finding, fingerprint_findings, fingerprint_message
from tests.support.findings import a_finding, findings, several


@given(findings, findings)
def test_where_in_the_file_it_stands_and_how_bad_it_is_make_no_difference(found, other):
    """Lines move, and a project may change a severity: the finding is the same."""
    moved = replace(
        found,
        place=found.place._replace(line=other.place.line, column=other.place.column),
        severity=other.severity,
        help=other.help,
        related=other.related,
    )
    assert fingerprint_finding(moved) == fingerprint_finding(found)


@pytest.mark.parametrize(
    "other",
    [
        a_finding(code="ORG302"),
        a_finding(file="roles/ops.yaml"),
        a_finding(subject="role:ops"),
        a_finding(message="role `dev` handles `codegm`"),
    ],
)
def test_rule_file_subject_and_words_do(other):
    """Each of them makes it another finding."""
    assert fingerprint_finding(other) != fingerprint_finding(a_finding())


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("co has 8 subordinates, at most 5", "co has 9 subordinates, at most 5", True),
        ("1,234 more values", "12 more values", True),
        ("declared again at org.yaml:5:3", "declared again at org.yaml:17:9", True),
        ("`a`, `b` and 2 more", "`a`, `b` and 3 more", True),
        ("role `dev1` is not declared", "role `dev2` is not declared", False),
        ("role `dev-1` is not declared", "role `dev-2` is not declared", False),
        ("interval `20` exceeds the limit", "interval `30` exceeds the limit", False),
    ],
)
def test_a_fingerprint_ignores_counts_and_keeps_the_words_of_users(before, after, same):
    """Numbers of ours are left out; those in backticks or in a word are part of what is wrong."""
    assert (fingerprint_message(before) == fingerprint_message(after)) is same


@given(several)
def test_each_finding_gets_one_of_its_own(found):
    """Also where two look exactly the same, because GitLab shows only one of those that share a fingerprint."""
    fingerprints = [fingerprint for _, fingerprint in fingerprint_findings(found)]
    assert len(set(fingerprints)) == len(found)


def test_a_finding_that_looks_the_same_does_not_change_the_one_before_it():
    """The first keeps its fingerprint when a second appears below."""
    first = a_finding()
    second = replace(first, place=Place("roles/dev.yaml", 9, 1))
    assert next(fingerprint_findings([first, second])) == (first, fingerprint_finding(first))
