"""A PACE trigger uses a name that is not a trigger variable.

## What it checks

Every name in a `trigger` is a name of the trigger language, or an alias that published files use for one. A PACE tier
is one of the fallback levels of a role: primary, alternate, contingent, emergency.

## Why it matters

No host reports a value for an unknown name, so its comparison is never true. In an earlier system of this kind,
the program and its role files used different names, so no role ever left its primary tier.

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

Names are checked only if the syntax is valid (ORG501). A flag that is compared with `true` or `false` is reported by this
rule, at the word `true` or `false`.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.tier_triggers import find_triggers
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Names that are not in the trigger language."""
    for post, trigger in find_triggers(posts):
        for problem in trigger.parsed.problems:
            if problem.kind == "unknown-name":
                name = trigger.text[problem.start : problem.end]
                yield Finding(
                    trigger.place(post, problem.start),
                    f"{trigger.name_in(post)} uses {quote(name)}, which is not a trigger variable",
                    problem.help or "",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG502", "unknown-trigger-name", Severity.ERROR, RuleTarget.PROFILE, check)
