"""No role can use a hand-off edge, because none has a right over a role that it leads to.

## What it checks

For every edge of the governance document, a role of the first layer commands a role of the second one and may delegate, or
has a declared right to hand work to it (`handoff.may_to`, `handoff.may_from`).

## Why it matters

An edge only permits a path between layers. Every dispatch along it is still refused, unless a role has the right to
dispatch the receiver.

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

Edges from or to a layer without roles, or with a role whose file cannot be read, are not checked. Neither are edges from
a layer of workers, which ORG645 reports.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find edges that no role has a right to use."""
    records = view.records
    document = records.governance
    if document is None or not document.has("dispatch_edges") or records.without_profile or records.excused:
        return
    for number, edge in enumerate(records.organization.dispatch_edges):
        sources, targets = _list_roles(view, edge.source), _list_roles(view, edge.target)
        able = [each for each in sources if records.posts[each].profile.position != "worker"]
        if able and targets and not any(_has_right(view, one, other) for one in able for other in targets):
            yield Finding(
                document.place("dispatch_edges", number),
                f"no role of layer {quote(edge.source)} has a right to hand work to a role of layer {quote(edge.target)}",
                "add the receiver to `handoff.may_to` of a sender, or remove the edge",
                f"organization:{view.org_id}",
            )


def _list_roles(view: OrgView, layer: str) -> list[str]:
    return [post.role_id for post in view.records.posts.values() if post.profile.layer == layer]


def _has_right(view: OrgView, sender: str, receiver: str) -> bool:
    if any(edge.target == receiver for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, sender)):
        return True
    commands = any(edge.target == sender for edge in view.list_chain_above(receiver)) and sender != receiver
    return commands and view.records.posts[sender].profile.can_delegate


RULE = Rule("ORG646", "edge-without-right", Severity.WARNING, RuleTarget.ORGANIZATION, check)
