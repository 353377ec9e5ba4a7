"""Select roles of an organization."""

from __future__ import annotations

from dataclasses import dataclass

from orgkernel.graph.questions import OrgView


@dataclass(frozen=True, slots=True)
class RoleFilter:
    """Conditions on roles. Every condition that is not None must hold.

    >>> from orgkernel import Kernel
    >>> wanted = RoleFilter(role_type="executive", reports_to="co")
    >>> [role.role_id for role in Kernel.open().crew("software_dev", wanted).roles]
    ['engineering_xo', 'research_xo']
    """

    role_type: str | None = None
    domain: str | None = None
    """A domain or one of its aliases."""
    plan: str | None = None
    tool: str | None = None
    skill: str | None = None
    reports_to: str | None = None
    """The direct superior."""
    department: str | None = None
    layer: str | None = None


def select_roles(view: OrgView, wanted: RoleFilter) -> tuple[str, ...]:
    """The matching roles, in the order of the hierarchy."""
    return tuple(role_id for role_id in view.roles if _fits(view, role_id, wanted))


def _fits(view: OrgView, role_id: str, wanted: RoleFilter) -> bool:
    profile = view.records.posts[role_id].profile
    superior = view.get_superior_edge(role_id)
    domain = (view.resolve_domain(wanted.domain) or wanted.domain) if wanted.domain is not None else None
    return (
        wanted.role_type in (None, profile.role_type)
        and wanted.department in (None, profile.department)
        and wanted.layer in (None, profile.layer)
        and wanted.reports_to in (None, superior.target if superior else None)
        and (domain is None or any(edge.target == domain for edge in view.list_domains(role_id)))
        and (wanted.plan is None or any(edge.target == wanted.plan for edge in view.list_plans(role_id)))
        and (wanted.tool is None or any(edge.target == wanted.tool for edge in view.list_tools(role_id)))
        and (wanted.skill is None or any(edge.target == wanted.skill for edge in view.list_skills(role_id)))
    )
