"""A policy allows something to a role or an agent.

## What it checks

A policy whose `match` names a `role` or an `agent` caps (`ceiling: true`), asks, denies or annotates. It does not allow.

## Why it matters

Roles and agents get their permissions from profiles and grants, which `manifest` and `diff` show. A policy that
allowed something in addition would be a second source, which reviewers overlook. A policy that allows something to a
role or an agent therefore has no effect.

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

A policy without a principal also matches roles but grants them nothing. That is not reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Policies that allow something to roles and agents."""
    for policy in view.records.policies.values():
        principal = policy.record.match.principal
        if policy.record.effect != "allow" or policy.record.ceiling or principal is None:
            continue
        for name, word in (("role", principal.role), ("agent", principal.agent)):
            if word is not None:
                whom = f"every {name}" if word == "*" else f"{name} {quote(word)}"
                yield Finding(
                    policy.place("match", "principal", name),
                    f"policy {quote(policy.id)} allows something to {whom}, which only a profile or a grant can do",
                    "equip the role with the tools, or change the policy to `ceiling: true`, `ask` or `deny`",
                    f"policy:{policy.id}",
                )


RULE = Rule("ORG414", "policy-allows-role", Severity.ERROR, RuleTarget.CATALOG, check)
