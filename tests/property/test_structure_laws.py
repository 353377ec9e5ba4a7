"""Laws of structure: what networkx says of circles is what going on step by step finds."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from orgkernel.graph.structure import find_cycles, find_shortest_cycle

Pairs = list[tuple[str, str]]
nodes = st.sampled_from("abcdefg")
pairs_of = st.lists(st.tuples(nodes, nodes), max_size=14)


def reached_from(start: str, pairs: Pairs) -> set[str]:
    """Where one gets from a node in one step or more."""
    reached: set[str] = set()
    new = {target for source, target in pairs if source == start}
    while new - reached:
        reached |= new
        new = {target for source, target in pairs if source in reached}
    return reached


@settings(max_examples=300)
@given(pairs_of)
@example([("a", "a")])
@example([("a", "b"), ("a", "b")])
def test_circles_are_what_leads_back(pairs: Pairs) -> None:
    """A node is in a group exactly when it leads back to itself, and with exactly those that lead there and back."""
    command_cycles = find_cycles(pairs)
    reach = {node: reached_from(node, pairs) for node in "abcdefg"}
    assert {node for group in command_cycles for node in group} == {
        node for node in reach if node in reach[node]
    }
    for group in command_cycles:
        for node in group:
            assert set(group) == {other for other in reach[node] if node in reach[other]}
    declared = list(dict.fromkeys(source for source, _ in pairs))
    assert [list(group) for group in command_cycles] == sorted(
        (sorted(group, key=declared.index) for group in command_cycles),
        key=lambda group: declared.index(group[0]),
    )


@settings(max_examples=300)
@given(pairs_of)
def test_a_shortest_circle_is_one_and_none_is_shorter(pairs: Pairs) -> None:
    """It starts with the first of its group, follows edges, passes nothing twice, and no way back has fewer steps."""
    for group in find_cycles(pairs):
        circle = find_shortest_cycle(pairs, group)
        assert circle[0] == group[0]
        assert len(set(circle)) == len(circle)
        assert all(step in pairs for step in zip(circle, (*circle[1:], circle[0]), strict=True))
        distance, level = 1, {target for source, target in pairs if source == group[0]}
        while group[0] not in level:
            distance, level = distance + 1, {target for source, target in pairs if source in level}
        assert len(circle) == distance
