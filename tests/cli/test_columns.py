"""Text in columns: laid out as rich lays it out, in any width."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from orgkernel.cli.columns import TextTable, count_cells, wrap_cells

WORDS = st.text(st.sampled_from("abc-/.北é"), min_size=1, max_size=14)
CELLS = st.lists(WORDS, max_size=6).map(" ".join) | st.lists(WORDS, min_size=2, max_size=3).map("\n".join)
WHOLE = "where"


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Headings and rows; the last column may be whole."""
    count = draw(st.integers(1, 5))
    headings = [f"h{number}" for number in range(count)]
    if draw(st.booleans()):
        headings.append(WHOLE)
    rows = draw(st.lists(st.lists(CELLS, min_size=len(headings), max_size=len(headings)), max_size=4))
    return headings, rows


def draw_by_rich(headings: list[str], rows: list[list[str]], width: int) -> list[str]:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading == WHOLE)
    for row in rows:
        table.add_row(*row)
    buffer = io.StringIO()
    Console(file=buffer, width=width, no_color=True, highlight=False, markup=False, emoji=False).print(table)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]


@given(tables(), st.integers(50, 120))
def test_a_table_is_laid_out_as_rich_does(table: tuple[list[str], list[list[str]]], width: int) -> None:
    """Widths of columns, breaks of lines, and characters that take two columns or none."""
    headings, rows = table
    whole = [WHOLE, *(line for row in rows for line in row[-1].split("\n"))] if WHOLE in headings else []
    ours = TextTable(*headings, whole=WHOLE)
    for row in rows:
        ours.add_row(*row)
    lines = [line for line, _ in ours.lines(width, 50)]
    room = max(width, max(map(count_cells, whole), default=0) + 50)
    assert lines == draw_by_rich(headings, rows, room)


def test_a_word_that_is_too_long_is_folded() -> None:
    """Nothing is cut off, in whatever width."""
    for width in range(1, 12):
        assert "".join(wrap_cells("deliberately", width)) == "deliberately"
        assert all(len(part) <= width for part in wrap_cells("deliberately", width))


def test_headings_are_told_apart() -> None:
    """So that a terminal shows them bold."""
    table = TextTable("agent", "rank")
    table.add_row("ada", "captain")
    assert list(table.lines(80)) == [("agent  rank", True), ("ada    captain", False)]
