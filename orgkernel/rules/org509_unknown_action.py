"""A PACE tier has an unknown action, or escalates to nobody.

## What it checks

The `action` of every tier is `normal_execution`, `fallback_chain`, `escalate` or `abort_and_report`. If the role has a
superior, a tier with the action `escalate` has an `escalate_to`.

## Why it matters

A runtime ignores an action it does not know, so the tier is entered and nothing happens. If an escalation names nobody,
each runtime decides for itself whom to tell.

## Example

```yaml
  contingent:
    action: escalat
    trigger: consecutive_tool_failures >= 5
    escalate_to: engineering_xo
```

## Instead

```yaml
  contingent:
    action: escalate
    trigger: consecutive_tool_failures >= 5
    escalate_to: engineering_xo
```

## Known limits

A tier without any action is not reported. Profiles that no organization includes are not checked, because only an
organization gives a role a superior.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.runtime.tiers import ACTIONS, ESCALATE, TIERS


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """Tiers with an unknown action, and escalations to nobody."""
    for name in TIERS:
        tier = getattr(post.profile.pace_plan, name, None)
        if tier is None or not tier.action:
            continue
        says = f"{name} tier of role {quote(post.role_id)}"
        if tier.action not in ACTIONS:
            help = did_you_mean(tier.action, ACTIONS) or f"use one of {listing(ACTIONS)}"
            message = f"{says} has the unknown action {quote(tier.action)}"
        elif tier.action == ESCALATE and tier.escalate_to is None:
            command = view.command_of(post.role_id)
            # ORG202 reports a superior that nothing declares.
            if command is None or not (view.names_role(command.target) or command.target in view.external):
                continue
            help = f"add `escalate_to: {command.target}`"
            message = f"{says} escalates to nobody"
        else:
            continue
        yield Finding(post.place("pace_plan", name, "action"), message, help, f"role:{post.role_id}")


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts with an action nobody knows, or one that escalates to nobody."""
    return [
        post
        for post, profile in posts.pairs
        for plan in (profile.pace_plan,)
        if plan is not None
        and any(
            tier is not None
            and tier.action
            and (tier.action not in ACTIONS or (tier.action == ESCALATE and tier.escalate_to is None))
            for tier in (plan.primary, plan.alternate, plan.contingent, plan.emergency)
        )
    ]


RULE = Rule("ORG509", "unknown-action", Severity.WARNING, Scope.POST, check, suspects)
