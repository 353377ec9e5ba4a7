"""A role reports less often than it may go without progress.

## What it checks

`doctrine.salute_interval_turns` is at most `doctrine.max_turns_without_progress`.

## Why it matters

The reports of a role are how its superior sees that it is stuck. If the limit passes between two reports, the role is
given up before anybody has read that it stood still.

## Example

```yaml
doctrine:
  salute_interval_turns: 20
  max_turns_without_progress: 12
```

## Instead

```yaml
doctrine:
  salute_interval_turns: 5
  max_turns_without_progress: 12
```

## Known limits

A report is also made on every change of state or tier, so a role whose tiers trip early is seen in any case.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, Scope

_INTERVAL, _LIMIT = "salute_interval_turns", "max_turns_without_progress"


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """An interval longer than the limit."""
    for post in posts:
        doctrine = post.profile.doctrine
        interval, limit = doctrine.salute_interval_turns, doctrine.max_turns_without_progress
        if interval <= limit:
            continue
        written = _INTERVAL if post.has("doctrine", _INTERVAL) else _LIMIT
        yield Finding(
            post.place("doctrine", written),
            f"role {quote(post.role_id)} reports every {interval} turns and may go only {limit} without progress",
            f"write a `{_INTERVAL}` of at most {limit}",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG507", "interval-exceeds-limit", Severity.WARNING, Scope.PROFILE, check)
