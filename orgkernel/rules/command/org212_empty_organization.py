"""An organization has no roles.

## What it checks

The `hierarchy` of every organization names at least one role.

## Why it matters

Such an organization takes no task and answers every question with nothing, as if it were switched off.

## Example

```yaml
org_id: demo
hierarchy: {}
```

## Instead

```yaml
org_id: demo
hierarchy:
  co: {}
```

## Known limits

ORG201 checks whether the roles have profiles.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """A hierarchy without entries."""
    # A folder of skills in another format has no agents on purpose.
    if not view.records.organization.hierarchy and not view.records.document.format:
        yield Finding(
            view.records.document.place("hierarchy", key=True),
            f"organization {quote(view.org_id)} has no roles",
            f"create the first one with `orgkernel new role ID --org {view.org_id}`",
            f"organization:{view.org_id}",
        )


RULE = Rule("ORG212", "empty-organization", Severity.WARNING, RuleTarget.ORGANIZATION, check)
