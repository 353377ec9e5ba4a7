"""Where the tables of an organization are kept: with its view, and as long as it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from orgkernel.decisions.access.evaluation import AccessTables
from orgkernel.decisions.access.layers import ORDER
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.graph.questions import OrgView

_TABLES: WeakKeyDictionary[OrgView, AccessTables] = WeakKeyDictionary()


def tables_of(view: OrgView) -> AccessTables:
    """The tables of a view. Two threads may both compile them; either are kept."""
    tables = _TABLES.get(view)
    if tables is None:
        policies = PolicyTable.of(view.records.policies.values())
        tables = _TABLES[view] = AccessTables(view, policies, ORDER)
    return tables
