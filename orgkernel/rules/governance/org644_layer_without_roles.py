"""A layer that is not optional has no role.

## What it checks

Every layer of the governance document that is not `optional` has at least one role of the organization.

## Why it matters

Work that passes through the layer ends there. An optional layer may be left out on purpose.

## Example

```yaml
layers:
  top: {roles: [co]}
  low: {}
```

## Instead

```yaml
layers:
  top: {roles: [co]}
  low: {optional: true}
```

## Known limits

Whether edges lead past an optional layer is not checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find layers without roles."""
    records = view.records
    governance, document = read_governance(records.governance), records.governance
    if governance is None or document is None:
        return
    manned = {post.profile.layer for post in records.posts.values()}
    for layer_id, layer in governance.layers.items():
        missing = records.excused.union(records.without_profile).intersection(layer.roles)
        if layer_id not in manned and not layer.optional and not missing:
            yield Finding(
                document.place("layers", layer_id, key=True),
                f"layer {quote(layer_id)} has no role",
                "list a role in it, or set `optional: true`",
                f"organization:{view.org_id}",
            )


RULE = Rule("ORG644", "layer-without-roles", Severity.WARNING, RuleTarget.ORGANIZATION, check)
