"""A role has too many direct subordinates.

## What it checks

No role has more direct subordinates than the organization's `limits.span_of_control`. The default is 7.

## Why it matters

A superior reads the reports of all its direct subordinates. With too many of them, its context fills up before it
decides anything.

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

The rule does not count roles that a superior may hand work to in addition to its subordinates.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """More direct subordinates than the limit."""
    limit, document = view.records.organization.limits.span_of_control, view.records.document
    for role_id, below in view.subordinates.items():
        if len(below) <= limit or not view.is_role(role_id):
            continue
        listed, setting = ("hierarchy", role_id, "subordinates"), ("limits", "span_of_control")
        yield Finding(
            document.place(*listed) if document.has(*listed) else view.get_place(role_id),
            f"role {quote(role_id)} has {len(below)} direct subordinates, more than the limit of {limit}",
            "put another role between them, or raise `span_of_control` under `limits`",
            f"role:{role_id}",
            (Related(document.place(*setting), f"the limit of organization {quote(view.org_id)}"),)
            if document.has(*setting)
            else (),
        )


RULE = Rule("ORG209", "span-of-control", Severity.WARNING, RuleTarget.ORGANIZATION, check)
