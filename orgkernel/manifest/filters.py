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


def select_roles(view: OrgView, role_filter: RoleFilter) -> tuple[str, ...]:
    """The matching roles, in the order of the hierarchy."""
    return tuple(role_id for role_id in view.roles if _fits(view, role_id, role_filter))


def _fits(view: OrgView, role_id: str, role_filter: RoleFilter) -> bool:
    profile = view.records.posts[role_id].profile
    superior = view.get_superior_edge(role_id)
    domain = (
        (view.resolve_domain(role_filter.domain) or role_filter.domain)
        if role_filter.domain is not None
        else None
    )
    return (
        role_filter.role_type in (None, profile.role_type)
        and role_filter.department in (None, profile.department)
        and role_filter.layer in (None, profile.layer)
        and role_filter.reports_to in (None, superior.target if superior else None)
        and (domain is None or any(edge.target == domain for edge in view.list_domains(role_id)))
        and (
            role_filter.plan is None
            or any(edge.target == role_filter.plan for edge in view.list_plans(role_id))
        )
        and (
            role_filter.tool is None
            or any(edge.target == role_filter.tool for edge in view.list_tools(role_id))
        )
        and (
            role_filter.skill is None
            or any(edge.target == role_filter.skill for edge in view.list_skills(role_id))
        )
    )
