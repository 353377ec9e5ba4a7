"""The store has an agent that no roster declares.

## What it checks

Every agent in the store is declared by a roster of an organization that was read. Decommissioned agents are exempt. The
rule runs only with a store: in `orgkernel check --store`, in `orgkernel agent list`, and in the diagnostics of a registry
that has one.

## Why it matters

The roster declares which agents exist. An agent that was removed from it is refused everything, but its rank, grants and
locks stay in the store. The next agent with the same id inherits them.

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

If several trees share a store, the rule reports the agents of the other trees, because it knows only its own. Nothing is
reported while a roster could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.state_view import StateView
from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleScope


def check(views: Sequence[OrgView], state: StateView) -> Iterator[Finding]:
    """Agents in the store that no roster declares."""
    if not views or any("crew_roster" in view.records.incomplete for view in views):
        return
    declared = {agent_id for view in views for agent_id in view.records.agents}
    for agent_id, agent in sorted(state.agents.items()):
        if agent_id not in declared and agent.lifecycle != "decommissioned":
            meant = did_you_mean(agent_id, declared)
            yield Finding(
                _place(views),
                f"agent {quote(agent_id)} is {agent.lifecycle} in the store, but no roster declares it",
                meant or f"declare it, or run `orgkernel agent move {agent_id} decommissioned`",
                f"agent:{agent_id}",
            )


def _place(views: Sequence[OrgView]) -> Place:
    """The agents of the first roster; without a roster, the first organization."""
    rosters = [
        definition.document.place("agents", key=True)
        for view in views
        for definition in view.records.agents.values()
    ]
    return min(rosters) if rosters else views[0].records.document.place("org_id", key=True)


RULE = Rule("ORG608", "undeclared-agent", Severity.WARNING, RuleScope.STATE, check)
