"""The lock of an exclusive tool never expires.

## What it checks

A tool with `concurrency: exclusive` has a `lock_timeout_seconds`.

## Why it matters

Only one agent can lock the tool at a time. If that agent dies or forgets to release it, no other agent can use the
tool until an operator breaks the lock.

## Example

```yaml
printer: {type: infra_service, concurrency: exclusive}
```

## Instead

```yaml
printer: {type: infra_service, concurrency: exclusive, lock_timeout_seconds: 600}
```

## Known limits

The rule cannot tell how long the timeout should be.

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
    """Exclusive tools whose lock never expires."""
    for tool in view.records.tools.values():
        if tool.record.concurrency == "exclusive" and tool.record.lock_timeout_seconds is None:
            yield Finding(
                tool.place("concurrency"),
                f"tool {quote(tool.id)} is exclusive but has no `lock_timeout_seconds`",
                "add `lock_timeout_seconds`, the number of seconds after which the lock expires",
                f"tool:{tool.id}",
            )


RULE = Rule("ORG410", "lock-without-timeout", Severity.WARNING, RuleTarget.CATALOG, check)
