"""A role is in none of the layers that the governance document declares.

## What it checks

If the governance document has `layers`, each role of the organization is in one of them: it is listed there, or its profile
names its layer.

## Why it matters

Edges lead from layer to layer, so the role can neither hand work down nor get work.

## Example

```yaml
layers:
  top: {roles: [co]}
```

## Instead

```yaml
layers:
  top: {roles: [co, dev]}
```

## Known limits

Roles without a profile are not checked.

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
    """Find roles without a layer."""
    records = view.records
    governance = read_governance(records.governance)
    if governance is None or not governance.layers:
        return
    for post in records.posts.values():
        if post.profile.layer is None:
            yield Finding(
                view.get_place(post.role_id),
                f"role {quote(post.role_id)} is not in any layer, so no role can hand work to it",
                "list it under `layers` of the governance document",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG643", "role-without-layer", Severity.WARNING, RuleTarget.ORGANIZATION, check)
