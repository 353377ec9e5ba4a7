"""A policy allows tools and denies every tool.

## What it checks

A policy that is no `ceiling` does not list `*` under `deny` beside an `allow` list.

## Why it matters

A denial is final. The policy takes back all it allows, and takes away what every other policy gives. What is nearly
always meant is that nothing but the list is allowed, and that is what `ceiling` says.

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

A `deny` list that names every tool one by one is not recognised.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.model.access_policies import STAR, ToolRules
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Allow lists that their own policy denies."""
    for policy in view.records.policies.values():
        tools = policy.record.permissions.tools
        if isinstance(tools, ToolRules) and tools.allow and STAR in tools.deny and not policy.record.ceiling:
            yield Finding(
                policy.place("permissions", "tools", "deny", tools.deny.index(STAR)),
                f"policy {quote(policy.id)} denies every tool beside those it allows",
                "write `ceiling: true` if the list is all that may be allowed, or remove the star",
                f"policy:{policy.id}",
            )


RULE = Rule("ORG413", "deny-star-beside-allow", Severity.ERROR, Scope.CATALOGUE, check)
