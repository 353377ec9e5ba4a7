"""Tools fall back to one another in a circle.

## What it checks

Going from a tool to those it falls back to, and on from there, never leads back.

## Why it matters

A role that has lost all the tools of a circle goes round in it: each failure sends it to a tool that has already
failed, and turns are spent that should have gone into an escalation.

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

Circles that share a tool are one finding, which names the shortest of them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.cycles import circles
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Tools that stand in for themselves."""
    remedy = "let the last resort among these tools fall back to none of them"
    yield from circles(view, EdgeKind.FALLS_BACK_TO, remedy)


RULE = Rule("ORG313", "fallback-cycle", Severity.ERROR, Scope.CATALOG, check)
