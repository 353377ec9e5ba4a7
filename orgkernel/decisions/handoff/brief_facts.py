"""The failures and obligations that follow from a brief in an organization, computed once for a brief and a pair."""

from __future__ import annotations

from typing import NamedTuple

from orgkernel.decisions.handoff.briefs import (
    NO_BRIEFS,
    HandoffBriefs,
    find_brief_failures,
    find_wider_brief,
    find_wider_permissions,
    get_brief,
)
from orgkernel.decisions.handoff.failures import Failure
from orgkernel.decisions.handoff.governed_briefs import (
    find_broad_files,
    find_gate_failures,
    find_sacred_files,
    find_unlisted_operations,
    list_sacred_obligations,
)
from orgkernel.decisions.handoff.pairs import HandoffPair
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

_MAX_CACHED = 256


class BriefFacts(NamedTuple):
    """The failures and obligations of a brief."""

    briefs: HandoffBriefs
    failures: tuple[Failure, ...]
    obligations: tuple[str, ...]


_Known = dict[tuple[int, int, int], BriefFacts]


@PerView
def _get_known(view: OrgView) -> _Known:
    return {}


def compute_brief_facts(view: OrgView, pair: HandoffPair, briefs: HandoffBriefs) -> BriefFacts:
    """The failures and obligations of the briefs for a sender and a receiver."""
    if briefs.brief is None and briefs.parent is None:
        return BriefFacts(NO_BRIEFS, (), pair.needs)
    known = _get_known(view)
    # The cache keeps the briefs alive, so no other object can get their ids. The view keeps the pairs alive.
    key = id(briefs.brief), id(briefs.parent), id(pair)
    facts = known.get(key)
    if facts is None or facts.briefs.brief is not briefs.brief or facts.briefs.parent is not briefs.parent:
        facts = _find_facts(view, pair, briefs)
        if len(known) >= _MAX_CACHED:
            known.clear()
        known[key] = facts
    return facts


def _find_facts(view: OrgView, pair: HandoffPair, briefs: HandoffBriefs) -> BriefFacts:
    records = view.records
    brief = get_brief(briefs.brief)
    findings = (
        *find_brief_failures(briefs),
        *find_gate_failures(records, briefs, pair.edge_match),
        *find_unlisted_operations(records, briefs),
        *find_wider_permissions(briefs),
        *find_sacred_files(view, briefs),
        *find_broad_files(view, briefs),
        *find_wider_brief(briefs, pair.file_scopes, records.organization.workspace_root),
    )
    owed = [*(pair.needs if brief is None else ()), *list_sacred_obligations(view, briefs)]
    if brief is not None and briefs.parent is None and brief.parent is None and pair.works_by_brief:
        owed.append("state:parent_brief")
    return BriefFacts(briefs, tuple(map(Failure.from_finding, findings)), tuple(owed))
