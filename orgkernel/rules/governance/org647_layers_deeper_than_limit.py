"""A path through the hand-off layers is longer than the limit on nested hand-offs.

## What it checks

The longest path along the edges of the governance document, from a layer that no edge leads to, has no more edges
than `max_spawn_depth`.

## Why it matters

At the limit no role hands work down, so work that follows this path never reaches the last layer.

## Example

```yaml
limits: {max_spawn_depth: 1}
```

## Instead

```yaml
limits: {max_spawn_depth: 2}
```

## Known limits

If the edges form a cycle, nothing is reported, because then no longest path exists.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Report the longest path if it exceeds the limit."""
    records = view.records
    if records.governance is None or not records.organization.dispatch_edges:
        return
    before: dict[str, set[str]] = {}
    for edge in records.organization.dispatch_edges:
        before.setdefault(edge.source, set())
        before.setdefault(edge.target, set()).add(edge.source)
    try:
        way = _find_longest_way(before)
    except CycleError:
        return
    limit = records.organization.limits.max_spawn_depth
    if len(way) - 1 > limit:
        document = records.get_declaring_document("limits", "max_spawn_depth")
        is_written = document.has("limits", "max_spawn_depth")
        place = document.place("limits", "max_spawn_depth") if is_written else records.edges_place
        yield Finding(
            place,
            f"the path {quote(' > '.join(way))} takes {len(way) - 1} hand-offs, and `max_spawn_depth` is {limit}",
            f"set `limits.max_spawn_depth` to {len(way) - 1}, or shorten the path",
            f"organization:{view.org_id}",
        )


def _find_longest_way(before: Mapping[str, set[str]]) -> tuple[str, ...]:
    """The longest path. Raises `CycleError` if the edges form a cycle."""
    longest: dict[str, tuple[str, ...]] = {}
    for layer in TopologicalSorter(before).static_order():
        ways = [longest[each] for each in sorted(before[layer])]
        longest[layer] = (*max(ways, key=len, default=()), layer)
    return max(longest.values(), key=len, default=())


RULE = Rule("ORG647", "layers-deeper-than-limit", Severity.WARNING, RuleTarget.ORGANIZATION, check)
