"""Skills presuppose one another in a circle.

## What it checks

Going from a skill to its `prerequisites`, and on from there, never leads back.

## Why it matters

A skill can be acquired once its prerequisites are held. In a circle each of them waits for another, so nobody can ever
acquire any of them, nor fill a role that requires one.

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

Circles that share a skill are one finding, which names the shortest of them.

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
    """Skills that presuppose themselves."""
    remedy = "take the prerequisites out of the skill that is learnt first"
    yield from circles(view, EdgeKind.PRESUPPOSES, remedy)


RULE = Rule("ORG314", "prerequisite-cycle", Severity.ERROR, Scope.CATALOG, check)
