"""Where the tables of an organization are kept: beside its view, and as long as it lives."""

from __future__ import annotations

from weakref import finalize

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.layers import ORDER
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.graph.questions import OrgView

_TABLES: dict[int, AccessTables] = {}
"""The identity of each living view to its tables; a dictionary with weak keys takes five times as long to look up."""


def tables_of(view: OrgView) -> AccessTables:
    """The tables of a view. Two threads may both compile them; either are kept."""
    return _TABLES.get(id(view)) or _open(view)


def _open(view: OrgView) -> AccessTables:
    # INVARIANT: the entry goes before the identity of a view that died can be another's.
    finalize(view, _TABLES.pop, id(view), None)
    tables = _TABLES[id(view)] = AccessTables(view, PolicyTable.of(view.records.policies.values()), ORDER)
    return tables
