"""A PACE trigger is not valid.

## What it checks

The `trigger` of every PACE tier above primary is a condition in the trigger language. Its syntax is valid, numbers
are compared, flags stand alone, and conditions are joined with AND, OR and NOT. A PACE tier is one of the fallback
levels of a role: primary, alternate, contingent, emergency.

## Why it matters

An invalid trigger is never true, so the role keeps failing in the same way and no superior is informed.

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

The first syntax error hides the errors after it. If a trigger is written over several lines, the place is the line on
which it begins. ORG502 reports an unknown name. A trigger on `primary` is never read (ORG508).

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.tier_triggers import find_triggers
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Triggers with an error in their syntax or their types."""
    for post, trigger in find_triggers(posts):
        for problem in trigger.parsed.problems:
            if problem.kind != "unknown-name":
                yield Finding(
                    trigger.place(post, problem.start),
                    f"{trigger.name_in(post)} is not valid: {problem.message}",
                    problem.help or "",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG501", "invalid-trigger", Severity.ERROR, RuleTarget.PROFILE, check)
