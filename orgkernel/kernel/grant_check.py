"""Whether what a grant names is declared: the store knows no documents, so the kernel says it (design §6)."""

from __future__ import annotations

from orgkernel.decisions.access.cells import build_cell
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.held import State
from orgkernel.records.access_policies import STAR

UNKNOWN_NAME = "UNKNOWN_NAME"


def require_declared(state: State, grant: Grant) -> None:
    """Raise `Refused` for a grant of an organisation, subject or resource that nothing declares."""
    if grant.org_id is not None and grant.org_id not in state.served:
        help = did_you_mean(grant.org_id, state.served) or f"organizations are {listing(state.served)}"
        raise Refused(f"there is no organization {quote(grant.org_id)}", help, UNKNOWN_NAME)
    served = [state.served[grant.org_id]] if grant.org_id is not None else list(state.served.values())
    views = [each.snapshot.index for each in served]
    if not any(_knows_subject(view, grant.subject) for view in views):
        raise Refused(f"{quote(grant.subject)} is not declared", "", UNKNOWN_NAME)
    for resource in grant.resources:
        if not any(_knows_resource(view, resource) for view in views):
            known = [f"tool:{tool}" for view in views for tool in view.records.tools]
            raise Refused(f"{quote(resource)} is not declared", did_you_mean(resource, known), UNKNOWN_NAME)


def _knows_subject(view: OrgView, subject: str) -> bool:
    kind, _, name = subject.partition(":")
    people = (person.record for person in view.records.people.values())
    if kind == "relationship":
        return name == "owner" or any(person.relationship == name for person in people)
    if kind == "tag":
        return any(name in person.tags for person in people)
    return tables_of(view).holder(subject) is not None


def _knows_resource(view: OrgView, resource: str) -> bool:
    kind, _, name = resource.partition(":")
    tool = name.partition(":")[0]
    if tool.endswith(STAR):
        return kind != "tool" or any(each.startswith(tool[:-1]) for each in view.records.tools)
    return not build_cell(view, resource)[0].unknown
