"""A PACE trigger cannot be read.

## What it checks

The `trigger` of every tier above primary is a condition in the trigger language: its syntax is sound, numbers are
compared, flags stand by themselves, and conditions are joined with AND, OR and NOT.

## Why it matters

A trigger that cannot be read never trips, so the role keeps failing in the same way and nobody is told.

## Example

```yaml
  contingent:
    trigger: context_fill => 0.85
```

## Instead

```yaml
  contingent:
    trigger: context_fill >= 0.85
```

## Known limits

The first mistake of syntax hides what follows it. In a trigger written over several lines the place is the line the
trigger begins on. A name that is not known is reported by ORG502; a trigger on `primary` is never read (ORG508).

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.rules.tier_triggers import find_triggers


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """A problem of syntax or of types."""
    for post, trigger in find_triggers(posts):
        for problem in trigger.parsed.problems:
            if problem.kind != "unknown-name":
                yield Finding(
                    trigger.place(post, problem.start),
                    f"{trigger.name_in(post)} cannot be read: {problem.message}",
                    problem.help or "",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG501", "invalid-trigger", Severity.ERROR, Scope.PROFILE, check)
