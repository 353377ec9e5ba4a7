"""A role commands more subordinates than it can follow.

## What it checks

No role has more direct subordinates than the organization's `limits.span_of_control`, which is 7 unless written.

## Why it matters

A superior reads the reports of all its direct subordinates. With too many of them its context fills up before it has
decided anything.

## Example

```yaml
co:
  subordinates: [a, b, c, d, e, f, g, h]
```

## Instead

```yaml
co:
  subordinates: [a, b, c, d, xo]
xo:
  subordinates: [e, f, g, h]
```

## Known limits

Roles that a superior may dispatch besides its subordinates are not counted.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """More direct subordinates than the limit."""
    limit, document = view.records.organization.limits.span_of_control, view.records.document
    for role_id, below in view.subordinates.items():
        if len(below) <= limit or not view.is_role(role_id):
            continue
        listed, setting = ("hierarchy", role_id, "subordinates"), ("limits", "span_of_control")
        yield Finding(
            document.place(*listed) if document.has(*listed) else view.place_of(role_id),
            f"role {quote(role_id)} has {len(below)} direct subordinates, more than {limit}",
            "put a role between them, or raise `span_of_control` under `limits`",
            f"role:{role_id}",
            (Related(document.place(*setting), f"the limit of organization {quote(view.org_id)}"),)
            if document.has(*setting)
            else (),
        )


RULE = Rule("ORG209", "span-of-control", Severity.WARNING, Scope.ORGANIZATION, check)
