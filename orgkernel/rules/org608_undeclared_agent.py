"""The store knows an agent that no roster declares.

## What it checks

Every agent of the store, but for decommissioned ones, is declared by a roster of an organization that was read. Asked
with a store only: `orgkernel check --store`, `orgkernel agent list`, and the diagnostics of a registry that has one.

## Why it matters

The roster declares who exists. An agent that was taken out of it is refused everything, while its rank, grants and locks
stand in the store and come back to life with whoever is given its id next.

## Example

The store has an active agent `a2` besides this roster:

```yaml
agents:
  a1: {assignments: [{role: co}]}
```

## Instead

```yaml
agents:
  a1: {assignments: [{role: co}]}
  a2: {assignments: [{role: co}]}
```

## Known limits

A store that serves several trees holds agents of them all, and of each only its own are known. While a roster cannot be
read, nobody is said to be undeclared.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.state_view import StateView
from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(views: Sequence[OrgView], state: StateView) -> Iterator[Finding]:
    """Agents of the store that are in no roster."""
    if not views or any("crew_roster" in view.records.incomplete for view in views):
        return
    declared = {agent_id for view in views for agent_id in view.records.agents}
    for agent_id, agent in sorted(state.agents.items()):
        if agent_id not in declared and agent.lifecycle != "decommissioned":
            meant = did_you_mean(agent_id, declared)
            yield Finding(
                _place(views),
                f"agent {quote(agent_id)} is {agent.lifecycle} in the store and declared by no roster",
                meant or f"declare it, or `orgkernel agent move {agent_id} decommissioned`",
                f"agent:{agent_id}",
            )


def _place(views: Sequence[OrgView]) -> Place:
    """The agents of the first roster; where there is none, the first organization."""
    rosters = [
        definition.document.place("agents", key=True)
        for view in views
        for definition in view.records.agents.values()
    ]
    return min(rosters) if rosters else views[0].records.document.place("org_id", key=True)


RULE = Rule("ORG608", "undeclared-agent", Severity.WARNING, Scope.STATE, check)
