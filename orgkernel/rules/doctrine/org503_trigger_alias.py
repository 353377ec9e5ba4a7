"""A PACE trigger uses an alias of a name of the trigger language.

## What it checks

Names in a `trigger` are spelled as the trigger language lists them. Aliases from published files (`failures`,
`critical_failure`, `stale_turns`, …) work and are reported. A PACE tier is one of the fallback levels of a role:
primary, alternate, contingent, emergency.

## Why it matters

Two names for one measure look like two measures. A reader cannot tell that `failures >= 3` and
`consecutive_tool_failures >= 3` trip at the same moment, and a search for one misses the other.

## Example

```yaml
  alternate:
    trigger: failures >= 3
```

## Instead

```yaml
  alternate:
    trigger: consecutive_tool_failures >= 3
```

## Known limits

None.

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
    """Aliases that published files use."""
    for post, trigger in find_triggers(posts):
        for use in trigger.parsed.uses:
            if use.is_alias:
                yield Finding(
                    trigger.place(post, use.start),
                    f"{trigger.name_in(post)} uses {quote(use.name)}, an alias of {quote(use.target)}",
                    f"write {quote(use.target)}",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG503", "trigger-alias", Severity.WARNING, RuleTarget.PROFILE, check)
