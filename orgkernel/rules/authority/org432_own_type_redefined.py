"""A type of AuthZEN questions uses a name that orgkernel reserves.

## What it checks

No type under `authzen.types` is named like a kind of subject (`role`, `agent`, `person`, `system`, `webhook`, `sender`)
or of resource (`tool`, `credential`, `data`, `role`).

## Why it matters

A caller that uses the name in the sense of orgkernel would get an answer about the type of the organization.

## Example

```yaml
authzen:
  types:
    subjects:
      person: {kind: agent}
```

## Instead

```yaml
authzen:
  types:
    subjects:
      user: {kind: agent}
```

## Known limits

None.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SUBJECTS = ("role", "agent", "person", "system", "webhook", "sender")
_RESOURCES = ("tool", "credential", "data", "role")


def check(view: OrgView) -> Iterator[Finding]:
    """Find types with a reserved name."""
    records = view.records
    types = records.organization.authzen.types
    for section, named, kinds in (
        ("subjects", types.subjects, _SUBJECTS),
        ("resources", types.resources, _RESOURCES),
    ):
        for name in named:
            if name in kinds:
                yield Finding(
                    records.document.place("authzen", "types", section, name, key=True),
                    f"type {quote(name)} uses a name that orgkernel reserves",
                    "remove it, or give it another name",
                    f"type:{name}",
                )


RULE = Rule("ORG432", "own-type-redefined", Severity.ERROR, RuleTarget.ORGANIZATION, check)
