"""A policy names a credential that no tool or role uses.

## What it checks

Every credential that a policy names is used by a tool or a role of an organization that uses the policy.

## Why it matters

No runtime provides a misspelled credential, and the tool that needs the right one fails when it is used.

## Example

```yaml
work:
  effect: allow
  permissions: {tools: [deploy], credentials: [gthub]}
```

## Instead

```yaml
work:
  effect: allow
  permissions: {tools: [deploy], credentials: [github]}
```

## Known limits

There is no catalog of credentials; their names come from the `credentials` of tools and roles. Nothing is reported while a
profile or a catalog is missing.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Credentials that no tool and no role uses."""
    for reference in find_unknown_to_all(assembly, _iterate_references):
        yield Finding(
            reference.place,
            f"{reference}, a credential that no tool or role uses",
            did_you_mean(reference.target, list_ids(assembly, _list_used_credentials))
            or f"list {quote(reference.target)} under `credentials` of the tool that uses it",
            f"policy:{reference.source}",
        )


def _iterate_references(records: OrgRecords) -> Iterator[tuple[Reference, bool]]:
    unsure = bool(records.without_profile or records.excused or records.incomplete)
    used: frozenset[str] | None = None
    for policy in records.policies.values():
        credentials = policy.record.permissions.credentials
        for number, word in enumerate(credentials if isinstance(credentials, tuple) else ()):
            used = _list_used_credentials(records) if used is None else used
            place = policy.place("permissions", "credentials", number)
            yield Reference(place, "policy", policy.id, "names", word), unsure or word in used


def _list_used_credentials(records: OrgRecords) -> frozenset[str]:
    by_tools = (word for tool in records.tools.values() for word in tool.record.credentials)
    by_roles = (word for post in records.posts.values() for word in post.profile.credentials)
    return frozenset((*by_tools, *by_roles))


RULE = Rule("ORG422", "unknown-credential", Severity.WARNING, RuleTarget.TREE, check)
