"""Count the fields of role profiles that an export leaves out: the table of fields without those the target
expresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from orgkernel.documents.role_fields import ROLE_FIELDS, Lost, RoleField, is_set
from orgkernel.exchange.exported import Loss
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

FactCount = Callable[[OrgView], int]


def _count_edges(kind: EdgeKind) -> FactCount:
    return lambda view: len(view.list_edges_of_kind(kind))


# Facts that the organization declares for roles, and further facts about the organization.
_INSTEAD: Mapping[str, FactCount] = {
    "chain of command": lambda view: sum(view.get_superior(role) is not None for role in view.roles),
    "domains": _count_edges(EdgeKind.HANDLES),
    "plans": _count_edges(EdgeKind.FOLLOWS),
    "skills that roles require": _count_edges(EdgeKind.REQUIRES),
}
_BESIDES: Mapping[str, FactCount] = {
    "hand-off rights": lambda view: len(view.records.organization.dispatch_edges),
    "standing orders": lambda view: sum(len(each) for each in view.records.orders.values()),
}


def find_role_losses(
    view: OrgView,
    *,
    expressed: Iterable[str] = (),
    why: Mapping[str, str] | None = None,
    instead: Mapping[str, tuple[int, str]] | None = None,
    otherwise: str | None = None,
) -> Iterator[Loss]:
    """List a loss for each fact about roles that some role states and the target does not express.

    `expressed` are the fields that the target expresses, such as `doctrine.report_on_failure`. `why` has the target's
    own reasons by fact, `otherwise` its reason for all other facts; `instead` counts a fact that the target
    expresses in part.
    """
    unsaid: dict[Lost, list[RoleField]] = {}
    known = frozenset(expressed)
    for field in ROLE_FIELDS:
        if field.lost is not None and ".".join(field.route) not in known:
            unsaid.setdefault(field.lost, []).append(field)
    for lost, fields in unsaid.items():
        reason = (why or {}).get(lost.what) or otherwise or lost.why
        count, reason = (instead or {}).get(lost.what) or (_count(view, lost, fields), reason)
        if count:
            yield Loss(lost.what, reason, count)


def _count(view: OrgView, lost: Lost, fields: Iterable[RoleField]) -> int:
    if lost.what in _INSTEAD:
        return _INSTEAD[lost.what](view)
    fields = tuple(fields)
    roles = sum(any(is_set(post.profile, field) for field in fields) for post in view.posts)
    return roles + _BESIDES[lost.what](view) if lost.what in _BESIDES else roles
