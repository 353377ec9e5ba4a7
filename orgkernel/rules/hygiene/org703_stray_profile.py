"""A role profile is not included by any organization.

## What it checks

Every profile is included by an organization. An organization includes a profile by naming its role in the `hierarchy`.

## Why it matters

A profile on its own has no effect: no work is dispatched to the role, it has no superior, and most rules do not check
it. Usually the author forgot to add the role to the hierarchy.

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

Nothing is reported if there is no organization, or while one cannot be read. A second profile of the same
role in the same folder is reported as a duplicate (ORG217) instead.

## Since

0.1
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from functools import cache

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote, suggest
from orgkernel.documents.records import RoleProfile
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Profiles that no organization includes."""
    if not assembly.strays_are_known:
        return
    duplicates = {duplicate.place for duplicate in assembly.duplicates}

    @cache
    def nearest(folder: str) -> OrgRecords:
        return max(
            assembly.organizations,
            key=lambda records: _count_shared_folders(folder, os.path.dirname(records.document.path)),
        )

    for document in assembly.stray_profiles:
        profile, place = document.record, document.place("role_id")
        if isinstance(profile, RoleProfile) and place not in duplicates:
            yield Finding(
                place,
                f"role {quote(profile.role_id)} is not in any organization",
                _build_help(nearest(os.path.dirname(document.path)), profile.role_id),
                f"role:{profile.role_id}",
            )


def _count_shared_folders(one: str, other: str) -> int:
    """Number of folders that two paths have in common."""
    return len(os.path.commonpath([one, other]).split(os.sep))


def _build_help(records: OrgRecords, role_id: str) -> str:
    """Help for a stray profile, given the nearest organization."""
    organization = f"organization {quote(records.org_id)}"
    nearer = records.posts.get(role_id)
    if nearer is not None:
        return f"remove one of the two profiles; {organization} uses {quote(nearer.document.name)}, which is nearer"
    if records.document.format:
        return f"name it where {quote(records.document.name)} names the others, or delete it"
    misspelled = suggest(role_id, records.without_profile)
    if misspelled is not None:
        return f"did you mean {quote(misspelled)}, which {organization} names and which has no profile?"
    return f"add it to the hierarchy of {organization} in {quote(records.document.name)}"


RULE = Rule("ORG703", "stray-profile", Severity.WARNING, RuleTarget.TREE, check)
