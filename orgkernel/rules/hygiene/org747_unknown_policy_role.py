"""A policy names a role that no organization has.

## What it checks

Every role under `roles` of a policy is a role of an organization that uses the policy.

## Why it matters

If a role is misspelled, the people, webhooks and timers that the policy is about cannot hand work to the role
that is meant.

## Example

```yaml
friends:
  effect: allow
  permissions: {roles: [stewart]}
```

## Instead

```yaml
friends:
  effect: allow
  permissions: {roles: [steward]}
```

## Known limits

Nothing is reported while a profile is missing.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Roles that no organization has."""
    for reference in find_unknown_to_all(assembly, _iterate_references):
        yield Finding(
            reference.place,
            f"{reference}, a role that no organization has",
            did_you_mean(reference.target, list_ids(assembly, _list_roles)) or "name a role of the hierarchy",
            f"policy:{reference.source}",
        )


def _iterate_references(records: OrgRecords) -> Iterator[tuple[Reference, bool]]:
    unsure = bool(records.without_profile or records.excused or records.incomplete)
    for policy in records.policies.values():
        roles = policy.record.permissions.roles
        for number, word in enumerate(roles if isinstance(roles, tuple) else ()):
            place = policy.place("permissions", "roles", number)
            yield Reference(place, "policy", policy.id, "names", word), unsure or word in records.posts


def _list_roles(records: OrgRecords) -> frozenset[str]:
    return frozenset(records.posts)


RULE = Rule("ORG747", "unknown-policy-role", Severity.WARNING, RuleTarget.TREE, check)
