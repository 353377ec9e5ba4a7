"""Largest assignments of agents to what needs them, found by networkx.

INVARIANT: networkx is imported only if somebody is wanted in two places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def match_parts(needed: Mapping[str, int], able: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """A largest assignment of agents to parts, each agent to one: part to agents. The same question has the same answer.

    >>> match_parts({"lead": 1, "hand": 1}, {"lead": ["ann"], "hand": ["ann", "bob"]})
    {'lead': ('ann',), 'hand': ('bob',)}
    """
    seats = [part for part, count in needed.items() for _ in range(min(count, len(able[part])))]
    agents = {
        agent: number for number, agent in enumerate(sorted({each for part in needed for each in able[part]}))
    }
    names = list(agents)
    taken: dict[str, list[str]] = {part: [] for part in needed}
    if not any(set(able[one]) & set(able[other]) for one in needed for other in needed if one < other):
        # Parts that nobody could take two of need no matching.
        return {part: tuple(sorted(able[part])[: needed[part]]) for part in needed}
    import networkx

    # Numbers and not names, so that the order of a set of them is the same in every process.
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(seats)))
    for seat, part in enumerate(seats):
        graph.add_edges_from((seat, len(seats) + agents[agent]) for agent in sorted(able[part]))
    matched = networkx.bipartite.hopcroft_karp_matching(graph, range(len(seats)))
    for seat, part in enumerate(seats):
        if seat in matched:
            taken[part].append(names[matched[seat] - len(seats)])
    return {part: tuple(sorted(each)) for part, each in taken.items()}
