"""How far the text reaches that a finding points at."""

from __future__ import annotations

import pytest

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.render import find_end_column


@pytest.mark.parametrize(
    ("line", "column", "end"),
    [
        ("  reports_to: enginering_xo", 15, 28),
        ("  reports_to: enginering_xo  # who", 15, 28),
        ("  bst_domains: [codegen, codegn]", 26, 32),
        ("reports_to: x\r\n", 1, 11),
        ('name: "a, \\" b"', 7, 16),
        ("name: 'é 😀'", 7, 12),
        ("x", 1, 2),
        ("  trigger: failures >= 4 OR context_fil > 85", 29, 40),
        ("{trigger: 'context_fil > 85', action: escalate}", 12, 23),
    ],
)
def test_a_word_or_a_quoted_text_ends_where_it_ends(line, column, end):
    """Columns count characters from 1, and the end is the column after the last one."""
    assert find_end_column(Place("a.yaml", 1, column), lambda _: [line]) == end


@pytest.mark.parametrize(
    "place", [Place("a.yaml", 2, 1), Place("a.yaml", 0, 1), Place("a.yaml", 1, 5), Place("a.yaml", 1, 0)]
)
def test_a_place_that_is_not_there_has_no_end(place):
    """A file can have changed since it was read, or a finding can be about none of its lines."""
    assert find_end_column(place, lambda _: ["abc"]) is None
