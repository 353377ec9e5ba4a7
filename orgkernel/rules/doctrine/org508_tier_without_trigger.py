"""A PACE tier has no trigger, or the primary tier has one.

## What it checks

Every tier above primary that a profile writes has a `trigger`. The primary tier has none. A PACE tier is one of the
fallback levels of a role: primary, alternate, contingent, emergency.

## Why it matters

A tier is entered when its trigger is true, so a tier without a trigger is never entered, whatever its action. A role is
in the primary tier when no other trigger is true, so a trigger on `primary` is never read.

## Example

```yaml
  alternate:
    action: fallback_chain
```

## Instead

```yaml
  alternate:
    action: fallback_chain
    trigger: consecutive_tool_failures >= 3
```

## Known limits

A tier that is left out is not reported, because a plan may have fewer than four tiers.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.tier_triggers import list_tiers
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.tiers import PRIMARY


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Tiers that cannot be entered, and triggers that are not read."""
    for post in posts:
        for name, tier in list_tiers(post.profile):
            if name == PRIMARY and tier.trigger is not None:
                yield Finding(
                    post.place("pace_plan", "primary", "trigger", key=True),
                    f"primary tier of role {quote(post.role_id)} has a trigger, which is never read",
                    "remove it; a role is in the primary tier when no other trigger is true",
                    f"role:{post.role_id}",
                )
            if name != PRIMARY and tier.trigger is None:
                yield Finding(
                    post.place("pace_plan", name, key=True),
                    f"{name} tier of role {quote(post.role_id)} has no trigger, so it is never entered",
                    "add a `trigger`, or leave the tier out",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG508", "tier-without-trigger", Severity.WARNING, RuleTarget.PROFILE, check)
