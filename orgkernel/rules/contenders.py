"""The first candidates for each domain, computed for all roles at once, for the rules about ties and losses.

The order is that of `decisions/dispatch.py`, among the roles that handle exactly the domain. Roles that handle a broader
domain come after them (law `contenders_agree_with_dispatch`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from orgkernel.decisions.preference import routing_order
from orgkernel.graph.questions import AUTHORITIES, OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.role_profile import AUTHORITY_OF_TYPE


def contenders(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    """For each declared domain that roles handle, the role that dispatch chooses, then the roles that tie with it.

    Only the order of the hierarchy puts these behind the first.
    """
    return view.remember("contenders", lambda: _contenders(view))


def _contenders(view: OrgView) -> dict[str, tuple[str, ...]]:
    posts, order = view.records.posts, view.order
    handles = view.ends_of(EdgeKind.HANDLES)
    numbers = Counter(role_id for role_id, _ in handles)
    authority: dict[str, int] = view.remember(AUTHORITIES, dict)
    for role_id in numbers:
        if role_id not in authority:
            authority[role_id] = AUTHORITY_OF_TYPE[posts[role_id].profile.role_type]
    found: dict[str, tuple[str, ...]] = {}
    for domain in view.targets_of(EdgeKind.HANDLES):
        if domain not in view.records.domains:
            continue
        preferred = {role_id: at for at, role_id in reversed([*enumerate(routing_order(view, domain))])}
        last = len(preferred)
        ranked = [
            ((authority[role_id], preferred.get(role_id, last), numbers[role_id]), role_id)
            for role_id in view.sources_to(EdgeKind.HANDLES, domain)
        ]
        best = min(rank for rank, _ in ranked)
        found[domain] = tuple(
            sorted((role_id for rank, role_id in ranked if rank == best), key=order.__getitem__)
        )
    return found


def find_handling(view: OrgView, role_id: str, domain: str) -> Edge:
    """The edge by which a role handles a domain that it does handle."""
    return next(edge for edge in view.domains_of(role_id) if edge.target == domain)
