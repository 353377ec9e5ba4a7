"""A plan of the organization's own catalog is not followed by any role.

## What it checks

Every plan that the organization itself declares is in the `htn_plans` (HTN: hierarchical task network) of at least one
of its roles.

## Why it matters

A role receives only the plans it follows, so this plan is never run. It describes a way of working that no role uses,
and maintaining it is wasted effort.

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

Plans of shared catalogs are not checked. Nothing is reported while a role of the hierarchy has no profile, because that
role may follow the plan. ORG302 reports a plan that a role misspells.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Plans of the organization's own catalog that none of its roles follows."""
    plans = view.records.plans
    if view.records.without_profile:
        return
    unfollowed = [plan for plan in plans.values() if plan.own and not view.list_followers(plan.id)]
    if not unfollowed:
        return
    words = set(view.list_targets_of_kind(EdgeKind.FOLLOWS)) - plans.keys()
    meant = {suggest(word, plans) for word in words}
    for plan in unfollowed:
        if plan.id not in meant:
            yield Finding(
                plan.place(),
                f"plan {quote(plan.id)} is not followed by any role of organization {quote(view.org_id)}",
                "add it to `capabilities.htn_plans` of a role, or delete it",
                f"plan:{plan.id}",
            )


RULE = Rule("ORG310", "unfollowed-plan", Severity.WARNING, RuleTarget.ORGANIZATION, check)
