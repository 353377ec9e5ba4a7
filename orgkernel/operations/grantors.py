"""Find subjects that could grant a missing permission: superiors, roles whose `may_grant` names the tool, and owners.

Each candidate is checked like an actual grant, so none is listed that would be refused. An operator always can, and is
not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.passing_on import require_may_give
from orgkernel.operations.resource_parts import split_part
from orgkernel.operations.rights import list_views

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

_MAX_CHECKED = 20
"""The number of candidates that are checked, so an explanation costs no more than the decision."""


def find_grantors(kernel: Kernel, new_grant: Grant) -> tuple[str, ...]:
    """The subjects that could issue a grant now, beginning with the lowest superior. Declared approvers and the owner come last."""
    views = list_views(kernel.state, new_grant.org_id)
    candidates = list(dict.fromkeys(each for view in views for each in _find_candidates(view, new_grant)))
    return tuple(each for each in candidates[:_MAX_CHECKED] if _may_give(kernel, each, new_grant))


def _may_give(kernel: Kernel, candidate: str, new_grant: Grant) -> bool:
    # Only the rights of people who own no organization depend on keys, and such people are not candidates.
    context = Context(kernel, cast("Store", None), Actor(candidate, candidate))
    try:
        require_may_give(context, new_grant)
    except Refused:
        return False
    return True


def _find_candidates(view: OrgView, new_grant: Grant) -> Iterator[str]:
    known = identify(view, new_grant.subject)
    for role in () if known is None or not known.is_crew else known.roles:
        for edge in view.list_chain_above(role):
            yield f"role:{edge.target}"
    for resource in new_grant.resources:
        kind, _, tool = split_part(resource)[0].partition(":")
        if kind == "tool":
            for edge in view.list_edges_to(EdgeKind.MAY_GRANT, tool):
                yield f"role:{edge.source}"
    for person in view.records.people.values():
        if person.record.relationship == "owner":
            yield f"person:{person.id}"
