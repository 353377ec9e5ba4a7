"""The store has an agent that no roster declares.

## What it checks

Every agent in the store is declared by a roster of its organization. Decommissioned agents are exempt. The
rule runs only with a store: in `orgkernel check --store`, in `orgkernel agent list`, and in the diagnostics of a registry
that has one.

## Why it matters

The roster declares which agents exist. An agent that was removed from it is refused everything, but its rank, grants and
locks stay in the store. The next agent with the same id inherits them.

## Example

The store has an active agent `a2` in addition to this roster:

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

Agents of organizations that were not read are not reported. Nothing is reported while a roster cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, AgentState, StateView
from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find agents in the store that no roster of their organization declares. An agent stored for all organizations
    is reported once.
    """
    if any("crew_roster" in view.records.incomplete for view in views):
        return
    declared = {each for view in views for each in (*view.records.agents, *view.records.withheld_agents)}
    for view in views:
        for agent_id, agent in sorted(states[view.org_id].agents.items()):
            is_shared = agent.org_id == ALL_ORGANIZATIONS
            known = declared if is_shared else {*view.records.agents, *view.records.withheld_agents}
            if agent_id in known or agent.lifecycle == "decommissioned":
                continue
            if is_shared:
                declared.add(agent_id)
            end = f"orgkernel agent move {agent_id} decommissioned {_choose_option(view, agent)}"
            yield Finding(
                _place(view),
                f"agent {quote(agent_id)} is {agent.lifecycle} in the store, but no roster declares it",
                did_you_mean(agent_id, known) or f"declare it, or run `{end}`",
                f"agent:{agent_id}",
            )


def _choose_option(view: OrgView, agent: AgentState) -> str:
    return "--all-orgs" if agent.org_id == ALL_ORGANIZATIONS else f"--org {view.org_id}"


def _place(view: OrgView) -> Place:
    """The `agents` field of the first roster. Without a roster, the organization."""
    rosters = [definition.document.place("agents", key=True) for definition in view.records.agents.values()]
    return min(rosters) if rosters else view.records.document.place("org_id", key=True)


RULE = Rule("ORG608", "undeclared-agent", Severity.WARNING, RuleTarget.STATE, check)
