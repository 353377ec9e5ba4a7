"""Whether what a grant names is declared: the store knows no documents, so the kernel says it (design §6)."""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.registry_state import State
from orgkernel.records.access_policies import STAR

UNKNOWN_NAME = "UNKNOWN_NAME"


def require_declared(state: State, grant: Grant) -> None:
    """Raise `Refused` for a grant of an organization, subject or resource that nothing declares."""
    if grant.org_id is not None and grant.org_id not in state.served:
        help = did_you_mean(grant.org_id, state.served) or f"organizations are {listing(state.served)}"
        raise Refused(f"there is no organization {quote(grant.org_id)}", help, UNKNOWN_NAME)
    served = [state.served[grant.org_id]] if grant.org_id is not None else list(state.served.values())
    views = [each.snapshot.index for each in served]
    require_known_subject(views, grant.subject, state)
    for resource in grant.resources:
        if not any(knows_resource(view, resource) for view in views):
            known = [f"tool:{tool}" for view in views for tool in view.records.tools]
            help = did_you_mean(resource, known) or _way_out(state)
            raise Refused(f"{quote(resource)} is not declared", help, UNKNOWN_NAME)


def require_known_subject(views: Iterable[OrgView], subject: str, state: State) -> None:
    """Raise `Refused` for a subject that none of some organizations knows."""
    views = tuple(views)
    if not any(_knows_subject(view, subject) for view in views):
        known = [each for view in views for each in _subjects(view)]
        raise Refused(
            f"{quote(subject)} is not declared", did_you_mean(subject, known) or _way_out(state), UNKNOWN_NAME
        )


def knows_resource(view: OrgView, resource: str) -> bool:
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


def _way_out(state: State) -> str:
    if state.refused:  # it may be declared by documents that cannot be used
        return f"see `orgkernel check`: {listing(state.refused)} cannot be answered for"
    return "declare it first"
