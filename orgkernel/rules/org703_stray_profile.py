"""A role profile is part of no organization.

## What it checks

Every profile is included by an organization, which does so by naming its role in the `hierarchy`.

## Why it matters

A profile on its own does nothing: no work is dispatched to the role, nobody commands it, and most rules do not look at
it. Usually the role was written and its entry in the hierarchy forgotten.

## Example

```yaml
hierarchy:
  co: {subordinates: [engineering_xo]}
```

## Instead

```yaml
hierarchy:
  co: {subordinates: [engineering_xo, research_xo]}
```

## Known limits

Silent where no organization was read, or where one could not be. A second profile of the same role beside the first is
reported as a duplicate instead.

## Since

0.1
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from functools import cache

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote, suggest
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.records.role_profile import RoleProfile
from orgkernel.rules.rule import Finding, Rule, Scope


def check(assembly: Assembly) -> Iterator[Finding]:
    """A profile no organization includes."""
    if not assembly.strays_are_known:
        return
    duplicates = {duplicate.place for duplicate in assembly.duplicates}

    @cache
    def nearest(folder: str) -> OrgRecords:
        return max(
            assembly.organizations,
            key=lambda records: _shared(folder, os.path.dirname(records.document.path)),
        )

    for document in assembly.stray_profiles:
        profile, place = document.record, document.place("role_id")
        if isinstance(profile, RoleProfile) and place not in duplicates:
            yield Finding(
                place,
                f"role {quote(profile.role_id)} is in no organization",
                _advice(nearest(os.path.dirname(document.path)), profile.role_id),
                f"role:{profile.role_id}",
            )


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    return len(os.path.commonpath([one, other]).split(os.sep))


def _advice(records: OrgRecords, role_id: str) -> str:
    """What to do about a stray profile, given the organization that lies nearest."""
    organization = f"organization {quote(records.org_id)}"
    nearer = records.posts.get(role_id)
    if nearer is not None:
        return f"{organization} takes the role from {quote(nearer.document.name)}, which is nearer; remove one of the two"
    misspelled = suggest(role_id, records.without_profile)
    if misspelled is not None:
        return f"did {organization} mean it by {quote(misspelled)}, which has no profile?"
    return f"name it in the hierarchy of {organization}, in {quote(records.document.name)}"


RULE = Rule("ORG703", "stray-profile", Severity.WARNING, Scope.TREE, check)
