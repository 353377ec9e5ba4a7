"""Two roles tie for a domain, and only the order of the hierarchy decides between them.

## What it checks

For every domain that roles handle, the first and the second candidate of dispatch differ in at least one of these: the
role type, the place in the organization's `domain_routing`, or the number of domains they handle.

## Why it matters

Sorting the hierarchy differently moves the work to another role. Authors do not expect that, and reviews do not notice it.

## Example

```yaml
hierarchy:
  codegen: {}
  frontend: {}
```

## Instead

```yaml
hierarchy:
  codegen: {}
  frontend: {}
domain_routing:
  codegen: [codegen, frontend]
```

## Known limits

Two roles that tie for several domains make one finding. If more than two roles tie for a domain, the first two are named.
A domain that is covered only by a broader domain is not reported again.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.dispatch.order import find_tied, get_handling_edge, rank_handlers
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find pairs of roles that differ only in their order, with the domains for which they tie."""
    ties: dict[tuple[str, str], list[tuple[Edge, Edge]]] = {}
    for _, ranked in rank_handlers(view):
        tied = find_tied(ranked)[:2]
        if len(tied) == 2:
            chosen, other = (get_handling_edge(view, each) for each in tied)
            ties.setdefault((chosen.source, other.source), []).append((chosen, other))
    for (first, second), edges in ties.items():
        chosen, other = edges[0]
        order = f"{chosen.target}: [{first}, {second}]"
        related = Related(
            chosen.place, f"role {quote(first)} also handles {quote(chosen.target)} and is listed first"
        )
        yield Finding(
            other.place,
            f"role {quote(second)} ties with {quote(first)} for {listing(edge.target for edge, _ in edges)}, "
            "so only the order of the hierarchy decides",
            f"write the order you want under `domain_routing`, such as {quote(order)}",
            f"role:{second}",
            (related,),
        )


RULE = Rule("ORG306", "ambiguous-domain", Severity.WARNING, RuleTarget.ORGANIZATION, check)
