"""The access tables of an organization. They are compiled on first use and dropped with the view."""

from __future__ import annotations

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.layers import ORDER
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView


@PerView
def get_access_tables(view: OrgView) -> AccessTables:
    """The tables of a view."""
    return AccessTables(view, PolicyTable.build(view.records.policies.values()), ORDER)
