"""Find grants to subjects that no document declares now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant
from orgkernel.graph.out_of_service import find_out_of_service
from orgkernel.graph.questions import OrgView

_INDIVIDUALS = ("agent", "role", "person", "system", "webhook")
"""The kinds of subjects that can vanish. Relationships and tags are not included, because they describe people who come
and go.
"""


def find_vanished(
    views: Iterable[OrgView], grants: Iterable[Grant], *, complete: bool = True
) -> Iterator[Grant]:
    """The grants whose subject its organization no longer declares; for grants to all organizations, that none
    declares.

    Organizations that are not among the views, or that have unreadable documents, are skipped. `complete` means that the
    views are all organizations.
    """
    by_id = {view.org_id: view for view in views}
    readable = complete and not any(view.records.incomplete for view in by_id.values())
    for grant in grants:
        if grant.subject.partition(":")[0] not in _INDIVIDUALS:
            continue
        if grant.org_id == ALL_ORGANIZATIONS:
            known = not readable or any(_does_know(view, grant.subject) for view in by_id.values())
        else:
            view = by_id.get(grant.org_id)
            known = view is None or bool(view.records.incomplete) or _does_know(view, grant.subject)
        if not known:
            yield grant


def _does_know(view: OrgView, subject: str) -> bool:
    return identify(view, subject) is not None or find_out_of_service(view.records, subject) is not None
