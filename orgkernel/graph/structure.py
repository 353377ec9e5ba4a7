"""Find cycles with networkx.

INVARIANT: networkx is imported only if there is a cycle. The topological sort of the standard library detects whether
there is one, so checking an organization without cycles does not take 0.1 s for the import.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from graphlib import CycleError, TopologicalSorter

Pairs = Iterable[tuple[str, str]]
"""The sources and targets of edges, in the order of declaration."""


def find_cycles(pairs: Pairs) -> tuple[tuple[str, ...], ...]:
    """The groups of nodes that form cycles, each starting with its first declared node."""
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


def find_shortest_cycle(pairs: Pairs, group: Collection[str]) -> tuple[str, ...]:
    """The nodes of a shortest cycle through the first node of a group from `find_cycles`."""
    import networkx

    start = next(iter(group))
    graph: networkx.DiGraph[str] = networkx.DiGraph(pairs)
    inside = graph.subgraph(group)
    # Breadth-first: the first node with an edge to the start closes a shortest cycle.
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
