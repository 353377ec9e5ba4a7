"""A policy allows a role or an agent something.

## What it checks

A policy whose `match` names a `role` or an `agent` caps (`ceiling: true`), asks, denies or annotates, and does not
allow.

## Why it matters

Roles and agents get what they may use from the role's profile and from grants, which `manifest` and `diff` show. A
policy that gives them more would be a second source nobody looks at, so it gives nothing.

## Example

```yaml
codegen-may-deploy:
  effect: allow
  match: {principal: {role: codegen}}
  permissions: {tools: [deploy]}
```

## Instead

```yaml
codegen-may-deploy:
  effect: allow
  ceiling: true
  match: {principal: {role: codegen}}
  permissions: {tools: [deploy]}
```

## Known limits

A policy without a principal matches roles too, and gives them nothing; that is not reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Policies that give to roles and agents."""
    for policy in view.records.policies.values():
        principal = policy.record.match.principal
        if policy.record.effect != "allow" or policy.record.ceiling or principal is None:
            continue
        for name, word in (("role", principal.role), ("agent", principal.agent)):
            if word is not None:
                whom = f"every {name}" if word == "*" else f"{name} {quote(word)}"
                yield Finding(
                    policy.place("match", "principal", name),
                    f"policy {quote(policy.id)} allows {whom} something, which only a profile or a grant can",
                    "equip the role with the tools, or make it `ceiling: true`, `ask` or `deny`",
                    f"policy:{policy.id}",
                )


RULE = Rule("ORG414", "policy-allows-role", Severity.ERROR, Scope.CATALOG, check)
