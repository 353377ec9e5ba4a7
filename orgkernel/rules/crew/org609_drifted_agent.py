"""An agent in the store differs from its entry in the roster.

## What it checks

The rule compares every agent that is both in a roster and in the store:

- If the roster states a rank, the agent has this rank in the store.
- Its rank in the store is a rank of the ladder.
- It is neither suspended nor decommissioned.
- Its rank is stored for this organization. A rank that was stored before agents belonged to organizations applies in
  all of them. It can lower the rank in the roster but never raise it.

The rule runs only with a store: in `orgkernel check --store`, in `orgkernel agent list`, and in the diagnostics of a
registry that has one.

## Why it matters

The store takes precedence. A reviewer of the roster reads a rank that the agent no longer has, or relies on an agent
that is suspended.

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

A promotion is not a mistake, so the severity is info. Trust changes with every report and is not compared. Assignments are
not stored: only the roster says which roles an agent fills.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, STOPPED, AgentState, StateView
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import RosterMember
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find agents that differ from the roster. State for all organizations is compared once with a shared roster."""
    seen: set[object] = set()
    for view in views:
        for agent_id, definition in view.records.agents.items():
            stored = states[view.org_id].agents.get(agent_id)
            if stored is not None and (definition.place(), stored) not in seen:
                seen.add((definition.place(), stored))
                yield from _find_differences(view, definition, stored)


def _find_differences(
    view: OrgView, definition: Definition[RosterMember], stored: AgentState
) -> Iterator[Finding]:
    who, subject = f"agent {quote(stored.agent_id)}", f"agent:{stored.agent_id}"
    ranks = [rank.id for rank in view.records.ranks]
    start = definition.record.rank
    if stored.rank is not None and ranks and stored.rank not in ranks:
        yield Finding(
            definition.place(),
            f"{who} has rank {quote(stored.rank)} in the store, which no ladder declares",
            did_you_mean(stored.rank, ranks) or f"use one of {listing(ranks)}",
            subject,
        )
    elif stored.org_id == ALL_ORGANIZATIONS and stored.rank is not None:
        yield Finding(
            definition.place(),
            f"{who} has rank {quote(stored.rank)} in the store for all organizations, which can only lower its rank",
            f"use `orgkernel agent set-rank {stored.agent_id} {stored.rank} --org {view.org_id}` to keep this rank",
            subject,
        )
    elif None not in (stored.rank, start) and stored.rank != start:
        yield Finding(
            definition.place("rank"),
            f"{who} has rank {quote(stored.rank)} in the store but starts at {quote(start)} in the roster",
            "write the stored rank in the roster if a new store should start the agent there",
            subject,
        )
    where = "--all-orgs" if stored.org_id == ALL_ORGANIZATIONS else f"--org {view.org_id}"
    if stored.lifecycle in STOPPED:
        way = (
            f"remove it from the roster, or run `orgkernel agent move {stored.agent_id} active {where}`"
            if stored.lifecycle == "suspended"
            else "remove it from the roster"
        )
        yield Finding(definition.place(), f"{who} is {stored.lifecycle} in the store", way, subject)


RULE = Rule("ORG609", "drifted-agent", Severity.INFO, RuleTarget.STATE, check)
