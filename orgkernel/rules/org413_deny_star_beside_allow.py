"""A policy allows tools and denies every tool.

## What it checks

A policy that is no `ceiling` does not list `*` under `deny` beside an `allow` list.

## Why it matters

A denial is final, so the star would take back all that the list allows. It is read as what is nearly always meant:
nothing but the list is allowed, by this policy or any other. `ceiling` says that where a reader looks for it.

## Example

```yaml
effect: allow
permissions:
  tools: {allow: [web_search, weather], deny: ["*"]}
```

## Instead

```yaml
effect: allow
ceiling: true
permissions:
  tools: {allow: [web_search, weather], deny: ["*"]}
```

## Known limits

A `deny` list that names every tool one by one is not recognized.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.records.access_policies import STAR, ToolRules
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Allow lists that their own policy denies."""
    for policy in view.records.policies.values():
        tools = policy.record.permissions.tools
        if isinstance(tools, ToolRules) and tools.allow and STAR in tools.deny and not policy.record.ceiling:
            yield Finding(
                policy.place("permissions", "tools", "deny", tools.deny.index(STAR)),
                f"policy {quote(policy.id)} denies every tool beside those it allows, which is read as `ceiling: true`",
                "write `ceiling: true` if that is meant, or remove the star",
                f"policy:{policy.id}",
            )


RULE = Rule("ORG413", "deny-star-beside-allow", Severity.WARNING, Scope.CATALOG, check)
