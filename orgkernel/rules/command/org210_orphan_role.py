"""A role is outside the chain of command.

## What it checks

In an organization with several roles, every role has a superior or subordinates. If no role has either, the
organization is reported once.

## Why it matters

Such a role gets no orders, and no superior reads its reports. When it fails, no superior can take over its work.

## Example

```yaml
hierarchy:
  co:
    subordinates: [planner]
  planner: {}
  scout: {}
```

## Instead

```yaml
hierarchy:
  co:
    subordinates: [planner, scout]
  planner: {}
  scout: {}
```

## Known limits

A role that reports to `user` or to an id declared external is not reported, and neither is a role whose `crew_tier` is not
`crew`. Nothing is reported while a role has no profile: the missing profile may name the orphan as its superior, or its
name may be a misspelling of the orphan.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Roles with neither a superior nor subordinates."""
    roles = view.roles
    if len(roles) < 2 or view.records.without_profile:
        return
    touched = view.superiors.keys() | set(view.superiors.values())
    orphans = [
        role_id
        for role_id, post in view.records.posts.items()
        if role_id not in touched
        and not view.list_edges_to(EdgeKind.REPORTS_TO, role_id)
        and post.profile.crew_tier == "crew"
    ]
    if len(orphans) == len(roles):
        yield Finding(
            view.records.document.place("hierarchy", key=True),
            f"organization {quote(view.org_id)} has {len(roles)} roles, and none has a superior or subordinates",
            "list the `subordinates` of the role that leads",
            f"organization:{view.org_id}",
        )
        return
    for role_id in orphans:
        yield Finding(
            view.get_place(role_id),
            f"role {quote(role_id)} has neither a superior nor subordinates",
            f"list it among the subordinates of a role of organization {quote(view.org_id)}",
            f"role:{role_id}",
        )


RULE = Rule("ORG210", "orphan-role", Severity.WARNING, RuleTarget.ORGANIZATION, check)
