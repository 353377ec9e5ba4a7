"""A promotion has no candidates.

## What it checks

An organization's own promotion does not lead to the lowest rank of the ladder. If a roster assigns agents to the
organization, at least one of them starts below the rank that the promotion leads to.

## Why it matters

No agent can ever get this promotion. Its requirements are never used, so mistakes in them go unnoticed.

## Example

```yaml
ranks: [{id: junior}, {id: senior, trust_from: 0.6}]
promotions:
  junior: {requirements: [{skills: universal, min_proficiency: 2}]}
```

## Instead

```yaml
ranks: [{id: junior}, {id: senior, trust_from: 0.6}]
promotions:
  senior: {requirements: [{skills: universal, min_proficiency: 2}]}
```

## Known limits

The rule uses the rank at which agents start: the rank in the roster, else the rank their trust gives, else the entry rank
of their role, else the lowest rank. The shared ladder is not checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Promotions without candidates."""
    records = view.records
    order = {rank.id: number for number, rank in enumerate(records.ranks)}
    own = [promotion for promotion in records.promotions.values() if promotion.own and promotion.id in order]
    if not own or "crew_roster" in records.incomplete:
        return
    starts = [start for agent_id in records.agents for start in _starts(view, agent_id, order)]
    for promotion in own:
        height = order[promotion.id]
        if height == 0:
            why = "it is the lowest rank"
        elif starts and min(starts) >= height:
            why = "every agent starts at this rank or above"
        else:
            continue
        yield Finding(
            promotion.place(),
            f"promotion {quote(promotion.id)} has no candidates: {why}",
            "remove it, or lower the rank at which agents start",
            f"promotion:{promotion.id}",
        )


def _starts(view: OrgView, agent_id: str, order: dict[str, int]) -> Iterator[int]:
    """The position of the rank at which an agent starts in the organization. Empty for an agent that fills no role in
    it.
    """
    member, filled = view.records.agents[agent_id].record, view.list_roles_filled_by(agent_id)
    if not filled or member.crew_tier != "crew":
        return
    if member.rank is not None:
        yield order.get(member.rank, 0)
        return
    if member.trust is not None:
        yield max(
            (order[rank.id] for rank in view.records.ranks if rank.trust_from <= member.trust), default=0
        )
        return
    posts = (view.records.posts.get(edge.target) for edge in filled)
    yield max((order.get(post.profile.entry_rank or "", 0) for post in posts if post), default=0)


RULE = Rule("ORG607", "promotion-without-candidates", Severity.INFO, RuleTarget.CATALOG, check)
