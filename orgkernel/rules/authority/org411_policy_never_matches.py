"""A policy can never match.

## What it checks

The `match` of every enabled policy can be satisfied. It asks for a principal of one kind, for a relationship and tags that
some person in the directory has, and for a time window that does not end when it begins.

## Why it matters

The policy looks as if it protects or allows something, but it does nothing. A `deny` that never matches is a security
hole.

## Example

```yaml
late-family:
  effect: deny
  match:
    principal: {unknown: true, relationship: family}
```

## Instead

```yaml
late-family:
  effect: deny
  match:
    principal: {relationship: family}
```

## Known limits

Relationships and tags are checked only if a directory lists people. The rule cannot tell which values a runtime never
reports, such as a channel it does not have. If several organizations see a policy, it is reported only if it can
match in none of them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.policy_matches import find_contradiction
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_wrong_for_all


def check(assembly: Assembly) -> Iterator[Finding]:
    """Matches that contradict themselves or the directory."""
    yield from find_wrong_for_all(assembly, _find_contradictions)


def _find_contradictions(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
    if "directory" in records.incomplete:
        return
    for policy in records.policies.values():
        if not policy.record.enabled:
            continue
        place = policy.place("match")
        why = find_contradiction(policy.record.match, records)
        message = f"policy {quote(policy.id)} can never match: {why}"
        yield place, Finding(place, message, "", f"policy:{policy.id}") if why else None


RULE = Rule("ORG411", "policy-never-matches", Severity.WARNING, RuleTarget.TREE, check)
