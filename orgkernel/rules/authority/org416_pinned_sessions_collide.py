"""Two policies can match at once and pin different sessions.

## What it checks

At most one of two enabled policies that pin different session keys (`session: {key, pin: true}`) can match a request.

## Why it matters

A pinned key takes precedence over all others. If two are pinned, the priority decides which conversation a message
goes to, and content of one conversation can appear in the other.

## Example

```yaml
work-group:
  effect: annotate
  match: {conditions: [{channel: slack}]}
  session: {key: work, pin: true}
any-group:
  effect: annotate
  match: {conditions: [{peer_kind: group}]}
  session: {key: group, pin: true}
```

## Instead

```yaml
work-group:
  effect: annotate
  match: {conditions: [{channel: slack, peer_kind: dm}]}
  session: {key: work, pin: true}
any-group:
  effect: annotate
  match: {conditions: [{peer_kind: group}]}
  session: {key: group, pin: true}
```

## Known limits

The rule assumes that weekends overlap with every time window, and that an agent may fill two roles. Policies that deny
have no session.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.policy_matches import can_overlap, find_contradiction
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Pairs of policies that pin different sessions."""
    records = view.records
    pinned = [
        policy
        for policy in records.policies.values()
        if policy.record.enabled
        and policy.record.session.pin
        and policy.record.effect != "deny"
        and not find_contradiction(policy.record.match, records)
    ]
    for first, second in combinations(pinned, 2):
        one, other = first.record, second.record
        if one.session.key != other.session.key and can_overlap(one.match, other.match, records.people):
            yield Finding(
                second.place("session", "pin"),
                f"policies {quote(first.id)} and {quote(second.id)} can match at once and pin different sessions",
                "unpin one of them, or change their matches so that they do not overlap",
                f"policy:{second.id}",
                (Related(first.place("session", "pin"), "the other session is pinned here"),),
            )


RULE = Rule("ORG416", "pinned-sessions-collide", Severity.WARNING, RuleTarget.CATALOG, check)
