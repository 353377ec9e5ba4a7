"""Find the roles whose manifests an edit can change. Only these are compared part by part.

An edit that is not named here can change every role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.diff.edits import GOVERNANCE, ORGANIZATION, ROLES, DeclaredEdit
from orgkernel.diff.questions import BothVersions, find_moved
from orgkernel.diff.sections import ORDER
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

_BETWEEN_ROLES = (EdgeKind.REPORTS_TO, EdgeKind.MAY_HAND_WORK_TO, EdgeKind.ESCALATES_TO, EdgeKind.SPEAKS_WITH)
_BY_EDGE = {
    "domains": EdgeKind.HANDLES,
    "plans": EdgeKind.FOLLOWS,
    "skills": EdgeKind.REQUIRES,
    "agents": EdgeKind.FILLS,
}
_NO_ROLE = frozenset({"aliases", "people", "webhooks", "system_origins"})
_ORGANIZATION_WITHOUT_ROLES = frozenset({"org_name", "description", "mission", "mode", "microcosm_config", "macrocosm_config",
                                         "defaults", "separations", "authzen", "procedure_proposals", "sources", "departments",
                                         "limits", "domains", "alerts", "watches", "_version"})  # fmt: skip
_GOVERNANCE_WITHOUT_ROLES = frozenset({"description", "sacred_scopes", "destructive_operations", "quality_gates", "phrases",
                                       "batch_size", "limits", "claims", "_version"})  # fmt: skip


def find_touched_roles(edit: DeclaredEdit, sides: BothVersions) -> frozenset[str]:
    """The roles whose manifests an edit can change, as each version calls them."""
    return frozenset(chain.from_iterable(_find_in(view, edit, sides) for view in sides))


def _find_in(view: OrgView, edit: DeclaredEdit, sides: BothVersions) -> Iterator[str]:
    section, field = edit.section, edit.field
    # A role too many costs a comparison. A role too few hides a change, so a section without a branch names all roles.
    if section in _NO_ROLE:
        return
    if section in (ROLES, "renames", "sharing"):
        yield from _find_around(view, edit.id, field)
        yield from _find_around(view, str(edit.before), "") if section == "renames" else ()
    elif section == "tools":
        yield from _find_users_of_tool(view, edit.id)
    elif section == "policies":
        tables = get_access_tables(view)
        subjects = ((role_id, tables.find_subject(f"role:{role_id}")) for role_id in view.roles)
        for role_id, subject in subjects:
            if subject is not None and any(policy.id == edit.id for policy in subject.policies):
                yield role_id
    elif section == "agents":
        yield from (edge.target for edge in view.list_roles_filled_by(edit.id))
    elif section in _BY_EDGE:
        yield from view.list_sources_to(_BY_EDGE[section], edit.id)
    elif section == ORGANIZATION and field == "hierarchy" and ORDER in edit.route:
        yield from view.roles
    elif section == ORGANIZATION and field == "hierarchy":
        yield from map(str, edit.route[1:2])
        # A new order of the hierarchy moves roles that the edit does not name, with everyone above and below them.
        for role_id in find_moved(sides):
            yield from _find_around(view, role_id, "chain_of_command")
    elif section == ORGANIZATION and field == "overrides" and len(edit.route) > 1:
        yield from _find_around(view, str(edit.route[1]), "")
    elif section == ORGANIZATION and field == "domain_routing" and len(edit.route) > 1:
        yield from view.list_sources_to(EdgeKind.HANDLES, str(edit.route[1]))
    elif (section == ORGANIZATION and field in _ORGANIZATION_WITHOUT_ROLES) or (
        section == GOVERNANCE and field in _GOVERNANCE_WITHOUT_ROLES
    ):
        return
    else:
        yield from view.roles


def _find_around(view: OrgView, role_id: str, field: str) -> Iterator[str]:
    """A role and those whose manifests name it."""
    yield role_id
    for kind in _BETWEEN_ROLES:
        yield from view.list_sources_to(kind, role_id)
        yield from (target for target, _ in view.list_ends_from(kind, role_id))
    if field in ("", "chain_of_command"):
        yield from view.find_below((role_id,))
        yield from (edge.target for edge in view.list_chain_above(role_id))


def _find_users_of_tool(view: OrgView, tool_id: str) -> Iterator[str]:
    definition = view.records.tools.get(tool_id)
    if definition is not None and definition.record.essential:
        yield from view.roles
        return
    yield from view.get_holder_levels(tool_id)
    yield from view.list_sources_to(EdgeKind.EQUIPPED_WITH, tool_id)
    yield from _find_followers(view, view.list_sources_to(EdgeKind.NEEDS, tool_id))
    for procedure in view.list_sources_to(EdgeKind.CALLS, tool_id):
        yield from view.list_sources_to(EdgeKind.PERFORMS, procedure)


def _find_followers(view: OrgView, plans: Iterable[str]) -> Iterator[str]:
    for plan in plans:
        yield from view.list_sources_to(EdgeKind.FOLLOWS, plan)
