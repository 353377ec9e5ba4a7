"""Qualifications build on each other in a cycle.

## What it checks

Following `prerequisites` from any qualification never leads back to that qualification.

## Why it matters

An agent can take a test once it has passed the prerequisites. In a cycle each test waits for another, so no agent can ever
pass any of them or use a tool that needs one.

## Example

```yaml
qualifications:
  diving: {prerequisites: [rescue]}
  rescue: {prerequisites: [diving]}
```

## Instead

```yaml
qualifications:
  diving: {}
  rescue: {prerequisites: [diving]}
```

## Known limits

Cycles that share a qualification make one finding, which names the shortest of them.

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
    """Qualifications that build on themselves."""
    remedy = "remove the prerequisites of the qualification that is passed first"
    yield from report_cycles(view, EdgeKind.BUILDS_ON, remedy)


RULE = Rule("ORG605", "qualification-cycle", Severity.ERROR, RuleTarget.CATALOG, check)
