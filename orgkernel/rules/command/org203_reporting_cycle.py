"""Roles report to each other in a cycle.

## What it checks

Following superiors upward from any role never leads back to that role. A role that reports to itself is a cycle of one.

## Why it matters

No role in a cycle is in charge. An escalation goes around forever, and no order ever reaches these roles.

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

A cycle is reported once, at the first of its roles in the hierarchy. If a role has several superiors (ORG213), the
first one is used. ORG211 reports the roles below a cycle.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Find chains of command that form a cycle."""
    for first, *others in view.command_cycles:
        role_id = first.source
        yield Finding(
            first.place,
            f"role {quote(role_id)} reports to itself"
            + (f": {_render_path(first, others)}" if others else ""),
            "give one of them a superior outside the cycle"
            if others
            else "name another superior, or none if the role is at the top",
            f"role:{role_id}",
            tuple(
                Related(edge.place, f"{quote(edge.source)} reports to {quote(edge.target)}")
                for edge in others[: _SHOWN - 1]
            ),
        )


def _render_path(first: Edge, others: list[Edge]) -> str:
    """The roles in the order in which they report, shortened after the first five."""
    roles = [quote(edge.source) for edge in (first, *others)]
    more = len(roles) - _SHOWN
    return " → ".join([*roles[:_SHOWN], *([f"{more} more"] if more > 0 else []), roles[0]])


RULE = Rule("ORG203", "reporting-cycle", Severity.ERROR, RuleTarget.ORGANIZATION, check)
