"""An agent fills no role.

## What it checks

Every agent of a roster whose `crew_tier` is `crew` has at least one assignment.

## Why it matters

An agent gets its permissions from its roles. Without a role it may use nothing, and no work reaches it.

## Example

```yaml
agents:
  a1: {callsign: Able}
```

## Instead

```yaml
agents:
  a1: {callsign: Able, assignments: [{role: co}]}
```

## Known limits

Agents of the crew tiers `utility`, `infrastructure` and `external` may be outside the chain of command.

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
    """Agents of the crew without an assignment."""
    for agent_id, agent in view.records.agents.items():
        if agent.record.crew_tier == "crew" and not agent.record.assignments:
            yield Finding(
                agent.place(),
                f"agent {quote(agent_id)} fills no role",
                "assign a role to it, or set its `crew_tier` if it is not part of the crew",
                f"agent:{agent_id}",
            )


RULE = Rule("ORG602", "agent-without-role", Severity.WARNING, RuleTarget.CATALOG, check)
