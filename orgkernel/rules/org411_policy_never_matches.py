"""A policy can never match.

## What it checks

What the `match` of an enabled policy asks for can hold at once: a principal of one kind, a relationship and tags that
somebody in the directory has, a window of time that does not end when it begins.

## Why it matters

The policy reads as if it protected or allowed something, and does nothing. A `deny` that never matches is a hole.

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

Relationships and tags are looked for only where a directory lists people. What a runtime never reports, such as a
channel it does not have, is not known here. A policy that several organizations see is reported when it can match in
none of them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.policy_matches import contradiction
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.rules.visibility import wrong_for_all


def check(assembly: Assembly) -> Iterator[Finding]:
    """Matches that contradict themselves or the directory."""
    yield from wrong_for_all(assembly, _contradictions)


def _contradictions(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
    if "directory" in records.incomplete:
        return
    for policy in records.policies.values():
        if not policy.record.enabled:
            continue
        place = policy.place("match")
        why = contradiction(policy.record.match, records)
        message = f"policy {quote(policy.id)} can never match: {why}"
        yield place, Finding(place, message, "", f"policy:{policy.id}") if why else None


RULE = Rule("ORG411", "policy-never-matches", Severity.WARNING, Scope.TREE, check)
