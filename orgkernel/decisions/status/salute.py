"""SALUTE: the report of a role in an organization (specification, "Computing SALUTE Fields").

The runtime computes the report, for hosts too. This module fills in what the organization declares about the role.
"""

from __future__ import annotations

from orgkernel.graph.questions import OrgView
from orgkernel.runtime.salute import Situation, compute_report
from orgkernel.runtime.salute_format import Report


def report_role(view: OrgView, situation: Situation) -> Report:
    """The report of a role in the organization, with its declared name, superior and organization."""
    profile = view.records.posts[situation.role_id].profile
    superior = view.get_superior(situation.role_id)
    return compute_report(situation._replace(role_name=profile.name, org_id=view.org_id, reports_to=superior))
