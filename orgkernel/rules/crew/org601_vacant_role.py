"""A role has no agent.

## What it checks

If a roster assigns agents to an organization, at least one agent fills each of its roles. Roles whose `crew_tier` is `external`
are exempt, and so are those of an `optional` layer of the governance document.

## Why it matters

Work is dispatched to the role and no agent takes it. Its subordinates have no one to report to.

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

An organization without assignments has no crew yet and is not checked. The rule cannot tell whether an agent is running.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Roles that no agent fills."""
    filled = frozenset(view.list_targets_of_kind(EdgeKind.FILLS))
    if not filled or "crew_roster" in view.records.incomplete:
        return
    governance = read_governance(view.records.governance)
    layers = {} if governance is None else governance.layers
    spared = {layer_id for layer_id, layer in layers.items() if layer.optional}
    for role_id, post in view.records.posts.items():
        if role_id in filled or post.profile.layer in spared:
            continue
        if post.profile.crew_tier != "external":
            yield Finding(
                view.get_place(role_id),
                f"role {quote(role_id)} of organization {quote(view.org_id)} has no agent",
                "assign an agent to it in the roster",
                f"role:{role_id}",
            )


RULE = Rule("ORG601", "vacant-role", Severity.WARNING, RuleTarget.ORGANIZATION, check)
