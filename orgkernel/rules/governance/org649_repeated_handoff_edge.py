"""Two hand-off edges connect the same layers.

## What it checks

No two edges of the governance document have the same `from` and the same `to`.

## Why it matters

Only the first one is used. The requirements of the second one are never enforced.

## Example

```yaml
dispatch_edges:
  - {from: top, to: low}
  - {from: top, to: low, requires: [brief]}
```

## Instead

```yaml
dispatch_edges:
  - {from: top, to: low, requires: [brief]}
```

## Known limits

None.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Edges that an earlier one hides."""
    governance, document = read_governance(view.records.governance), view.records.governance
    if governance is None or document is None:
        return
    first: dict[tuple[str, str], int] = {}
    for number, edge in enumerate(governance.dispatch_edges):
        earlier = first.setdefault((edge.source, edge.target), number)
        if earlier != number:
            yield Finding(
                document.place("dispatch_edges", number),
                f"a second hand-off edge leads from layer {quote(edge.source)} to layer {quote(edge.target)}",
                "add the requirements of this edge to the first one, and remove this edge",
                f"organization:{view.org_id}",
                (Related(document.place("dispatch_edges", earlier), "the first edge"),),
            )


RULE = Rule("ORG649", "repeated-handoff-edge", Severity.ERROR, RuleTarget.ORGANIZATION, check)
