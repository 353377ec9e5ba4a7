"""A sentence finds its role as often as the documentation says, and small talk finds none."""

from __future__ import annotations

import pytest

from benchmarks.routing import NOBODY, ORGANIZATIONS, latency, quality, read

# What is promised for each: first candidate, among three, wrong at most, small talk at most.
FLOORS = {
    ("furniture", "tuned"): (0.84, 0.94, 0.10, 0.05),
    ("furniture", "held_out"): (0.80, 0.94, 0.13, 0.05),
    ("hospital", "tuned"): (0.78, 0.95, 0.17, 0.06),
    ("city", "held_out"): (0.70, 0.86, 0.19, 0.05),
    ("software_dev", "tuned"): (0.88, 0.96, 0.08, 0.05),
    ("software_dev", "held_out"): (0.88, 0.95, 0.07, 0.03),
    ("sigint_alpha", "tuned"): (0.92, 0.98, 0.05, 0.02),
    ("sigint_alpha", "held_out"): (0.94, 0.98, 0.01, 0.02),
    ("software_dev, everyday", "tuned"): (0.85, 0.90, 0.05, 0.01),
    ("software_dev, everyday", "held_out"): (0.83, 0.86, 0.05, 0.01),
    ("sigint_alpha, everyday", "tuned"): (0.85, 0.90, 0.05, 0.01),
    ("sigint_alpha, everyday", "held_out"): (0.85, 0.90, 0.05, 0.01),
}


@pytest.fixture(scope="module")
def measured():
    return {(each.organization, each.part): each for each in quality()}


@pytest.mark.parametrize("which", FLOORS, ids="-".join)
def test_sentences_find_their_role(measured, which):
    """The figures do not fall below what they are."""
    first, three, wrong, false = FLOORS[which]
    found = measured[which]
    assert (found.first >= first, found.among_three >= three, found.wrong <= wrong, found.false <= false) == (
        True,
        True,
        True,
        True,
    ), found


def test_every_label_is_a_role_and_no_sentence_is_asked_twice():
    """A typing error in a label would look like a mistake of the ranking."""
    for name in ORGANIZATIONS:
        data = read(name)
        rows = [*data.get("tuned", ()), *data.get("held_out", ())]
        assert {role_id for role_id, _ in rows} <= data["roles"].keys(), name
        assert len({text for _, text in rows}) == len(rows) >= 60, name
        assert len(data["roles"]) >= 60, name
    rows = [row for parts in read("templates").values() for part in parts.values() for row in part]
    assert len(rows) >= 170
    assert sum(role_id == NOBODY for role_id, _ in rows) >= 40


def test_a_thousand_roles_take_about_a_millisecond():
    """The aim is 1 ms; a busy machine gets three times that."""
    assert latency()["median"] <= 3.0
