"""What a brief says in an organization, whoever works on what: worked out once for a brief and a pair."""

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
    find_gate_failures,
    find_sacred_files,
    find_unlisted_operations,
    list_sacred_obligations,
)
from orgkernel.decisions.handoff.pairs import HandoffPair
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

_MOST = 256


class BriefFacts(NamedTuple):
    """What fails, and what is owed."""

    briefs: HandoffBriefs
    failures: tuple[Failure, ...]
    obligations: tuple[str, ...]


_Known = dict[tuple[int, int, int], BriefFacts]


@PerView
def _get_known(view: OrgView) -> _Known:
    return {}


def compute_brief_facts(view: OrgView, pair: HandoffPair, briefs: HandoffBriefs) -> BriefFacts:
    """What the briefs say between a sender and a receiver."""
    if briefs.brief is None and briefs.parent is None:
        return BriefFacts(NO_BRIEFS, (), pair.needs)
    known = _get_known(view)
    # What is kept holds on to the briefs, so that no other ones get their ids; pairs are held on to by their view.
    key = id(briefs.brief), id(briefs.parent), id(pair)
    facts = known.get(key)
    if facts is None or facts.briefs.brief is not briefs.brief or facts.briefs.parent is not briefs.parent:
        facts = _find_facts(view, pair, briefs)
        if len(known) >= _MOST:
            known.clear()
        known[key] = facts
    return facts


def _find_facts(view: OrgView, pair: HandoffPair, briefs: HandoffBriefs) -> BriefFacts:
    records = view.records
    brief = get_brief(briefs.brief)
    findings = (
        *find_brief_failures(briefs),
        *find_gate_failures(records, briefs, pair.found),
        *find_unlisted_operations(records, briefs),
        *find_wider_permissions(briefs),
        *find_sacred_files(view, briefs),
        *find_wider_brief(briefs, pair.file_scopes, records.organization.workspace_root),
    )
    owed = [*(pair.needs if brief is None else ()), *list_sacred_obligations(view, briefs)]
    if brief is not None and briefs.parent is None and brief.parent is None and pair.works_by_brief:
        owed.append("state:parent_brief")
    return BriefFacts(briefs, tuple(map(Failure.of, findings)), tuple(owed))
