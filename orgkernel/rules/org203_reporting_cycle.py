"""Roles report to one another in a circle.

## What it checks

Following the superiors upwards from any role never leads back to it. A role that reports to itself is a circle of one.

## Why it matters

Nobody in a circle answers for the others: an escalation goes round for ever, and no order ever reaches them.

## Example

```yaml
planning:
  subordinates: [design]
design:
  subordinates: [review]
review:
  subordinates: [planning]
```

## Instead

```yaml
planning:
  subordinates: [design]
design:
  subordinates: [review]
review:
  subordinates: []
```

## Known limits

A circle is reported once, at the first of its roles in the hierarchy. Of a role with several superiors (ORG213) the
first one counts. Roles that hang beneath a circle are reported by ORG211.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, Scope

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Chains of command that lead back to where they start."""
    for first, *others in view.circles:
        role_id = first.source
        yield Finding(
            first.place,
            f"role {quote(role_id)} reports to itself" + (f": {_path(first, others)}" if others else ""),
            "give one of them a superior outside the circle"
            if others
            else "name another superior, or none at the top",
            f"role:{role_id}",
            tuple(
                Related(edge.place, f"{quote(edge.source)} reports to {quote(edge.target)}")
                for edge in others[: _SHOWN - 1]
            ),
        )


def _path(first: Edge, others: list[Edge]) -> str:
    """The roles in the order they report, cut where it gets long."""
    roles = [quote(edge.source) for edge in (first, *others)]
    more = len(roles) - _SHOWN
    return " → ".join([*roles[:_SHOWN], *([f"{more} more"] if more > 0 else []), roles[0]])


RULE = Rule("ORG203", "reporting-cycle", Severity.ERROR, Scope.ORGANIZATION, check)
