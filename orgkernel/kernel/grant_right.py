"""Whether a role or an agent may give a permission away: what its `may_grant` names, and no more than it has itself.

Whoever stands outside the organization, a person or an operator, is not asked here: their key says what they may do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.kernel.grant_check import knows_resource, require_known_subject
from orgkernel.kernel.kernel import Kernel
from orgkernel.records.levels import LEVELS

MAY_NOT_GRANT = "MAY_NOT_GRANT"
SELF_GRANT = "SELF_GRANT"
_BOUND = ("role", "agent")


def require_right(kernel: Kernel, grantor: str, grant: Grant) -> None:
    """Raise `Refused` where a role or an agent gives to itself, or what it may not give, wherever that would hold.

    Codes are `SELF_GRANT` and `MAY_NOT_GRANT`.
    """
    if grantor.partition(":")[0] not in _BOUND:
        return
    served = kernel.state.served
    named = served if grant.org_id is None else {grant.org_id: served[grant.org_id]}
    views = {org_id: each.snapshot.index for org_id, each in named.items()}
    require_known_subject(views.values(), grantor, kernel.state)
    if any(grant.subject in _own(view, grantor) for view in views.values()):
        raise Refused(
            f"{quote(grantor)} cannot give itself a permission", "somebody else has to do it", SELF_GRANT
        )
    if grant.waives:
        raise Refused(
            f"{quote(grantor)} may not lift {listing(grant.waives)}",
            "only somebody outside the organization may: a person, or an operator",
            MAY_NOT_GRANT,
        )
    for resource in grant.resources:
        for org_id, view in views.items():
            if knows_resource(view, resource):
                _require(kernel, org_id, view, grantor, resource, grant.level)


def _require(kernel: Kernel, org_id: str, view: OrgView, grantor: str, resource: str, level: str) -> None:
    kind, _, name = resource.partition(":")
    tool = name.partition(":")[0]
    most = _grantable(view, grantor).get(tool, 0) if kind == "tool" else 0
    wanted = LEVELS.index(level)
    if wanted > most:
        at = f" at level {quote(level)}" if most else ""
        help = (
            f"it may grant level {quote(LEVELS[most])}"
            if most
            else "name the tool in `may_grant` of its role, or let somebody outside the organization grant it"
        )
        raise Refused(f"{quote(grantor)} may not grant {quote(resource)}{at}", help, MAY_NOT_GRANT)
    held = kernel.decide(org_id, AccessRequest(grantor, "use", f"tool:{tool}")).level_effective
    if wanted > LEVELS.index(held or "none"):  # restricted, suspended or of too low a rank at this moment
        raise Refused(
            f"{quote(grantor)} has {quote(resource)} at level {quote(held or 'none')} itself, and cannot grant {quote(level)}",
            f"`orgkernel why {grantor} use tool:{tool}` says what holds it back",
            MAY_NOT_GRANT,
        )


def _grantable(view: OrgView, grantor: str) -> Mapping[str, int]:
    """Tool to the highest level that the roles of a grantor may give away."""
    found: dict[str, int] = {}
    for role_id in _roles(view, grantor):
        for edge in view.edges_from(EdgeKind.MAY_GRANT, role_id):
            found[edge.target] = max(found.get(edge.target, 0), LEVELS.index(edge.attribute))
    return found


def _roles(view: OrgView, grantor: str) -> Iterable[str]:
    kind, _, name = grantor.partition(":")
    return (name,) if kind == "role" else (edge.target for edge in view.roles_filled_by(name))


def _own(view: OrgView, grantor: str) -> frozenset[str]:
    """Whom a gift would come back to: the roles an agent fills, or whoever fills the role that gives."""
    kind, _, name = grantor.partition(":")
    if kind == "role":
        return frozenset({grantor, *(f"agent:{edge.source}" for edge in view.agents_in(name))})
    return frozenset({grantor, *(f"role:{role_id}" for role_id in _roles(view, grantor))})
