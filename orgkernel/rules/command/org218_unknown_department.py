"""A role belongs to a department that its organization does not have.

## What it checks

The `department` of a role is one of the `departments` that the organization declares. It may be written in the profile or
under the organization's `overrides`.

## Why it matters

A department decides which tools its members see. A role in an undeclared department does not see the tools it should, and
is missing from every list of its department.

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

If an organization declares no departments, its profiles may name any.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """A department that the organization does not declare."""
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
            or "declare it under `departments`, or set another one for the role under `overrides`",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG218", "unknown-department", Severity.ERROR, RuleTarget.ORGANIZATION, check)
