"""A plan of the organization's own catalog is followed by no role.

## What it checks

Every plan that the organization itself declares is in the `htn_plans` of one of its roles.

## Why it matters

A role is given the plans it follows and no others, so this one is never run. It reads as if the work were done that way,
and it is maintained for nothing.

## Example

```yaml
plans:
  publish_release:
    domains: [git_ops]
```

## Instead

```yaml
capabilities:
  bst_domains: [git_ops]
  htn_plans: [publish_release]
```

## Known limits

Plans of catalogs shared with other organizations are not asked for. Nothing is reported while a role of the hierarchy
has no profile, since it may follow the plan, or for a plan that a role seems to misspell, which ORG302 reports.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Plans of its own that an organization does not use."""
    plans = view.records.plans
    if view.records.without_profile:
        return
    unfollowed = [plan for plan in plans.values() if plan.own and not view.followers_of(plan.id)]
    if not unfollowed:
        return
    words = set(view.targets_of(EdgeKind.FOLLOWS)) - plans.keys()
    meant = {suggest(word, plans) for word in words}
    for plan in unfollowed:
        if plan.id not in meant:
            yield Finding(
                plan.place(),
                f"plan {quote(plan.id)} is followed by no role of organization {quote(view.org_id)}",
                "add it to `capabilities.htn_plans` of a role, or delete it",
                f"plan:{plan.id}",
            )


RULE = Rule("ORG310", "unfollowed-plan", Severity.WARNING, Scope.ORGANIZATION, check)
