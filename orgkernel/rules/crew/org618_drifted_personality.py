"""An agent's observed personality is far from the one in the roster.

## What it checks

The distance between an agent's latest observed personality and its `personality` in the roster is at most the
organization's `limits.personality_drift`. The distance is Euclidean over the five traits, each from 0 to 1. A trait
that the roster does not state is 0.5.

## Why it matters

The agent no longer behaves like the one that was tested and trusted. Its model, prompt or memory has probably changed.

## Example

```yaml
a1: {assignments: [{role: co}]}
```

while the latest observation has an openness of 0.9.

## Instead

```yaml
a1: {assignments: [{role: co}], personality: {openness: 0.9}}
```

if the agent is to stay as it is.

## Known limits

Only the latest observation is compared. The rule needs the store, so only `orgkernel agent list` and `GET
/v1/diagnostics` report it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.service_record import decide_drift
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Agents whose personality drifted further than the limit."""
    for view in views:
        state = states[view.org_id]
        for agent_id in state.personalities:
            definition = view.records.agents.get(agent_id)
            drift = None if definition is None else decide_drift(view, agent_id, state)
            if definition is not None and drift is not None and drift.alarm:
                place = (
                    definition.place("personality") if definition.record.personality else definition.place()
                )
                yield Finding(
                    place,
                    f"the personality of agent {quote(agent_id)} has drifted by {drift.distance:.2f}, and the limit is "
                    f"{drift.limit:g}",
                    "compare its model, prompt and memory with before, or write the observed traits in the roster",
                    f"agent:{agent_id}",
                )


RULE = Rule("ORG618", "drifted-personality", Severity.WARNING, RuleTarget.STATE, check)
