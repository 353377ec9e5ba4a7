"""Rights over other subjects: to restrict, promote and suspend them, answer their requests, and break their locks.

An operator is limited only by the scopes of the credential, and an owner can act on every subject. Any other subject must
be a superior of the target, in the chain of command of an organization that has both. For acts about tools, a declared
approver, whose `may_grant` names all of them, is enough. No subject can act on its superior.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.access.layers.chain_of_command import (
    find_chain_of_command,
    list_names_in_chain_of_command,
)
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS
from orgkernel.errors import Refused
from orgkernel.graph.out_of_service import describe_refusal
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.rights import (
    EVERYWHERE,
    ONLY_OUTSIDE,
    ActingSubject,
    Right,
    find_member,
    list_views,
    refuse_itself,
)

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel

NO_AUTHORITY = "NO_AUTHORITY"


def require_authority(
    context: Context,
    subject: str,
    what: str,
    *,
    itself: str,
    org_id: str | None = None,
    resources: Sequence[str] = (),
) -> Right | None:
    """The right by which the actor acts on a subject; None for an operator.

    `what` and `itself` are the acts in the messages. `org_id` and `resources` are the organization and the resources of the
    act. If no resources are named, approvers have no right. Raises `Refused` (`NO_AUTHORITY`,
    `SELF_GRANT`), and what `find_member` raises.
    """
    member = find_member(context.kernel, context.actor)
    if member is None:
        return None
    if member.is_owner_of(org_id):
        return member.owner_right
    assert context.kernel is not None
    refuse_itself(context, member, subject, itself)
    refuse_superior(context.kernel, member, subject, what, org_id)
    return require_right(context.kernel, member, subject, what, org_id, resources)


def has_authority(kernel: Kernel, actor: Actor, subject: str, org_id: str) -> bool:
    """Whether an actor may use up grants of a subject: its own, or those of a subordinate."""
    if not actor.is_good_for(org_id):
        return False
    try:
        member = find_member(kernel, actor)
    except Refused:
        return False
    if member is None or member.is_owner_of(org_id) or subject in member.own:
        return True
    return _find_superior_right(kernel, member, subject, org_id) is not None


def refuse_superior(
    kernel: Kernel, member: ActingSubject, subject: str, what: str, org_id: str | None
) -> None:
    """Raise `Refused` (`NO_AUTHORITY`) if the target is, or includes, a superior of the acting subject."""
    for view in _list_reached_organizations(kernel, org_id):
        if (refusal := describe_refusal(view.records, subject)) is not None:
            raise Refused(
                *refusal, NO_AUTHORITY
            )  # it could be above the member in a file that cannot be read
        for chain in _find_chains_above_member(view, member, subject):
            raise Refused(
                f"{quote(member.subject)} may not {what}, because {quote(subject)} is above it",
                f"{_format_line(chain[-1])}; a superior of {quote(subject)}, the owner or an operator may",
                NO_AUTHORITY,
            )
        if any(_is_owner(view, each) for each in _iterate_people(view, subject)):
            raise Refused(
                f"{quote(member.subject)} may not {what}, because {quote(subject)} is the owner",
                ONLY_OUTSIDE,
                NO_AUTHORITY,
            )


def require_right(
    kernel: Kernel,
    member: ActingSubject,
    subject: str,
    what: str,
    org_id: str | None,
    resources: Sequence[str],
) -> Right:
    """The right of a subject over another: as its superior, or as an approver of all the resources.

    Raises `Refused` (`NO_AUTHORITY`).
    """
    right = _find_superior_right(kernel, member, subject, org_id)
    if right is None:
        right = _find_approver_right(kernel, member, org_id, resources)
    if right is None:
        raise _build_no_right(kernel, member, subject, what, resources)
    return right


def find_grantable_tools(view: OrgView, member: ActingSubject) -> dict[str, Edge]:
    """The tools that the roles of a subject may grant here, each with the edge of the highest level."""
    edges_by_tool: dict[str, Edge] = {}
    for known, identity in member.known:
        for role_id in identity.roles if known is view else ():
            for edge in view.list_edges_from(EdgeKind.MAY_GRANT, role_id):
                best = edges_by_tool.get(edge.target)
                if best is None or LEVELS.index(edge.attribute) > LEVELS.index(best.attribute):
                    edges_by_tool[edge.target] = edge
    return edges_by_tool


# -- the chain of command ----------------------------------------------------------------------------------------------


def _find_superior_right(
    kernel: Kernel, member: ActingSubject, subject: str, org_id: str | None
) -> Right | None:
    """The right as a superior: of an agent in an organization, or of a role or agent name in every organization of the act."""
    chains: list[tuple[Edge, ...]] = []
    for view in _list_reached_organizations(kernel, org_id):
        roles = _get_roles(view, subject)
        if not roles:
            continue
        chain = _find_chain(view, _list_superior_names(view, member), roles)
        if chain:
            chains.append(chain)
        elif org_id in EVERYWHERE or subject.startswith("role:"):
            return None
    if not chains:
        return None
    return Right(member.subject, "superior", "; ".join(str(edge) for edge in chains[0]))


def _list_reached_organizations(kernel: Kernel, org_id: str | None) -> tuple[OrgView, ...]:
    """The organizations that an act concerns."""
    return list_views(kernel.state, org_id or ALL_ORGANIZATIONS)


def _list_superior_names(view: OrgView, member: ActingSubject) -> tuple[str, ...]:
    """The names by which chains of command refer to a subject: its roles, or the name of a person."""
    for known, identity in member.known:
        if known is view:
            return identity.roles if identity.is_crew else list_names_in_chain_of_command(identity)
    return ()


def _find_chain(view: OrgView, superiors: tuple[str, ...], roles: Iterable[str]) -> tuple[Edge, ...]:
    chains = (find_chain_of_command(view, superiors, role) for role in roles if role not in superiors)
    return next((chain for chain in chains if chain), ())


def _get_roles(view: OrgView, subject: str) -> tuple[str, ...]:
    known = identify(view, subject)
    return () if known is None or not known.is_crew else known.roles


def _find_chains_above_member(
    view: OrgView, member: ActingSubject, subject: str
) -> Iterator[tuple[Edge, ...]]:
    """The chains of command from the acting subject up to the target, or to a subject that the target includes."""
    own = tuple(role for known, identity in member.known if known is view for role in identity.roles)
    for each in _iterate_included(view, subject):
        names = each.roles if each.is_crew else list_names_in_chain_of_command(each)
        if chain := _find_chain(view, names, own):
            yield chain


def _iterate_included(view: OrgView, subject: str) -> Iterator[SubjectIdentity]:
    """A subject, and the subjects that a role, a relationship or a tag includes."""
    known = identify(view, subject)
    if known is not None:
        yield known
    kind, _, name = subject.partition(":")
    if kind == "role":
        for edge in view.list_agents_in(name):
            if (holder := identify(view, f"agent:{edge.source}")) is not None:
                yield holder
    for person in _iterate_people(view, subject) if kind in ("relationship", "tag") else ():
        if (identity := identify(view, person)) is not None:
            yield identity


def _iterate_people(view: OrgView, subject: str) -> Iterator[str]:
    """The subject itself, and the people with a relationship or a tag."""
    yield subject
    kind, _, name = subject.partition(":")
    for person in view.records.people.values():
        means = {"relationship": person.record.relationship == name, "tag": name in person.record.tags}
        if means.get(kind, False):
            yield f"person:{person.id}"


def _is_owner(view: OrgView, subject: str) -> bool:
    known = identify(view, subject)
    return subject == "relationship:owner" or (known is not None and known.is_owner)


# -- declared approvers ------------------------------------------------------------------------------------------------


def _find_approver_right(
    kernel: Kernel, member: ActingSubject, org_id: str | None, resources: Sequence[str]
) -> Right | None:
    """The right as an approver: `may_grant` names every tool, in each organization of the act that declares it."""
    tools = [resource.split(":")[1] for resource in resources if resource.startswith("tool:")]
    if not tools or len(tools) < len(resources):
        return None
    edges: list[Edge] = []
    for view in _list_reached_organizations(kernel, org_id):
        may_grant = find_grantable_tools(view, member)
        for tool in tools:
            if tool in may_grant:
                edges.append(may_grant[tool])
            elif tool in view.records.tools:
                return None
    if {edge.target for edge in edges} != set(tools):
        return None
    return Right(member.subject, "approver", "; ".join(dict.fromkeys(str(edge) for edge in edges)))


# -- the refusal -------------------------------------------------------------------------------------------------------


def _build_no_right(
    kernel: Kernel, member: ActingSubject, subject: str, what: str, resources: Sequence[str]
) -> Refused:
    edges = (
        edge
        for view in list_views(kernel.state)
        for role in _get_roles(view, subject)
        if (edge := view.get_superior_edge(role)) is not None
    )
    edge = next(edges, None)
    who = "one of its superiors" if edge is None else f"one of its superiors ({_format_line(edge)})"
    approver = ", a role whose `may_grant` names the tool" if resources else ""
    return Refused(
        f"{quote(member.subject)} may not {what}, because {quote(subject)} is not below it",
        f"{who}{approver}, the owner or an operator may",
        NO_AUTHORITY,
    )


def _format_line(edge: Edge) -> str:
    return f"{edge} at {edge.place.file}:{edge.place.line}"
