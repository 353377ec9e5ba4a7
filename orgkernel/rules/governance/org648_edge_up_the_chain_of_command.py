"""A hand-off edge leads from subordinates to their superiors.

## What it checks

No edge of the governance document leads from the layer of a role to the layer of a role that commands it.

## Why it matters

Work goes down the chain of command and reports go up. A subordinate reaches a superior by escalating.

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

An edge within one layer is not checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Edges against the chain of command."""
    records = view.records
    document = records.governance
    if document is None or not document.has("dispatch_edges"):
        return
    layers = {post.role_id: post.profile.layer for post in records.posts.values()}
    for number, edge in enumerate(records.organization.dispatch_edges):
        if edge.source == edge.target:
            continue
        for role_id in (each for each, layer in layers.items() if layer == edge.source):
            above = next(
                (each for each in view.list_chain_above(role_id) if layers.get(each.target) == edge.target),
                None,
            )
            if above is not None:
                yield Finding(
                    document.place("dispatch_edges", number),
                    f"a hand-off edge leads from layer {quote(edge.source)} to layer {quote(edge.target)}, "
                    f"whose role {quote(above.target)} commands {quote(role_id)}",
                    "remove the edge; a role reaches its superiors by escalating",
                    f"organization:{view.org_id}",
                    (Related(above.place, str(above)),),
                )
                break


RULE = Rule("ORG648", "edge-up-the-chain-of-command", Severity.ERROR, RuleTarget.ORGANIZATION, check)
