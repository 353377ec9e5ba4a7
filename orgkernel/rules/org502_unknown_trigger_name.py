"""A PACE trigger reads a name that nothing reports.

## What it checks

Every name in a `trigger` is one of the closed list of the trigger language, or a published other word for one of them.

## Why it matters

A name that nothing reports has no value, so the comparison it stands in never holds. The first dispatcher of this kind
and its role files used different words, and no role ever left its primary tier.

## Example

```yaml
  alternate:
    trigger: consecutive_tool_failure >= 3
```

## Instead

```yaml
  alternate:
    trigger: consecutive_tool_failures >= 3
```

## Known limits

Names are looked at once the syntax is sound; until then ORG501 speaks. A flag compared with `true` or `false` is
reported here, at the word.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.rules.tier_triggers import find_triggers


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """A name outside the list."""
    for post, trigger in find_triggers(posts):
        for problem in trigger.parsed.problems:
            if problem.kind == "unknown-name":
                name = trigger.text[problem.start : problem.end]
                yield Finding(
                    trigger.place(post, problem.start),
                    f"{trigger.name_in(post)} reads {quote(name)}, which is no name of the trigger language",
                    problem.help or "",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG502", "unknown-trigger-name", Severity.ERROR, Scope.PROFILE, check)
