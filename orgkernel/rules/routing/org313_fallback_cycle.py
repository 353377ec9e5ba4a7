"""Tools fall back to each other in a cycle.

## What it checks

Following `falls_back_to` from any tool never leads back to that tool.

## Why it matters

When all the tools of a cycle fail, the role goes around in it. Each failure sends it to a tool that has already failed,
and it spends turns that should have gone into an escalation.

## Example

```yaml
tools:
  grep: {type: utility_agent, falls_back_to: [find]}
  find: {type: utility_agent, falls_back_to: [grep]}
```

## Instead

```yaml
tools:
  grep: {type: utility_agent, falls_back_to: [find]}
  find: {type: utility_agent}
```

## Known limits

Cycles that share a tool make one finding, which names the shortest of them.

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
    """Find cycles of fallback tools."""
    remedy = "remove the other tools of the cycle from `falls_back_to` of the one to try last"
    yield from report_cycles(view, EdgeKind.FALLS_BACK_TO, remedy)


RULE = Rule("ORG313", "fallback-cycle", Severity.ERROR, RuleTarget.CATALOG, check)
