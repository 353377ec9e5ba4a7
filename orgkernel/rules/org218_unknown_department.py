"""A role belongs to a department that its organization does not have.

## What it checks

The `department` of a role, in its profile or among the organization's `overrides`, is one of the `departments` the
organization declares.

## Why it matters

A department decides what its members see. A role in one that nobody declared sees nothing of what it should, and is
missing from every list of its department.

## Example

```yaml
role_id: codegen
department: enginering
```

## Instead

```yaml
role_id: codegen
department: engineering
```

## Known limits

An organization that declares no departments leaves them to its profiles.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """A department that nothing declares."""
    declared = view.records.organization.departments
    if not declared:
        return
    for post in view.posts:
        department = post.profile.department
        if department is None or department in declared:
            continue
        yield Finding(
            post.place("department"),
            f"role {quote(post.role_id)} belongs to department {quote(department)}, "
            f"which organization {quote(view.org_id)} does not have",
            did_you_mean(department, declared)
            or "declare it under `departments`, or give the role another one under `overrides`",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG218", "unknown-department", Severity.ERROR, Scope.ORGANIZATION, check)
