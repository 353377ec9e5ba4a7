"""Rights over others: who may restrict, promote, suspend somebody, answer their requests, and break their locks.

An operator acts by the scopes of the credential, and an owner on everybody. Any other subject needs to be a superior of
the one it acts on, in the chain of command of an organization that has both; or, where the act is about tools, a declared
approver: somebody whose `may_grant` names every one of them. Nobody acts on a superior, whatever else they may do.
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

    `what` and `itself` are what the messages say the actor may not do. `org_id` is the organization the act is about, and
    `resources` is what it is about; where none is named, no approver has a right. Raises `Refused` (`NO_AUTHORITY`,
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
    """Whether an actor may use up what was given to a subject: its own, or that of somebody below it."""
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
    """Raise `Refused` (`NO_AUTHORITY`) if a subject is, or includes, a superior of the one that acts where the act reaches."""
    for view in _list_reached_organizations(kernel, org_id):
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
    """The right of a subject over another: as its superior, or as an approver of every one of the resources.

    Raises `Refused` (`NO_AUTHORITY`).
    """
    right = _find_superior_right(kernel, member, subject, org_id)
    if right is None:
        right = _find_approver_right(kernel, member, org_id, resources)
    if right is None:
        raise _build_no_right(kernel, member, subject, what, resources)
    return right


def find_grantable_tools(view: OrgView, member: ActingSubject) -> dict[str, Edge]:
    """The tools that the roles of a subject may give away here, each with the edge of the highest level."""
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
    """As a superior: of an agent in an organization, of a role or of all agents of a name in each that the act reaches."""
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
    """The organizations an act reaches."""
    return list_views(kernel.state, org_id or ALL_ORGANIZATIONS)


def _list_superior_names(view: OrgView, member: ActingSubject) -> tuple[str, ...]:
    """The words under which chains of command name a subject: its roles, or the name of a person."""
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
    """The chains of command that lead from the one that acts up to a subject, or to somebody it includes."""
    own = tuple(role for known, identity in member.known if known is view for role in identity.roles)
    for each in _iterate_included(view, subject):
        names = each.roles if each.is_crew else list_names_in_chain_of_command(each)
        if chain := _find_chain(view, names, own):
            yield chain


def _iterate_included(view: OrgView, subject: str) -> Iterator[SubjectIdentity]:
    """A subject, and whoever a role, a relationship or a tag means."""
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
    """The subject itself, and the people whom a relationship or a tag means."""
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
    """As an approver: `may_grant` names every tool, in each organization the act reaches that declares it."""
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
    who = "a superior of it" if edge is None else f"a superior of it ({_format_line(edge)})"
    approver = ", a role whose `may_grant` names the tool" if resources else ""
    return Refused(
        f"{quote(member.subject)} may not {what}, because {quote(subject)} is not below it",
        f"{who}{approver}, the owner or an operator may",
        NO_AUTHORITY,
    )


def _format_line(edge: Edge) -> str:
    return f"{edge} at {edge.place.file}:{edge.place.line}"
