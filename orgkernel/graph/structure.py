"""Circles, asked of networkx: which things lead back to themselves, and the shortest way round.

INVARIANT: networkx is imported only once something does lead round. That nothing does is what the standard library's
topological sorting proves, so that checking a sound organization does not wait 0.1 s for an import.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from graphlib import CycleError, TopologicalSorter

Pairs = Iterable[tuple[str, str]]
"""Source and target of edges, in the order of declaration."""


def find_circles(pairs: Pairs) -> tuple[tuple[str, ...], ...]:
    """The groups of nodes that lead to one another, or the one node to itself, each from its first declared node on."""
    pairs = tuple(pairs)
    if _is_acyclic(pairs):
        return ()
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph(pairs)
    order = {node: number for number, node in enumerate(dict.fromkeys(source for source, _ in pairs))}
    groups = [
        tuple(sorted(group, key=order.__getitem__))
        for group in networkx.strongly_connected_components(graph)
        if len(group) > 1 or any(graph.has_edge(node, node) for node in group)
    ]
    return tuple(sorted(groups, key=lambda group: order[group[0]]))


def find_shortest_circle(pairs: Pairs, group: Collection[str]) -> tuple[str, ...]:
    """The nodes on a shortest way from the first of a group, which `find_circles` found, back to it."""
    import networkx

    start = next(iter(group))
    graph: networkx.DiGraph[str] = networkx.DiGraph(pairs)
    inside = graph.subgraph(group)
    # Nearest first; the first of them that leads to the start ends a shortest way.
    ways = networkx.single_source_shortest_path(inside, start)
    return next(tuple(way) for end, way in ways.items() if inside.has_edge(end, start))


def _is_acyclic(pairs: Pairs) -> bool:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, target in pairs:
        sorter.add(source, target)
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True
