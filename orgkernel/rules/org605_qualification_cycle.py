"""Qualifications build on one another in a circle.

## What it checks

Going from a qualification to its `prerequisites`, and on from there, never leads back.

## Why it matters

A test can be taken once those it builds on are passed. In a circle each of them waits for another, so nobody can ever
pass any of them, nor use a tool that needs one.

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

Circles that share a qualification are one finding, which names the shortest of them.

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
    """Qualifications that build on themselves."""
    remedy = "take the prerequisites out of the qualification that is passed first"
    yield from circles(view, EdgeKind.BUILDS_ON, remedy)


RULE = Rule("ORG605", "qualification-cycle", Severity.ERROR, Scope.CATALOG, check)
