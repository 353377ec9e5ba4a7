"""Tables of an index for exchanged edges: the old ones with other rows where edges went and came."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from orgkernel.graph.exchange import Exchange
from orgkernel.graph.schema import EdgeKind

Table = dict[str, tuple[int, ...]]


def exchange_numbers(numbers: array[int], exchange: Exchange, kind: EdgeKind) -> array[int]:
    """The positions of the edges of a kind."""
    removed, added = _of_kind(exchange, kind)
    kept = numbers[:]
    if removed:
        first = bisect_left(kept, exchange.before.order.rank(removed[0]), key=exchange.before.order.rank)
        # Between edges of one kind that were removed together none of that kind was left.
        del kept[first : first + len(removed)]
    if added:
        rank = exchange.after.order.rank
        at = bisect_left(kept, rank(added[0]), key=rank)
        kept[at:at] = array("I", added)
    return kept


def exchange_rows(table: Table, exchange: Exchange, kind: EdgeKind, *, inward: bool) -> Table:
    """The positions of the edges of each node, nodes in the order of their first edge."""
    removed, added = _of_kind(exchange, kind)
    gone = _by_node(removed, exchange.before.target if inward else exchange.before.source)
    come = _by_node(added, exchange.after.target if inward else exchange.after.source)
    rank = exchange.after.order.rank
    rows = dict(table)
    is_moved = False
    for node in {**gone, **come}:
        old, less = rows.get(node, ()), set(gone.get(node, ()))
        row = [number for number in old if number not in less]
        more = come.get(node, [])
        if more:
            at = bisect_left(row, rank(more[0]), key=rank)
            row[at:at] = more
        is_moved = is_moved or old[:1] != tuple(row[:1])
        if row:
            rows[node] = tuple(row)
        else:
            rows.pop(node, None)
    if not is_moved:
        return rows
    return dict(sorted(rows.items(), key=lambda item: rank(item[1][0])))


def _of_kind(exchange: Exchange, kind: EdgeKind) -> tuple[list[int], list[int]]:
    return (
        [number for number in exchange.removed if exchange.before.kind(number) is kind],
        [number for number in exchange.added if exchange.after.kind(number) is kind],
    )


def _by_node(numbers: Sequence[int], node_of: Callable[[int], str]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number in numbers:
        found.setdefault(node_of(number), []).append(number)
    return found
