"""The roles that stand in for a role: its deputy, then its superiors, nearest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.decisions.reasons import Reason, cite_edge, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView


class StandIn(NamedTuple):
    """A role that stands in for another one."""

    role_id: str
    is_deputy: bool
    """A deputy does the work of the role. A superior decides what becomes of it."""
    reason: Reason


def list_stand_ins(view: OrgView, role_id: str) -> Iterator[StandIn]:
    """The deputy of a role, if it is another role of the organization, and then its superiors, nearest first."""
    deputy = view.records.posts[role_id].profile.deputy
    if deputy is not None and deputy != role_id and view.is_role(deputy):
        text = f"role {quote(deputy)} is the deputy of role {quote(role_id)}"
        place = view.records.posts[role_id].place("deputy")
        yield StandIn(deputy, True, Reason("DEPUTY_ACTS", text, (cite_place(text, place),)))
    for edge in view.list_chain_above(role_id):
        if view.is_role(edge.target):
            text = (
                f"agents of role {quote(edge.target)}, which is above role {quote(role_id)} in the chain of command, "
                "decide what becomes of the task"
            )
            yield StandIn(edge.target, False, Reason("SUPERIOR_ACTS", text, (cite_edge(edge),)))
