"""An agent stands otherwise in the store than its roster says.

## What it checks

An agent of a roster that is in the store, too, has the rank there that the roster starts it at, where it states one; its
rank is one of the ladder; and it is neither suspended nor decommissioned. Asked with a store only:
`orgkernel check --store`, `orgkernel agent list`, and the diagnostics of a registry that has one.

## Why it matters

The store decides. Whoever reviews the roster reads a rank the agent has no longer, or counts on one that is suspended.

## Example

The store has `a1` as `senior`:

```yaml
agents:
  a1: {rank: junior, assignments: [{role: co}]}
```

## Instead

```yaml
agents:
  a1: {rank: senior, assignments: [{role: co}]}
```

## Known limits

A promotion is no mistake, so this is an information. Trust changes with every report and is not compared. Assignments
are not stored: the roster alone says which roles an agent fills.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.state_view import AgentState, StateView
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.records.crew_roster import Member
from orgkernel.rules.rule import Finding, Rule, Scope


def check(views: Sequence[OrgView], state: StateView) -> Iterator[Finding]:
    """Agents that stand otherwise; one that several organizations share is looked at once."""
    seen = set()
    for view in views:
        for agent_id, definition in view.records.agents.items():
            stored = state.agents.get(agent_id)
            if stored is not None and definition.place() not in seen:
                seen.add(definition.place())
                yield from _differing(view, definition, stored)


def _differing(view: OrgView, definition: Definition[Member], stored: AgentState) -> Iterator[Finding]:
    who, subject = f"agent {quote(stored.agent_id)}", f"agent:{stored.agent_id}"
    ranks = [rank.id for rank in view.records.ranks]
    start = definition.record.rank
    if stored.rank is not None and ranks and stored.rank not in ranks:
        yield Finding(
            definition.place(),
            f"{who} is of rank {quote(stored.rank)} in the store, which no ladder declares",
            did_you_mean(stored.rank, ranks) or f"ranks are {listing(ranks)}",
            subject,
        )
    elif None not in (stored.rank, start) and stored.rank != start:
        yield Finding(
            definition.place("rank"),
            f"{who} is of rank {quote(stored.rank)} in the store, its roster starts it at {quote(start)}",
            "write the rank it has if a new store is to start it there",
            subject,
        )
    if stored.lifecycle in ("suspended", "decommissioned"):
        way = (
            f"take it out of the roster, or `orgkernel agent move {stored.agent_id} active`"
            if stored.lifecycle == "suspended"
            else "take it out of the roster"
        )
        yield Finding(definition.place(), f"{who} is {stored.lifecycle} in the store", way, subject)


RULE = Rule("ORG609", "drifted-agent", Severity.INFO, Scope.STATE, check)
