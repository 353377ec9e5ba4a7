"""The acting subject: the subject of a credential, the subjects that are equivalent to it, and checks of declared
names.

An operator's credential belongs to no subject of an organization and is limited only by its scopes. Every other
credential acts as a subject, which must be declared and at work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.access.layers.identity import AGENT_INACTIVE, is_at_work
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import STAR
from orgkernel.errors import Refused
from orgkernel.graph.out_of_service import describe_refusal
from orgkernel.graph.questions import OrgView
from orgkernel.operations.context import Actor, Context

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.registry_state import RegistryState
    from orgkernel.kernel.stored import Store

UNKNOWN_NAME, MAY_NOT_GRANT, SELF_GRANT = "UNKNOWN_NAME", "MAY_NOT_GRANT", "SELF_GRANT"
EVERYWHERE = (None, "", ALL_ORGANIZATIONS)
"""The value for an act in all organizations."""
OTHER_REQUESTER, INACTIVE = "OTHER_REQUESTER", AGENT_INACTIVE.name
RightKind = Literal["owner", "superior", "approver"]
_SHOW_CHECK = "see `orgkernel check`"


class Right(msgspec.Struct, frozen=True):
    """The right by which a subject acts on another."""

    member: str
    """The acting subject."""
    kind: RightKind
    text: str
    """The statement of the documents that gives the right."""

    @property
    def detail(self) -> dict[str, str]:
        """The right in the form for the audit."""
        return {"as": self.member, "right": self.kind, "because": self.text}


class ActingSubject(msgspec.Struct, frozen=True):
    """The acting subject, with its identity in each organization."""

    subject: str
    own: frozenset[str]
    """The equivalent subjects: its roles, holders of the role, and the person who runs the agent."""
    owned: frozenset[str]
    """The organizations that it owns."""
    owns_all: bool
    """Whether it owns every served organization."""
    known: tuple[tuple[OrgView, SubjectIdentity], ...]
    """The organizations that declare it, where it is at work and its credential is good, with its identity in each."""

    def is_owner_of(self, org_id: str | None) -> bool:
        """Whether it owns an organization, or all of them if the act concerns all."""
        return self.owns_all if org_id in EVERYWHERE else org_id in self.owned

    @property
    def owner_right(self) -> Right:
        """The right of an owner."""
        return Right(self.subject, "owner", f"{self.subject} is the owner")


def find_member(kernel: Kernel | None, actor: Actor, org_id: str | None = None) -> ActingSubject | None:
    """The subject an actor acts as, in the organization `org_id` if it is given; None for an operator.

    Raises `Refused`: `UNKNOWN_NAME` if no organization that the credential is valid in declares it,
    `AGENT_INACTIVE` if it is not
    at work.
    """
    subject = actor.member
    if not subject:
        return None
    if kernel is None:
        raise Refused(
            f"{quote(subject)} is not declared, because there are no documents here",
            "name the documents with `--path`; without `--by` an operator acts",
            UNKNOWN_NAME,
        )
    views = list_views(kernel.state)
    named = [
        (view, member_identity)
        for view in views
        if actor.is_good_for(view.org_id) and (member_identity := identify(view, subject)) is not None
    ]
    if not named or all(identity.kind == "unknown" for _, identity in named):
        if actor.orgs is not None and any(_does_know_subject(view, subject) for view in views):
            raise _build_other_organization_refusal(subject, actor)
        raise _build_undeclared_refusal(views, subject, kernel.state)
    known = tuple(
        (view, identity) for view, identity in named if not _find_inactive_lifecycle(kernel, view, identity)
    )
    # At work elsewhere does not count: an agent changes nothing where it is suspended.
    here = [(view, identity) for view, identity in named if view.org_id == org_id]
    if not known or (here and here[0] not in known):
        named = here or named
        lifecycle = next(_find_inactive_lifecycle(kernel, view, identity) for view, identity in named)
        raise Refused(
            f"{quote(subject)} is {lifecycle}",
            "a superior, the owner or an operator can reactivate it",
            INACTIVE,
        )
    # INVARIANT: nothing is given to an equivalent subject of any organization, so these are not limited to the credential's.
    own = {subject}.union(*(_list_same_subjects(view, subject) for view in views))
    if actor.person:
        own.update(*(_list_same_subjects(view, actor.person) for view in views))
    owned = frozenset(view.org_id for view, each in known if each.kind == "person" and each.is_owner)
    return ActingSubject(subject, frozenset(own), owned, len(owned) == len(views), known)


def _find_inactive_lifecycle(kernel: Kernel, view: OrgView, identity: SubjectIdentity) -> str:
    """The lifecycle of an agent that is not at work in an organization; empty for any other subject."""
    state, subject = kernel.access(view.org_id).state, get_access_tables(view).find_subject(identity.subject)
    return "" if subject is None or is_at_work(subject, state) else state.agents[identity.id].lifecycle


def _list_same_subjects(view: OrgView, subject: str) -> set[str]:
    """The names by which grants and requests can refer to a subject, because a permission of a role applies to its holders."""
    known = identify(view, subject)
    if known is None:
        return {subject}
    same = {subject, *known.keys}
    if known.kind == "role":
        for edge in view.list_agents_in(known.id):
            same |= _list_same_subjects(view, f"agent:{edge.source}")
    return same


def _list_agents_run_by(context: Context, member: ActingSubject) -> set[str]:
    """The names of the agents that the acting person runs, according to their keys, including equivalent subjects."""
    kind, _, name = member.subject.partition(":")
    if kind != "person":
        return set()
    agents = {
        key.agent_id for key in context.store.keys.list() if key.person_id == name and key.revoked_at is None
    }
    return {
        same
        for agent in agents
        if agent
        for view, _ in member.known
        for same in _list_same_subjects(view, f"agent:{agent}")
    }


def refuse_itself(context: Context, member: ActingSubject, subject: str, what: str) -> None:
    """Raise `Refused` (`SELF_GRANT`) if a subject would act on itself.

    INVARIANT: a subject cannot issue, approve or promote for itself. A permission of a role applies to its holders, so a
    role that an agent fills counts as that agent, in every organization.
    """
    if subject in member.own | _list_agents_run_by(context, member):
        raise Refused(f"{quote(member.subject)} cannot {what}", "another subject has to do it", SELF_GRANT)


def require_outside(context: Context, what: str) -> Right | None:
    """Raise `Refused` (`MAY_NOT_GRANT`) unless the actor is an operator or an owner."""
    member = find_member(context.kernel, context.actor)
    if member is None:
        return None
    if not member.owns_all:
        raise build_outside_refusal(member.subject, what)
    return member.owner_right


ONLY_OUTSIDE = "only the owner or an operator may"


def build_outside_refusal(subject: str, what: str) -> Refused:
    """The refusal of an act that only an operator or an owner may perform."""
    return Refused(f"{quote(subject)} may not {what}", ONLY_OUTSIDE, MAY_NOT_GRANT)


def choose_subject(context: Context, named_subject: str | None, field: str, org_id: str | None) -> str:
    """The subject of a request: the actor itself, or for an owner or operator, the one in `field`.

    Raises `Refused`.
    """
    member = context.actor.member
    if member and named_subject in (None, member):
        return member
    if member and (context.actor.agent_id or not _is_owner(context, org_id)):
        raise Refused(
            f"the credential belongs to {quote(member)}",
            f"the {field} has to be {quote(member)}",
            OTHER_REQUESTER,
        )
    if named_subject is None:
        raise Refused(
            f"the credential belongs to no agent, and no {field} is given",
            f"name the `{field}`",
            OTHER_REQUESTER,
        )
    return named_subject


def _is_owner(context: Context, org_id: str | None) -> bool:
    member = find_member(context.kernel, context.actor)
    return member is not None and member.is_owner_of(org_id)


def open_noted_store(context: Context, right: Right | None) -> Store:
    """The store, which records changes in the audit together with this right."""
    return context.store if right is None else context.store.act_by_right(right.detail)


def require_declared(state: RegistryState, grant: Grant) -> None:
    """Raise `Refused` (`UNKNOWN_NAME`) if no document declares the organization, the subject or a resource of a grant."""
    if grant.org_id != ALL_ORGANIZATIONS and grant.org_id not in state.served:
        help = did_you_mean(grant.org_id, state.served) or f"organizations are {listing(state.served)}"
        raise Refused(f"there is no organization {quote(grant.org_id)}", help, UNKNOWN_NAME)
    views = list_views(state, grant.org_id)
    require_known_subject(views, grant.subject, state)
    for resource in grant.resources:
        if not any(does_know_resource(view, resource) for view in views):
            known = [f"tool:{tool}" for view in views for tool in view.records.tools]
            help = did_you_mean(resource, known) or _describe_way_out(state)
            raise Refused(f"{quote(resource)} is not declared", help, UNKNOWN_NAME)


def list_views(state: RegistryState, org_id: str = ALL_ORGANIZATIONS) -> tuple[OrgView, ...]:
    """The organization with an id, or all that are served; empty if it is not served."""
    if org_id == ALL_ORGANIZATIONS:
        return tuple(each.snapshot.index for each in state.served.values())
    return (state.served[org_id].snapshot.index,) if org_id in state.served else ()


def require_known_subject(views: Iterable[OrgView], subject: str, state: RegistryState) -> None:
    """Raise `Refused` (`UNKNOWN_NAME`) if none of the organizations declares a subject."""
    views = tuple(views)
    if not any(_does_know_subject(view, subject) for view in views):
        raise _build_undeclared_refusal(views, subject, state)


def _build_undeclared_refusal(views: Sequence[OrgView], subject: str, state: RegistryState) -> Refused:
    for view in views:
        if (refusal := describe_refusal(view.records, subject)) is not None:
            return Refused(*refusal, UNKNOWN_NAME)
    known = [each for view in views for each in _list_subjects(view)]
    help = did_you_mean(subject, known) or _describe_way_out(state)
    return Refused(f"{quote(subject)} is not declared", help, UNKNOWN_NAME)


def _build_other_organization_refusal(subject: str, actor: Actor) -> Refused:
    good_for = listing(sorted(actor.orgs or ())) or "no organization"
    return Refused(
        f"the credential of {quote(subject)} is good for {good_for}, where it is not declared",
        "use a key that is bound to the organization that declares it: `orgkernel key create --org ORG`",
        UNKNOWN_NAME,
    )


def list_declaring_organizations(state: RegistryState, subject: str) -> tuple[str, ...]:
    """The served organizations that declare a subject."""
    return tuple(view.org_id for view in list_views(state) if _does_know_subject(view, subject))


def does_know_resource(view: OrgView, resource: str) -> bool:
    """Whether an organization declares a resource; `tool:name*` matches every tool with such a name."""
    kind, _, name = resource.partition(":")
    tool = name.partition(":")[0]
    if tool.endswith(STAR):
        return kind != "tool" or any(each.startswith(tool[:-1]) for each in view.records.tools)
    return not get_access_tables(view).find(resource)[0].unknown


def _does_know_subject(view: OrgView, subject: str) -> bool:
    kind, _, name = subject.partition(":")
    people = (person.record for person in view.records.people.values())
    if kind == "relationship":
        return name == "owner" or any(person.relationship == name for person in people)
    if kind == "tag":
        return any(name in person.tags for person in people)
    return get_access_tables(view).find_subject(subject) is not None


def _list_subjects(view: OrgView) -> Iterable[str]:
    yield from (f"role:{each}" for each in view.roles)
    yield from (f"agent:{each}" for each in view.records.agents)
    yield from (f"person:{each}" for each in view.records.people)


def _describe_way_out(state: RegistryState) -> str:
    if state.refused:  # it could be declared in documents that cannot be read
        return f"{_SHOW_CHECK}: {listing(state.refused)} cannot be served"
    return "declare it first"
