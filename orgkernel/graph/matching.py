"""Find a largest assignment of agents with networkx.

INVARIANT: networkx is imported only if an agent is needed in two places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def match_seats(needed: Mapping[str, int], able: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """A largest assignment of agents to bill roles, each agent to one: bill role to agents. The result is
    deterministic.

    >>> match_seats({"lead": 1, "hand": 1}, {"lead": ["ann"], "hand": ["ann", "bob"]})
    {'lead': ('ann',), 'hand': ('bob',)}
    """
    seats = [
        bill_role for bill_role, count in needed.items() for _ in range(min(count, len(able[bill_role])))
    ]
    agents = {
        agent: number
        for number, agent in enumerate(sorted({each for bill_role in needed for each in able[bill_role]}))
    }
    names = list(agents)
    taken: dict[str, list[str]] = {bill_role: [] for bill_role in needed}
    if not any(set(able[one]) & set(able[other]) for one in needed for other in needed if one < other):
        # No matching is needed if no agent could take two bill roles.
        return {bill_role: tuple(sorted(able[bill_role])[: needed[bill_role]]) for bill_role in needed}
    import networkx

    # Numbers instead of names, because sets of numbers have the same order in every process.
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(seats)))
    for seat, bill_role in enumerate(seats):
        graph.add_edges_from((seat, len(seats) + agents[agent]) for agent in sorted(able[bill_role]))
    matched = networkx.bipartite.hopcroft_karp_matching(graph, range(len(seats)))
    for seat, bill_role in enumerate(seats):
        if seat in matched:
            taken[bill_role].append(names[matched[seat] - len(seats)])
    return {bill_role: tuple(sorted(each)) for bill_role, each in taken.items()}
