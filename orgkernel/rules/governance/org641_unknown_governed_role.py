"""A governance document names a role that the organization does not have.

## What it checks

Every role under `layers` and under `claims.without_handoff` of the governance document is a role of the organization.

## Why it matters

The layer has fewer roles than the document lists. The intended role is not in any layer, so it cannot be handed work.
If the name is under `claims.without_handoff`, the intended role cannot claim files.

## Example

```yaml
layers:
  crew: {roles: [co, co_2]}
```

## Instead

```yaml
layers:
  crew: {roles: [co]}
```

## Known limits

A role that appears to be declared in a file that cannot be read is not reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find roles that do not exist in the organization."""
    records = view.records
    governance, document = read_governance(records.governance), records.governance
    if governance is None or document is None:
        return
    named: list[tuple[str, tuple[str | int, ...], tuple[str, ...]]] = [
        (f"layer {quote(layer_id)}", ("layers", layer_id, "roles"), layer.roles)
        for layer_id, layer in governance.layers.items()
    ]
    named.append(("`without_handoff`", ("claims", "without_handoff"), governance.claims.without_handoff))
    for what, route, roles in named:
        for number, role_id in enumerate(roles):
            known = role_id in records.posts or role_id in records.without_profile
            if not known and role_id not in records.excused:
                yield Finding(
                    document.place(*route, number),
                    f"{what} lists role {quote(role_id)}, which organization {quote(view.org_id)} does not have",
                    did_you_mean(role_id, records.posts)
                    or "list the role under `hierarchy`, or remove it here",
                    f"organization:{view.org_id}",
                )


RULE = Rule("ORG641", "unknown-governed-role", Severity.ERROR, RuleTarget.ORGANIZATION, check)
