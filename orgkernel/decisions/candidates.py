"""Who could take a domain, best first: ranked once per view, and cut down to those with the tools a task needs.

A candidate's rank is one integer whose highest bits are what decides first, so a hundred thousand of them sort in a
moment and take little room. Which candidates hold a tool is a bit for each, in the same order: what a task needs is
met by the lowest bit that is set for all of its tools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from orgkernel.graph.questions import AUTHORITIES, OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.role_profile import AUTHORITY_OF_TYPE

_FIELD = 32
_MASK = (1 << _FIELD) - 1
_UNROUTED = _MASK
_HELD = ord("1")

RoutingOrder = Callable[[OrgView, str], tuple[str, ...]]


class Candidate(NamedTuple):
    """A role that handles a domain, or a broader one, and what it is ordered by; the first difference decides."""

    distance: int
    """Steps from the domain to the broader one the role handles."""
    authority: int
    routing: int
    """Position in the organization's preference; roles that are not in it come after all that are."""
    domains: int
    declared: int
    edge: Edge
    lacks: tuple[str, ...] = ()
    """Needed tools it is not equipped with; those that lack one are passed over."""

    @property
    def merits(self) -> tuple[int, int, int, int]:
        """What it is ordered by before the order of the hierarchy."""
        return self[:4]


class Candidates:
    """Everybody who could take one domain, best first. It does not hold the view, which remembers it."""

    def __init__(self, view: OrgView, domain: str, routing_order: RoutingOrder) -> None:
        self._line = view.domain_and_broader(domain)
        order = view.order
        handled = view.remember("domains of each role", lambda: _count_domains(view))
        authorities: dict[str, int] = view.remember(AUTHORITIES, dict)
        posts = view.records.posts
        ranks: dict[str, int] = {}
        for distance, near in enumerate(self._line):
            preferred = {
                role_id: place for place, role_id in reversed([*enumerate(routing_order(view, near))])
            }
            for role_id in view.sources_to(EdgeKind.HANDLES, near):
                if role_id in ranks or role_id not in order:
                    continue
                authority = authorities.get(role_id)
                if authority is None:
                    authority = authorities[role_id] = AUTHORITY_OF_TYPE[posts[role_id].profile.role_type]
                rank = distance << _FIELD | authority
                rank = rank << _FIELD | preferred.get(role_id, _UNROUTED)
                ranks[role_id] = (rank << _FIELD | handled[role_id]) << _FIELD | order[role_id]
        self._ranks = tuple(sorted(ranks.values()))
        self._holding: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ranks)

    @cached_property
    def all(self) -> int:
        """A bit for everybody."""
        return (1 << len(self._ranks)) - 1

    def equipped_with(self, view: OrgView, tools: Sequence[str]) -> int:
        """A bit for each that has all these tools."""
        fitting = self.all
        for tool in tools:
            fitting &= self._holders(view, tool)
        return fitting

    def at(self, view: OrgView, number: int, needs: Sequence[str] = ()) -> Candidate:
        """The candidate at a position."""
        rank = self._ranks[number]
        declared, domains, routing, authority = (rank >> shift * _FIELD & _MASK for shift in range(4))
        distance = rank >> 4 * _FIELD
        role_id, near = view.roles[declared], self._line[distance]
        edge = next(each for each in view.domains_of(role_id) if each.target == near)
        lacks = tuple(tool for tool in dict.fromkeys(needs) if not self._holders(view, tool) >> number & 1)
        return Candidate(distance, authority, routing, domains, declared, edge, lacks)

    def _holders(self, view: OrgView, tool: str) -> int:
        found = self._holding.get(tool)
        if found is None:
            found = self._find_holders(view, tool)
            if found:  # what nobody has may be any word
                self._holding[tool] = found
        return found

    def _find_holders(self, view: OrgView, tool: str) -> int:
        held = _find_held(view, tool)
        if any(tool == each for each, _ in view.essential):
            has = [
                held[order] == _HELD or tool in view.essential_tools_of(view.roles[order])
                for order in self._from_last
            ]
            return int("".join("01"[each] for each in has) or "0", 2)
        # All in one go without a loop of ours: there may be tens of thousands.
        return int(bytes(map(held.__getitem__, self._from_last)) or b"0", 2) if _HELD in held else 0

    @cached_property
    def _from_last(self) -> tuple[int, ...]:
        """Where the candidates stand in the hierarchy, the best of them last."""
        return tuple(rank & _MASK for rank in reversed(self._ranks))


def _find_held(view: OrgView, tool: str) -> bytes:
    """For every role, in the order of the hierarchy, `1` where it is equipped with a tool and `0` where it is not."""
    if tool not in view.targets_of(EdgeKind.EQUIPPED_WITH):
        return b"0" * len(view.order)  # any word at all: not to be remembered
    return view.remember(("held", tool), lambda: _pack_held(view, tool))


def _pack_held(view: OrgView, tool: str) -> bytes:
    order = view.order
    held = bytearray(b"0" * len(order))
    for role_id, attribute in view.ends_to(EdgeKind.EQUIPPED_WITH, tool):
        place = order.get(role_id)
        if place is not None and not attribute.endswith(":none"):
            held[place] = _HELD
    return bytes(held)


def candidate_of(view: OrgView, edge: Edge, preferred: Sequence[str]) -> Candidate:
    """A role among those that handle exactly the domain of an edge, without ranking the others."""
    role_id = edge.source
    return Candidate(
        0,
        AUTHORITY_OF_TYPE[view.records.posts[role_id].profile.role_type],
        preferred.index(role_id) if role_id in preferred else _UNROUTED,
        len(view.domains_of(role_id)),
        view.order[role_id],
        edge,
    )


def positions(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _count_domains(view: OrgView) -> Mapping[str, int]:
    return Counter(role_id for role_id, _ in view.ends_of(EdgeKind.HANDLES))
