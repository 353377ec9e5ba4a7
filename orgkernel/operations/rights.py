"""Who may give what: names that are declared, what `may_grant` of a role names, and nothing to oneself.

All of it limits agents and roles. Somebody outside the organization, a person or an operator, only has to use declared
names: the surface has checked the scopes of their credential.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.operations.context import Context
from orgkernel.records.access_policies import STAR
from orgkernel.records.levels import LEVELS

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.registry_state import RegistryState

UNKNOWN_NAME, MAY_NOT_GRANT, SELF_GRANT = "UNKNOWN_NAME", "MAY_NOT_GRANT", "SELF_GRANT"


def require_may_give(context: Context, wanted: Grant, what: str = "give itself a permission") -> None:
    """Raise `Refused` if the grant names something undeclared, or the actor may not give it.

    `what` is what the message says the actor cannot do for itself.
    """
    if context.kernel is None:
        return
    require_declared(context.kernel.state, wanted)
    if context.actor.member:
        refuse_itself(context, wanted.subject, what)
        _require_right(context.kernel, context.actor.member, wanted)


def refuse_itself(context: Context, subject: str, what: str) -> None:
    """Raise `Refused` (`SELF_GRANT`) if an agent or a role would act on itself.

    INVARIANT: an agent can never issue, approve or promote for itself (docs/http.md). What is given to a role is given to
    whoever fills it, so a role an agent fills counts as that agent, in every organization.
    """
    member = context.actor.member
    kind, _, name = member.partition(":")
    own = {member}
    for view in _views(context.kernel.state) if member and context.kernel is not None else ():
        if kind == "role":
            own.update(f"agent:{edge.source}" for edge in view.agents_in(name))
        else:
            own.update(f"role:{edge.target}" for edge in view.roles_filled_by(name))
    if subject in own:
        raise Refused(f"{quote(member)} cannot {what}", "somebody else has to do it", SELF_GRANT)


def require_outside(context: Context, what: str) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if an agent or a role does what only somebody outside the organization may do."""
    if context.actor.member:
        raise _only_outside(context.actor.member, what)


def _only_outside(member: str, what: str) -> Refused:
    help = "only somebody outside the organization may: a person, or an operator"
    return Refused(f"{quote(member)} may not {what}", help, MAY_NOT_GRANT)


def require_declared(state: RegistryState, grant: Grant) -> None:
    """Raise `Refused` (`UNKNOWN_NAME`) if no document declares the organization, the subject or a resource of a grant."""
    if grant.org_id is not None and grant.org_id not in state.served:
        help = did_you_mean(grant.org_id, state.served) or f"organizations are {listing(state.served)}"
        raise Refused(f"there is no organization {quote(grant.org_id)}", help, UNKNOWN_NAME)
    views = _views(state, grant.org_id)
    _require_known_subject(views, grant.subject, state)
    for resource in grant.resources:
        if not any(_knows_resource(view, resource) for view in views):
            known = [f"tool:{tool}" for view in views for tool in view.records.tools]
            help = did_you_mean(resource, known) or _way_out(state)
            raise Refused(f"{quote(resource)} is not declared", help, UNKNOWN_NAME)


def _views(state: RegistryState, org_id: str | None = None) -> list[OrgView]:
    """The organization of that id, or all that are served."""
    served = state.served.values() if org_id is None else [state.served[org_id]]
    return [each.snapshot.index for each in served]


def _require_known_subject(views: Iterable[OrgView], subject: str, state: RegistryState) -> None:
    views = tuple(views)
    if not any(_knows_subject(view, subject) for view in views):
        known = [each for view in views for each in _subjects(view)]
        raise Refused(
            f"{quote(subject)} is not declared", did_you_mean(subject, known) or _way_out(state), UNKNOWN_NAME
        )


def _knows_resource(view: OrgView, resource: str) -> bool:
    """Whether an organization knows what a grant gives; `tool:name*` stands for every tool of such a name."""
    kind, _, name = resource.partition(":")
    tool = name.partition(":")[0]
    if tool.endswith(STAR):
        return kind != "tool" or any(each.startswith(tool[:-1]) for each in view.records.tools)
    return not tables_of(view).find(resource)[0].unknown


def _knows_subject(view: OrgView, subject: str) -> bool:
    kind, _, name = subject.partition(":")
    people = (person.record for person in view.records.people.values())
    if kind == "relationship":
        return name == "owner" or any(person.relationship == name for person in people)
    if kind == "tag":
        return any(name in person.tags for person in people)
    return tables_of(view).subject(subject) is not None


def _subjects(view: OrgView) -> Iterable[str]:
    yield from (f"role:{each}" for each in view.roles)
    yield from (f"agent:{each}" for each in view.records.agents)
    yield from (f"person:{each}" for each in view.records.people)


def _way_out(state: RegistryState) -> str:
    if state.refused:  # it may be declared by documents that cannot be used
        return f"see `orgkernel check`: {listing(state.refused)} cannot be answered for"
    return "declare it first"


def _require_right(kernel: Kernel, giver: str, grant: Grant) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if `may_grant` does not list it, or the giver has less itself."""
    views = _views(kernel.state, grant.org_id)
    _require_known_subject(views, giver, kernel.state)
    if grant.waives:
        raise _only_outside(giver, f"lift {listing(grant.waives)}")
    for resource in grant.resources:
        for view in views:
            if _knows_resource(view, resource):
                _require_level(kernel, view, giver, resource, grant.level)


def _require_level(kernel: Kernel, view: OrgView, giver: str, resource: str, level: str) -> None:
    kind, _, name = resource.partition(":")
    tool = name.partition(":")[0]
    most = _grantable(view, giver).get(tool, 0) if kind == "tool" else 0
    wanted = LEVELS.index(level)
    if wanted > most:
        at = f" at level {quote(level)}" if most else ""
        help = (
            f"it may grant level {quote(LEVELS[most])}"
            if most
            else "name the tool in `may_grant` of its role, or let somebody outside the organization grant it"
        )
        raise Refused(f"{quote(giver)} may not grant {quote(resource)}{at}", help, MAY_NOT_GRANT)
    held = kernel.decide(view.org_id, AccessRequest(giver, "use", f"tool:{tool}")).level_effective
    if wanted > LEVELS.index(held or "none"):  # restricted, suspended or of too low a rank at this moment
        raise Refused(
            f"{quote(giver)} has {quote(resource)} at level {quote(held or 'none')} itself, and cannot grant {quote(level)}",
            f"`orgkernel why {giver} use tool:{tool}` says what holds it back",
            MAY_NOT_GRANT,
        )


def _grantable(view: OrgView, giver: str) -> Mapping[str, int]:
    """Tool to the highest level that the roles of a giver may give away."""
    kind, _, name = giver.partition(":")
    roles = (name,) if kind == "role" else [edge.target for edge in view.roles_filled_by(name)]
    found: dict[str, int] = {}
    for role_id in roles:
        for edge in view.edges_from(EdgeKind.MAY_GRANT, role_id):
            found[edge.target] = max(found.get(edge.target, 0), LEVELS.index(edge.attribute))
    return found
