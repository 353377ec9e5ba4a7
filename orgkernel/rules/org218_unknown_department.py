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

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """A department that the organization does not declare."""
    department, declared = post.profile.department, view.records.organization.departments
    if department is None or not declared or department in declared:
        return
    yield Finding(
        post.place("department"),
        f"role {quote(post.role_id)} belongs to department {quote(department)}, "
        f"which organization {quote(view.org_id)} does not have",
        did_you_mean(department, declared)
        or "declare it under `departments`, or set another one for the role under `overrides`",
        f"role:{post.role_id}",
    )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts with a department."""
    return [post for post, profile in posts.pairs if profile.department is not None]


RULE = Rule("ORG218", "unknown-department", Severity.ERROR, Scope.POST, check, suspects)
