"""Grants to somebody whom no document declares any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant
from orgkernel.graph.questions import OrgView

_INDIVIDUALS = ("agent", "role", "person", "system", "webhook")
"""Relationships and tags are not among them: they say what people are, and people come and go."""


def find_vanished(
    views: Iterable[OrgView], grants: Iterable[Grant], *, complete: bool = True
) -> Iterator[Grant]:
    """Those of some grants whose subject their organization does not declare; for all of them, that none declares.

    Nothing is said about organizations that are not among the views, or of which a document could not be read.
    `complete` says that there are no organizations besides the views.
    """
    by_id = {view.org_id: view for view in views}
    readable = complete and not any(view.records.incomplete for view in by_id.values())
    for grant in grants:
        if grant.subject.partition(":")[0] not in _INDIVIDUALS:
            continue
        if grant.org_id == ALL_ORGANIZATIONS:
            known = not readable or any(identify(view, grant.subject) for view in by_id.values())
        else:
            view = by_id.get(grant.org_id)
            known = view is None or bool(view.records.incomplete) or identify(view, grant.subject) is not None
        if not known:
            yield grant
