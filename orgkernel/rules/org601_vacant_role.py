"""A role is filled by no agent.

## What it checks

Where a roster assigns agents to an organization, every role of it is filled by at least one, but for roles whose
`tier` is `external`.

## Why it matters

Work is dispatched to the role and nobody takes it, and its subordinates report to nobody.

## Example

```yaml
agents:
  a1: {assignments: [{role: co}]}
```

## Instead

```yaml
agents:
  a1: {assignments: [{role: co}, {role: codegen}]}
```

## Known limits

An organization without assignments has no crew yet and is not looked at. Whether an agent is alive is not known here.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Roles nobody fills."""
    filled = frozenset(view.targets_of(EdgeKind.FILLS))
    if not filled or "crew_roster" in view.records.incomplete:
        return
    for role_id, post in view.records.posts.items():
        if role_id not in filled and post.profile.tier != "external":
            yield Finding(
                view.place_of(role_id),
                f"role {quote(role_id)} of organization {quote(view.org_id)} is filled by no agent",
                "assign an agent in the roster",
                f"role:{role_id}",
            )


RULE = Rule("ORG601", "vacant-role", Severity.WARNING, Scope.ORGANIZATION, check)
