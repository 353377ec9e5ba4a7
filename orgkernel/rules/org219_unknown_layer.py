"""A role or a dispatch edge names a layer that the organization does not have.

## What it checks

The `layer` of a role, in its profile or among the organization's `overrides`, and both ends of every entry of
`dispatch_edges` are among the organization's `layers`.

## Why it matters

Layers decide who may hand work to whom. A misspelled one cuts its roles off: no edge leads to them and none away.

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

An organization that declares neither layers nor edges leaves layers to its profiles. One with edges and no layers at
all is reported once.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Layers that nothing declares."""
    organization, document, subject = (
        view.records.organization,
        view.records.document,
        f"organization:{view.org_id}",
    )
    layers, edges, here = (
        organization.layers,
        organization.dispatch_edges,
        f"organization {quote(view.org_id)}",
    )
    if not layers:
        if edges:
            place = document.place("dispatch_edges", key=True)
            message = f"{here} has `dispatch_edges` and no `layers`"
            yield Finding(place, message, "list the layers under `layers`, uppermost first", subject)
        return
    for number, edge in enumerate(edges):
        for field, layer in (("from", edge.source), ("to", edge.target)):
            if layer not in layers:
                place = document.place("dispatch_edges", number, field)
                message = f"dispatch edge names layer {quote(layer)}, which {here} does not have"
                yield Finding(
                    place, message, did_you_mean(layer, layers) or "declare it under `layers`", subject
                )
    for post in view.records.posts.values():
        own_layer = post.profile.layer
        if own_layer is not None and own_layer not in layers:
            yield Finding(
                post.place("layer"),
                f"role {quote(post.role_id)} stands in layer {quote(own_layer)}, which {here} does not have",
                did_you_mean(own_layer, layers)
                or "declare it under `layers`, or give the role another one under `overrides`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG219", "unknown-layer", Severity.ERROR, Scope.ORGANIZATION, check)
