"""A role hands work to a layer that its own layer may not hand work to.

## What it checks

If the organization has `layers`, a role hands work only within its own layer or along one of the `dispatch_edges`. If
no edges are declared, it hands work only to the next layer below. A role hands work to its subordinates and to the
roles in `handoff.may_to` of its profile.

## Why it matters

Both sides refuse the hand-off. A skipped layer plans, checks or reports, and its part of the work is not done.

## Example

```yaml
role_id: intake
layer: L3
handoff: {may_to: [worker]}
```

## Instead

```yaml
role_id: intake
layer: L3
handoff: {may_to: [planner]}
```

## Known limits

Roles without a layer are not checked, and neither is work that stays within one layer.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Organization
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Hand-offs that no hand-off edge allows."""
    organization, posts = view.records.organization, view.records.posts
    layer_of = {
        post.role_id: post.profile.layer for post in view.posts if post.profile.layer in organization.layers
    }
    for role_id, own in layer_of.items():
        for receiver, place in _iterate_receivers(view, posts[role_id]):
            layer = layer_of.get(receiver)
            if layer is not None and not _may(organization, str(own), layer):
                yield Finding(
                    place,
                    f"role {quote(role_id)} of layer {quote(own)} hands work to {quote(receiver)} "
                    f"of layer {quote(layer)}, which no hand-off edge allows",
                    "hand the work to a role of a layer in between, or declare the edge under `dispatch_edges`",
                    f"role:{role_id}",
                )


def _iterate_receivers(view: OrgView, post: RolePost) -> Iterator[tuple[str, Place]]:
    receivers = {
        edge.target: edge.place for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, post.role_id)
    }
    if post.profile.can_delegate:
        for edge in view.list_subordinates(post.role_id):
            receivers.setdefault(edge.source, edge.place)
    yield from receivers.items()


def _may(organization: Organization, source: str, target: str) -> bool:
    if source == target:
        return True
    if organization.dispatch_edges:
        return any((edge.source, edge.target) == (source, target) for edge in organization.dispatch_edges)
    layers = organization.layers
    return layers.index(target) == layers.index(source) + 1


RULE = Rule("ORG420", "handoff-skips-layer", Severity.ERROR, RuleTarget.ORGANIZATION, check)
