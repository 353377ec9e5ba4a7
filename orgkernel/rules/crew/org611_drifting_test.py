"""An agent's latest score in a test is far from its baseline.

## What it checks

The rule checks each test of each agent in the store. Results with the digests of the latest one are compared. The
baseline is the first of them that is valid, passed, and states its digests and its sample size. The latest valid
result differs from the baseline by less than two sigma (standard deviations). The rule needs at least three
valid results before the latest. Sigma is the largest of

- the standard deviation of the results before the latest,
- the standard error of the latest score, if its sample size is known,
- 0.01.

The rule runs only with a store: in `orgkernel check --store`, in `orgkernel agent list`, and in the diagnostics of a
registry that has one.

## Why it matters

The agent no longer performs like the one that was qualified, probably because its model, prompt or tools have
changed. A large rise is suspicious too, for example because the test set has leaked.

## Example

The store has the scores 0.9, 0.91, 0.89 and 0.6 of `a1` in `helm`:

```yaml
agents:
  a1: {assignments: [{role: co}]}
```

## Instead

The store has the scores 0.9, 0.91, 0.89 and 0.9 of `a1` in `helm`:

```yaml
agents:
  a1: {assignments: [{role: co}]}
```

## Known limits

At three sigma or more, the message says `critical`. Drift does not change whether a result has passed. `orgkernel
agent results` shows both.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.qualifications import decide_drift, find_valid_results
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find tests whose latest score differs from the baseline by two sigma or more."""
    for view in views:
        for agent_id, results in states[view.org_id].results.items():
            agent = view.records.agents.get(agent_id)
            if agent is None:
                continue
            for name in dict.fromkeys(each.qualification for each in results):
                drift, test = (
                    decide_drift(find_valid_results(results, name)),
                    view.records.qualifications.get(name),
                )
                if test is None or drift is None or drift.outcome not in ("alarm", "critical"):
                    continue
                yield Finding(
                    agent.place(),
                    f"agent {quote(agent_id)} drifts in test {quote(name)} ({drift.outcome}): {drift.text}",
                    f"compare what was tested with the baseline; `orgkernel agent results {agent_id}` shows both",
                    f"agent:{agent_id}",
                    (Related(test.place(), f"the test {quote(name)}"),),
                )


RULE = Rule("ORG611", "drifting-test", Severity.WARNING, RuleTarget.STATE, check)
