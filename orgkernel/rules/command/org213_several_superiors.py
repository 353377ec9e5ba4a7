"""A role is listed under several superiors.

## What it checks

The hierarchy lists every role among the subordinates of at most one role.

## Why it matters

Two superiors give conflicting orders. Only the first one listed is used, so the other one commands a role that does
not report to it.

## Example

```yaml
hierarchy:
  engineering_xo:
    subordinates: [codegen, analyst]
  research_xo:
    subordinates: [analyst]
```

## Instead

```yaml
hierarchy:
  engineering_xo:
    subordinates: [codegen]
  research_xo:
    subordinates: [analyst]
```

## Known limits

ORG206 compares a superior that only the profile names with the hierarchy.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Find roles with more than one superior."""
    if len(view.list_ends_of_kind(EdgeKind.REPORTS_TO)) == len(view.superiors):
        return
    for role_id in (*view.roles, *view.records.without_profile):
        edges = view.list_edges_from(EdgeKind.REPORTS_TO, role_id)
        if len(edges) < 2:
            continue
        superiors = {edge.target: edge for edge in reversed(edges)}
        first, *others = sorted(superiors.values(), key=edges.index)
        if others:
            yield Finding(
                others[0].place,
                f"role {quote(role_id)} has {len(superiors)} superiors: {listing(edge.target for edge in (first, *others))}",
                "keep one, and let the others reach the role through `communication_channels`; only the first one is used",
                f"role:{role_id}",
                tuple(
                    Related(edge.place, f"listed under {quote(edge.target)}")
                    for edge in (first, *others[1:])[:_SHOWN]
                ),
            )


RULE = Rule("ORG213", "several-superiors", Severity.ERROR, RuleTarget.ORGANIZATION, check)
