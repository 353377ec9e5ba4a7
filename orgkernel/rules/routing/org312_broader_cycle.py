"""Domains are broader than each other in a cycle.

## What it checks

Following `broader` from any domain never leads back to that domain.

## Why it matters

If no role handles a domain, its tasks go to a role that handles a broader domain. In a cycle, every domain would be
broader than itself. Which role gets a task would then depend on where the search starts.

## Example

```yaml
domains:
  frontend: {broader: web}
  web: {broader: frontend}
```

## Instead

```yaml
domains:
  frontend: {broader: web}
  web: {}
```

## Known limits

None.

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
    """Find cycles of broader domains."""
    yield from report_cycles(
        view, EdgeKind.NARROWER_THAN, "remove `broader` from the broadest of these domains"
    )


RULE = Rule("ORG312", "broader-cycle", Severity.ERROR, RuleTarget.CATALOG, check)
