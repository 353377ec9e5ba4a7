"""SALUTE: the report of a role of an organization (specification, "Computing SALUTE Fields").

The computation is the runtime's, which hosts use as well; what the organization knows of the role is filled in here.
"""

from __future__ import annotations

from dataclasses import replace

from orgkernel.graph.questions import OrgView
from orgkernel.runtime.salute import Report, Situation, compute_report


def report_role(view: OrgView, situation: Situation) -> Report:
    """The report of a role that the organization has; its name, superior and organization are those declared."""
    profile = view.records.posts[situation.role_id].profile
    superior = view.superior_of(situation.role_id)
    return compute_report(replace(situation, role_name=profile.name, org_id=view.org_id, reports_to=superior))
