"""Domains are broader than one another in a circle.

## What it checks

Going from a domain to the one that is `broader` than it, and on from there, never leads back.

## Why it matters

A broader domain covers the work of the narrower one when nobody handles that. In a circle every domain would be broader
than itself, and which role covers which domain depends on where the question starts.

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
from orgkernel.rules.cycles import circles
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Domains narrower than themselves."""
    yield from circles(view, EdgeKind.NARROWER_THAN, "take `broader` out of the widest of these domains")


RULE = Rule("ORG312", "broader-cycle", Severity.ERROR, Scope.CATALOG, check)
