"""Compute the effect of a grant: the permissions of its subject before and after, for every affected resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored import add_grant, drop_grant
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.documents.records import DATA_TIERS, STAR
from orgkernel.graph.questions import OrgView
from orgkernel.operations.rights import list_views

if TYPE_CHECKING:
    from orgkernel.kernel.access import OrganizationAccess
    from orgkernel.kernel.kernel import Kernel


class Widening(msgspec.Struct, frozen=True, kw_only=True):
    """The change for one action on one resource."""

    org_id: str
    resource: str
    action: str
    level_before: str
    level_after: str
    outcome_before: Outcome
    outcome_after: Outcome


def find_widening(kernel: Kernel, grant: Grant) -> tuple[Widening, ...]:
    """The actions that a grant would allow, or for which it removes the need to ask, in its organization or in all."""
    return tuple(
        change
        for view in list_views(kernel.state, grant.org_id)
        for written in grant.resources
        for resource in find_resources(view, written)
        for change in _find_changes(kernel.access(view.org_id), grant, resource, _get_path(written))
    )


def find_resources(view: OrgView, resource_name: str) -> tuple[Resource, ...]:
    """The resources that a name in a grant matches. The name can end in a star."""
    tables = get_access_tables(view)
    kind, _, name = resource_name.partition(":")
    if kind == "tool":
        name = name.partition(":")[0]
    known = {"tool": view.records.tools, "credential": tables.credentials, "data": DATA_TIERS}.get(kind, ())
    names = [each for each in known if each.startswith(name[:-1])] if name.endswith(STAR) else [name]
    resources = (tables.find(f"{kind}:{each}")[0] for each in names)
    return tuple(resource for resource in resources if not resource.unknown)


def find_narrowing(kernel: Kernel, grant: Grant) -> tuple[Widening, ...]:
    """The actions that a subject could no longer do, or only with an approval, without a grant that is in effect."""
    return tuple(
        change
        for view in list_views(kernel.state, grant.org_id)
        for written in grant.resources
        for resource in find_resources(view, written)
        for change in _find_changes(
            kernel.access(view.org_id), grant, resource, _get_path(written), is_revoked=True
        )
    )


def _find_changes(
    org_access: OrganizationAccess, grant: Grant, resource: Resource, path: str, *, is_revoked: bool = False
) -> Iterator[Widening]:
    if is_revoked:
        state = drop_grant(org_access.state, grant)
    else:
        # Only the digest of the input that a grant is bound to is known.
        state = add_grant(org_access.state, replace(grant, input_digest=None))
    now = org_access.build_current_context()
    context = AccessContext(
        now=now.now, utc_offset=now.utc_offset, channel=grant.channel, session=grant.session
    )
    for action in resource.actions if grant.action is None else (grant.action,):
        request = AccessRequest(grant.subject, action, resource.resource + path, context)
        before, after = (decide_access(org_access.view, request, each) for each in (org_access.state, state))
        if before.outcome != after.outcome:
            yield Widening(
                org_id=org_access.view.org_id, resource=request.resource, action=action, level_before=before.level_effective,
                level_after=after.level_effective, outcome_before=before.outcome, outcome_after=after.outcome,
            )  # fmt: skip


def _get_path(resource_name: str) -> str:
    """The path in a tool name, with its colon; empty if there is none."""
    kind, _, name = resource_name.partition(":")
    _, colon, path = name.partition(":")
    return colon + path if kind == "tool" else ""
