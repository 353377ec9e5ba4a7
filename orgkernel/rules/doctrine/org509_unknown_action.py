"""A PACE tier has an unknown action, or escalates but names no role to escalate to.

## What it checks

The `action` of every tier must be `normal_execution`, `fallback_chain`, `escalate` or `abort_and_report`. If the role has
a superior, a tier with the action `escalate` must have an `escalate_to`. A PACE tier is one of the fallback levels of a
role: primary, alternate, contingent, emergency.

## Why it matters

A runtime ignores an action it does not know, so the tier is entered and nothing happens. If an escalation names no
role, each runtime decides for itself whom to inform.

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

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.doctrine.tier_triggers import list_tiers
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.tiers import ACTIONS, ESCALATE


def check(view: OrgView) -> Iterator[Finding]:
    """Find tiers with an unknown action, and escalations without a target."""
    for post in view.posts:
        for name, tier in list_tiers(post.profile):
            if not tier.action:
                continue
            if tier.action not in ACTIONS:
                help = did_you_mean(tier.action, ACTIONS) or f"use one of {listing(ACTIONS)}"
                message = f"has the unknown action {quote(tier.action)}"
            elif tier.action == ESCALATE and tier.escalate_to is None:
                superior = view.superiors.get(post.role_id)
                # ORG202 reports a superior that nothing declares.
                if superior is None or not (view.does_name_role(superior) or superior in view.external):
                    continue
                help = f"add `escalate_to: {superior}`"
                message = "escalates but names no role to escalate to"
            else:
                continue
            yield Finding(
                post.place("pace_plan", name, "action"),
                f"{name} tier of role {quote(post.role_id)} {message}",
                help,
                f"role:{post.role_id}",
            )


RULE = Rule("ORG509", "unknown-action", Severity.WARNING, RuleTarget.ORGANIZATION, check)
