"""An organization names a role that has no profile.

## What it checks

Every role in the hierarchy, as an entry or among somebody's subordinates, has a profile: in the organization's own
folder, in the folder that one lies in, or in the shared catalogs.

## Why it matters

Without a profile nobody knows what the role can do: no task is ever dispatched to it, and its superior counts on
somebody who is not there.

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

A role whose profile seems to stand in a file that could not be read is not reported. A name that is written in several
places is reported at the first.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.assemble import Assembly
from orgkernel.records.role_profile import RoleProfile
from orgkernel.rules.rule import Finding, Rule, Scope


def check(assembly: Assembly) -> Iterator[Finding]:
    """Roles named by a hierarchy and written nowhere."""
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
                help = f"move its profile into {home}, or into the one that folder lies in"
                related = (
                    Related(strays[role_id].place("role_id"), "a profile of this id is out of reach here"),
                )
            else:
                help = did_you_mean(role_id, known)
                help = help or f"write it with `orgkernel new role {role_id} --org {records.org_id}`"
            yield Finding(place, f"role {quote(role_id)} has no profile", help, f"role:{role_id}", related)


RULE = Rule("ORG201", "missing-profile", Severity.ERROR, Scope.TREE, check)
