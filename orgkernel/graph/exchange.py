"""Columns in which one profile says something else: its edges are exchanged, all others stay at their positions.

A profile's edges stand together (`extract_edges`). Where only the places of some moved, those are written anew; what comes
between the first and the last difference is put behind all edges and read in their place (`edge_order`). Positions that
are no longer in use stay behind, until a snapshot is packed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orgkernel.graph.columns import FILE_SHIFT, UNUSED, EdgeColumns, EdgeRun, positions_of
from orgkernel.graph.edge_order import EdgeOrder
from orgkernel.graph.schema import EdgeKind

# More parts than this are put together again: looking for a position's rank would take long.
_PARTS = 256
_UNUSED_KIND = 255
_KINDS = tuple(EdgeKind)
_REPORTS_TO = _KINDS.index(EdgeKind.REPORTS_TO)
_INSIDE = (1 << FILE_SHIFT) - 1

_Said = tuple[int, str, str, str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Columns after an exchange, and which positions were given up and taken."""

    before: EdgeColumns
    after: EdgeColumns
    removed: tuple[int, ...]
    """In the order of declaration, one after the other; positions of `before`."""
    added: tuple[int, ...]
    """Where they were, or as near as can be; positions of `after`."""

    @property
    def kinds(self) -> frozenset[EdgeKind]:
        """Kinds of which there are other edges now."""
        return frozenset(
            [
                *(self.before.kind(number) for number in self.removed),
                *(self.after.kind(number) for number in self.added),
            ]
        )

    @property
    def is_long(self) -> bool:
        """Whether the edges have to be put in order, which makes positions others."""
        return len(self.after.order.parts) > _PARTS


def exchange_edges(columns: EdgeColumns, role_id: str, file: str, runs: Iterable[EdgeRun]) -> Exchange | None:
    """The columns with these edges of a post, all declared in its profile, in place of those there are.

    The first may be that to the superior; where the columns have none from this file, the hierarchy decides, and it is
    left out. None where the edges of the profile cannot be told from others.
    """
    own = EdgeColumns(runs)
    said = list(_said(own, own.order))
    files = {place >> FILE_SHIFT for place in own.columns()[4]}
    if len(files) > 1 or (files and own.words[files.pop()] != file):
        return None
    number, start = columns.number_of(file), columns.number_of(role_id)
    superior, anchor = _find(columns, start, number)
    places = [number << FILE_SHIFT | place & _INSIDE for place in own.columns()[4]]
    moved: list[tuple[int, int]] = []
    if said and said[0][0] == _REPORTS_TO:
        if superior is not None:
            if [said[0]] != list(_said(columns, (superior,))):
                return None
            moved.append((superior, places[0]))
        said, places = said[1:], places[1:]
    elif superior is not None:
        return None
    if anchor is None and said:
        return None
    first, beyond = (0, 0) if anchor is None else _block(columns, anchor, number)
    block = [columns.order.position(rank) for rank in range(first, beyond)]
    was = list(_said(columns, block))
    same = _same(was, said)
    same_at_end = _same(was[same:][::-1], said[same:][::-1])
    end, new_end = len(was) - same_at_end, len(said) - same_at_end
    moved += zip(block[:same], places[:same], strict=True)
    moved += zip(block[end:], places[new_end:], strict=True)
    removed = tuple(block[same:end])
    after, added = _exchanged(columns, moved, removed, said[same:new_end], places[same:new_end], first + same)
    return Exchange(columns, after, removed, added)


def in_order(columns: EdgeColumns) -> EdgeColumns:
    """The same edges at the positions of their order, with no others: as if they had been made at once."""
    parts = columns.order.parts
    if len(parts) == 1 and parts[0] == (0, len(columns.columns()[0])):
        return columns
    kinds, sources, targets, attributes, places = (_joined(column, parts) for column in columns.columns())
    files = array("I", [place >> FILE_SHIFT for place in places])
    # Where each number is met first: in the order in which `EdgeColumns` asks for words.
    met: dict[int, int] = {}
    for step, column in enumerate((files, sources, attributes, targets)):
        last = len(column) - 1
        first = dict(zip(reversed(column), range(4 * last + step, -1, -4), strict=True))
        for number, at in first.items():
            met[number] = min(met.get(number, at), at)
    old = sorted(met, key=met.__getitem__)
    new = {number: at for at, number in enumerate(old)}
    renumbered = new.__getitem__
    columns_now = (
        kinds,
        array("I", map(renumbered, sources)),
        array("I", map(renumbered, targets)),
        array("I", map(renumbered, attributes)),
        array("Q", [new[place >> FILE_SHIFT] << FILE_SHIFT | place & _INSIDE for place in places]),
    )
    words = tuple(columns.words[number] for number in old)
    return EdgeColumns.of_columns(words, columns_now, EdgeOrder([(0, len(kinds))]))


def _joined(column: array[int], parts: Sequence[tuple[int, int]]) -> array[int]:
    joined = array(column.typecode)
    for start, beyond in parts:
        joined += column[start:beyond]
    return joined


def _said(columns: EdgeColumns, positions: Iterable[int]) -> Iterator[_Said]:
    kinds, sources, targets, attributes, _ = columns.columns()
    words = columns.words
    for each in positions:
        yield kinds[each], words[sources[each]], words[targets[each]], words[attributes[each]]


def _same(one: Sequence[_Said], other: Sequence[_Said]) -> int:
    """How many of the first are the same."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _find(columns: EdgeColumns, start: int, file: int) -> tuple[int | None, int | None]:
    """The positions of the edge to the superior and of some other edge that a role's profile says."""
    kinds, sources, _, _, places = columns.columns()
    superior = None
    for at in positions_of(sources, start):
        if places[at] >> FILE_SHIFT == file:
            if kinds[at] != _REPORTS_TO:
                return superior, at
            superior = at
    return superior, None


def _block(columns: EdgeColumns, anchor: int, file: int) -> tuple[int, int]:
    """The ranks of the edges around a position that are declared in the same file."""
    order, places, kinds = columns.order, columns.columns()[4], columns.columns()[0]

    def is_inside(rank: int) -> bool:
        at = order.position(rank)
        return places[at] >> FILE_SHIFT == file and kinds[at] != _REPORTS_TO

    first = beyond = order.rank(anchor)
    while first > 0 and is_inside(first - 1):
        first -= 1
    while beyond < len(order) and is_inside(beyond):
        beyond += 1
    return first, beyond


def _exchanged(
    columns: EdgeColumns,
    moved: Iterable[tuple[int, int]],
    removed: Sequence[int],
    said: Sequence[_Said],
    places: Sequence[int],
    rank: int,
) -> tuple[EdgeColumns, tuple[int, ...]]:
    words = columns.words
    number_of = {word: columns.number_of(word) for row in said for word in row[1:]}
    for word, known in number_of.items():
        if known == UNUSED:
            number_of[word] = len(words)
            words = (*words, word)
    more = (
        array("B", [row[0] for row in said]),
        array("I", [number_of[source] for _, source, _, _ in said]),
        array("I", [number_of[target] for _, _, target, _ in said]),
        array("I", [number_of[attribute] for _, _, _, attribute in said]),
        array("Q", places),
    )
    # Others read the old columns meanwhile.
    copies = tuple(old + new for old, new in zip(columns.columns(), more, strict=True))
    kinds, sources, targets, _, at = copies
    for position, place in moved:
        at[position] = place
    for position in removed:
        kinds[position], sources[position], targets[position] = _UNUSED_KIND, UNUSED, UNUSED
    start = len(kinds) - len(said)
    order = columns.order
    if removed or said:
        order = order.replaced(rank, rank + len(removed), (start, len(kinds)))
    return EdgeColumns.of_columns(words, copies, order), tuple(range(start, len(kinds)))
