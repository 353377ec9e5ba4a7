"""An organization names a role that has no profile.

## What it checks

Every role that the hierarchy names, as an entry or as a subordinate, has a profile. The profile is in the
organization's own folder, in the folder above it, or in the shared catalogs.

## Why it matters

Without a profile the role has no capabilities. No task is ever dispatched to it, and its superior relies on a role that
cannot work.

## Example

```yaml
hierarchy:
  engineering_xo:
    subordinates: [codgen]
```

## Instead

```yaml
hierarchy:
  engineering_xo:
    subordinates: [codegen]
```

## Known limits

A role is not reported if its profile appears to be in a file that could not be read. A role that is named in several
places is reported at the first one.

## Since

0.1
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import RoleProfile
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Roles that a hierarchy names and that have no profile."""
    strays = {
        document.record.role_id: document
        for document in assembly.stray_profiles
        if isinstance(document.record, RoleProfile)
    }
    for records in assembly.organizations:
        missing = {
            role: place for role, place in records.without_profile.items() if role not in records.excused
        }
        known = {*strays, *records.posts} if missing else set()
        for role_id, place in missing.items():
            related: tuple[Related, ...] = ()
            if role_id in strays:
                home = f"the folder of organization {quote(records.org_id)}"
                help = f"move its profile into {home}, or into the folder above it"
                related = (
                    Related(
                        strays[role_id].place("role_id"),
                        "this profile is outside the folders of the organization",
                    ),
                )
            else:
                help = did_you_mean(role_id, strays) or _suggest_renaming(records, missing, assembly)
                help = help or did_you_mean(role_id, known)
                help = help or f"create one with `orgkernel new role {role_id} --org {records.org_id}`"
            yield Finding(place, f"role {quote(role_id)} has no profile", help, f"role:{role_id}", related)


def _suggest_renaming(records: OrgRecords, missing: Collection[str], assembly: Assembly) -> str:
    """Help if exactly one role has no profile and one nearby profile has no role, because one of the two was probably
    renamed.
    """
    home = os.path.join(os.path.dirname(records.document.path), "")
    strays = [
        each
        for each in assembly.stray_profiles
        if each.path.startswith(home) and isinstance(each.record, RoleProfile)
    ]
    if len(missing) != 1 or len(strays) != 1:
        return ""
    (stray,) = strays
    assert isinstance(stray.record, RoleProfile)
    role_id, file = quote(stray.record.role_id), quote(stray.name)
    return f"did you rename it? {file} declares {role_id}, which no organization includes"


RULE = Rule("ORG201", "missing-profile", Severity.ERROR, RuleTarget.TREE, check)
