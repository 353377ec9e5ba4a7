"""A PACE tier has no trigger, or the primary tier has one.

## What it checks

Every tier above primary that a profile writes has a `trigger`. The primary tier has none.

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
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.runtime.tiers import ABOVE_PRIMARY


def check(post: RolePost) -> Iterator[Finding]:
    """Tiers that cannot be entered, and triggers that are not read."""
    plan, role = post.profile.pace_plan, quote(post.role_id)
    if plan is None:
        return
    if plan.primary.trigger is not None:
        yield Finding(
            post.place("pace_plan", "primary", "trigger", key=True),
            f"primary tier of role {role} has a trigger, which is never read",
            "remove it; a role is in the primary tier when no other trigger is true",
            f"role:{post.role_id}",
        )
    for name in ABOVE_PRIMARY:
        tier = getattr(plan, name)
        if tier is not None and tier.trigger is None:
            yield Finding(
                post.place("pace_plan", name, key=True),
                f"{name} tier of role {role} has no trigger, so it is never entered",
                "add a `trigger`, or leave the tier out",
                f"role:{post.role_id}",
            )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts with a tier above primary without a trigger, or a primary one with one."""
    return [
        post
        for post, profile in posts.pairs
        for plan in (profile.pace_plan,)
        if plan is not None
        and (
            plan.primary.trigger is not None
            or any(
                tier is not None and tier.trigger is None
                for tier in (plan.alternate, plan.contingent, plan.emergency)
            )
        )
    ]


RULE = Rule("ORG508", "tier-without-trigger", Severity.WARNING, Scope.PROFILE, check, suspects)
