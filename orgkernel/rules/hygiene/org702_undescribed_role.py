"""A role has no description.

## What it checks

Every role profile has a `description`.

## Why it matters

People and agents who assign work choose a role by its purpose. An id and a list of domains leave the purpose to guesswork.

## Example

```yaml
role_id: codegen_specialist
role_type: specialist
```

## Instead

```yaml
role_id: codegen_specialist
role_type: specialist
description: Writes new modules, always with tests that show the result works.
```

## Known limits

The rule cannot tell whether the description is useful.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.names import derive_name
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Profiles without a description."""
    for post in posts:
        if not post.profile.description.strip():
            yield Finding(
                post.document.place("role_id"),
                f"role {quote(derive_name(post.role_id))} has no description",
                "describe in one sentence what the role is for",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG702", "undescribed-role", Severity.INFO, RuleTarget.PROFILE, check)
