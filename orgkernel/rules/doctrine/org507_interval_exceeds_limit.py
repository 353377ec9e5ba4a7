"""A role's report interval is longer than the time it may go without progress.

## What it checks

`doctrine.salute_interval_turns` is at most `doctrine.max_turns_without_progress`. A PACE tier is one of the fallback
levels of a role: primary, alternate, contingent, emergency.

## Why it matters

A superior sees from the reports of a role that the role is stuck. If the limit is reached between two reports, the role
gives up before its superior has read that it makes no progress.

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

A role also reports on every change of state or tier, so if its PACE tiers are entered early, its superior learns of
that in time anyway.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_INTERVAL, _LIMIT = "salute_interval_turns", "max_turns_without_progress"


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Report intervals longer than the limit."""
    for post in posts:
        doctrine = post.profile.doctrine
        interval, limit = doctrine.salute_interval_turns, doctrine.max_turns_without_progress
        if interval <= limit:
            continue
        written = _INTERVAL if post.has("doctrine", _INTERVAL) else _LIMIT
        yield Finding(
            post.place("doctrine", written),
            f"role {quote(post.role_id)} reports every {interval} turns but may go only {limit} without progress",
            f"set `{_INTERVAL}` to at most {limit}",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG507", "interval-exceeds-limit", Severity.WARNING, RuleTarget.PROFILE, check)
