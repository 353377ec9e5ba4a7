"""A hand-off edge leads from a layer whose roles are all workers.

## What it checks

At least one role of the layer that an edge leads from has a `position` other than `worker`.

## Why it matters

A worker never hands work down, so no role can use the edge.

## Example

```yaml
dispatch_edges:
  - {from: low, to: top}
```

## Instead

```yaml
dispatch_edges:
  - {from: top, to: low}
```

## Known limits

ORG645 does not check a layer without roles; ORG644 reports it unless it is optional.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Edges that only workers could use."""
    records = view.records
    document = records.governance
    if document is None or not document.has("dispatch_edges"):
        return
    for number, edge in enumerate(records.organization.dispatch_edges):
        roles = [each.profile for each in records.posts.values() if each.profile.layer == edge.source]
        if roles and all(each.position == "worker" for each in roles):
            yield Finding(
                document.place("dispatch_edges", number, "from"),
                f"a hand-off edge leads from layer {quote(edge.source)}, in which every role is a worker",
                "remove the edge, or give a role of the layer another `position`",
                f"organization:{view.org_id}",
            )


RULE = Rule("ORG645", "worker-layer-hands-off", Severity.ERROR, RuleTarget.ORGANIZATION, check)
