"""A policy allows some tools and denies every tool.

## What it checks

An `allow` policy without `ceiling: true` does not list `*` under `deny` next to an `allow` list.

## Why it matters

A denial is final, so the star would revoke everything that the list allows. orgkernel reads it as what authors nearly
always mean: only the list is allowed, by this policy or any other. `ceiling: true` says so explicitly.

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

The rule does not recognize a `deny` list that names every tool one by one.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import STAR, ToolRules
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Allow lists that their own policy denies."""
    for policy in view.records.policies.values():
        tools = policy.record.permissions.tools
        if isinstance(tools, ToolRules) and policy.record.is_ceiling and not policy.record.ceiling:
            yield Finding(
                policy.place("permissions", "tools", "deny", tools.deny.index(STAR)),
                f"policy {quote(policy.id)} allows some tools and denies every tool, which is read as `ceiling: true`",
                "write `ceiling: true` if you mean that, or remove the star",
                f"policy:{policy.id}",
            )


RULE = Rule("ORG413", "deny-star-beside-allow", Severity.WARNING, RuleTarget.CATALOG, check)
