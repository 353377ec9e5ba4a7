"""Skills presuppose each other in a cycle.

## What it checks

Following `prerequisites` from any skill never leads back to that skill.

## Why it matters

An agent can learn a skill once it has the prerequisites. In a cycle each skill waits for another, so no agent can ever
learn any of them or fill a role that requires one.

## Example

```yaml
skills:
  reading: {prerequisites: [writing]}
  writing: {prerequisites: [reading]}
```

## Instead

```yaml
skills:
  reading: {}
  writing: {prerequisites: [reading]}
```

## Known limits

Cycles that share a skill make one finding, which names the shortest of them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.cycles import report_cycles
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find cycles of prerequisites."""
    remedy = "remove the prerequisites of the skill that is learned first"
    yield from report_cycles(view, EdgeKind.PRESUPPOSES, remedy)


RULE = Rule("ORG314", "prerequisite-cycle", Severity.ERROR, RuleTarget.CATALOG, check)
