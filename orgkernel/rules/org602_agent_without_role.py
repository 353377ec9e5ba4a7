"""An agent fills no role.

## What it checks

Every agent of a roster whose `tier` is `crew` has at least one assignment.

## Why it matters

An agent gets what it may use from its roles. Without one it may use nothing, and no work reaches it.

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

Agents of the tiers `utility`, `infrastructure` and `external` may stand beside the chain of command.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import SourceDocument
from orgkernel.records.crew_roster import CrewRoster
from orgkernel.rules.rule import Finding, Rule, Scope


def check(document: SourceDocument) -> Iterator[Finding]:
    """Members of the crew without an assignment."""
    if not isinstance(document.record, CrewRoster):
        return
    for agent_id, member in document.record.agents.items():
        if member.tier == "crew" and not member.assignments:
            yield Finding(
                document.place("agents", agent_id, key=True),
                f"agent {quote(agent_id)} fills no role",
                "assign it one, or give it the tier it is of",
                f"agent:{agent_id}",
            )


RULE = Rule("ORG602", "agent-without-role", Severity.WARNING, Scope.DOCUMENT, check)
