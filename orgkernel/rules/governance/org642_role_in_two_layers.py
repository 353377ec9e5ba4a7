"""A role is in more than one layer.

## What it checks

No role is listed in two layers of the governance document, and no profile or override names another layer than the
document that lists the role.

## Why it matters

Edges lead from layer to layer. If a role is in two layers, the order of the document would determine which edges
apply to it.

## Example

```yaml
layers:
  top: {roles: [co]}
  low: {roles: [co, dev]}
```

## Instead

```yaml
layers:
  top: {roles: [co]}
  low: {roles: [dev]}
```

## Known limits

The first layer that lists the role is used.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find roles in a second layer."""
    records = view.records
    governance, document = read_governance(records.governance), records.governance
    if governance is None or document is None:
        return
    first: dict[str, tuple[str, Place]] = {}
    for layer_id, layer in governance.layers.items():
        for number, role_id in enumerate(layer.roles):
            place = document.place("layers", layer_id, "roles", number)
            if role_id in first:
                yield _build_finding(role_id, layer_id, place, *first[role_id])
            else:
                first[role_id] = layer_id, place
    for role_id, (layer_id, place) in first.items():
        post = records.posts.get(role_id)
        if post is None:
            continue
        override = records.organization.overrides.get(role_id)
        if override is not None and override.layer not in (None, layer_id):
            here = records.document.place("overrides", role_id, "layer")
            yield _build_finding(role_id, str(override.layer), here, layer_id, place)
        elif (own := post.written_layer) not in (None, layer_id):
            yield _build_finding(role_id, str(own), post.document.place("layer"), layer_id, place)


def _build_finding(role_id: str, layer: str, place: Place, other: str, first: Place) -> Finding:
    return Finding(
        place,
        f"role {quote(role_id)} is in layer {quote(layer)} and in layer {quote(other)}",
        f"leave it in one of them; layer {quote(other)} is used",
        f"role:{role_id}",
        (Related(first, f"in layer {quote(other)}"),),
    )


RULE = Rule("ORG642", "role-in-two-layers", Severity.ERROR, RuleTarget.ORGANIZATION, check)
