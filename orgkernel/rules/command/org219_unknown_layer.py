"""A role or a hand-off edge names a layer that the organization does not have.

## What it checks

The `layer` of every role, and both ends of every entry of `dispatch_edges`, are among the organization's `layers`. The
layer of a role may be written in the profile or under the organization's `overrides`.

## Why it matters

Layers decide who may hand work to whom. No edge leads to or from a misspelled layer, so its roles are cut off.

## Example

```yaml
layers: [command, craft]
dispatch_edges:
  - from: command
    to: crafts
```

## Instead

```yaml
layers: [command, craft]
dispatch_edges:
  - from: command
    to: craft
```

## Known limits

If an organization declares neither layers nor edges, its profiles may name any layer. An organization with edges but
without layers is reported once.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Layers that the organization does not declare."""
    records, subject = view.records, f"organization:{view.org_id}"
    organization = records.organization
    layers, edges, here = (
        organization.layers,
        organization.dispatch_edges,
        f"organization {quote(view.org_id)}",
    )
    if not layers:
        if edges:
            place = records.edges_place
            message = f"{here} has `dispatch_edges` but no `layers`"
            yield Finding(place, message, "list the layers under `layers`, highest first", subject)
        return
    for number, edge in enumerate(edges):
        for field, layer in (("from", edge.source), ("to", edge.target)):
            if layer not in layers:
                place = records.get_declaring_document("dispatch_edges").place(
                    "dispatch_edges", number, field
                )
                message = f"a hand-off edge names layer {quote(layer)}, which {here} does not have"
                yield Finding(
                    place, message, did_you_mean(layer, layers) or "declare it under `layers`", subject
                )
    for post in view.records.posts.values():
        own_layer = post.profile.layer
        if own_layer is not None and own_layer not in layers:
            yield Finding(
                post.place("layer"),
                f"role {quote(post.role_id)} is in layer {quote(own_layer)}, which {here} does not have",
                did_you_mean(own_layer, layers)
                or "declare it under `layers`, or set another one for the role under `overrides`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG219", "unknown-layer", Severity.ERROR, RuleTarget.ORGANIZATION, check)
