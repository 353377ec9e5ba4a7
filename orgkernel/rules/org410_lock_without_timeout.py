"""An exclusive tool is never taken back from its holder.

## What it checks

A tool with `concurrency: exclusive` has a `lock_timeout_seconds`.

## Why it matters

One agent holds the tool at a time. If that agent dies or forgets, nobody else gets it until somebody breaks the lock
by hand.

## Example

```yaml
printer: {type: infra_service, concurrency: exclusive}
```

## Instead

```yaml
printer: {type: infra_service, concurrency: exclusive, lock_timeout_seconds: 600}
```

## Known limits

How long the timeout should be is not known here.

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
    """Exclusive tools whose lock never ends."""
    for tool in view.records.tools.values():
        if tool.record.concurrency == "exclusive" and tool.record.lock_timeout_seconds is None:
            yield Finding(
                tool.place("concurrency"),
                f"tool {quote(tool.id)} is exclusive and has no `lock_timeout_seconds`",
                "say after how many seconds it is taken back",
                f"tool:{tool.id}",
            )


RULE = Rule("ORG410", "lock-without-timeout", Severity.WARNING, Scope.CATALOG, check)
