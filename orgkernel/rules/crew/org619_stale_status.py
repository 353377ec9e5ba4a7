"""The recorded alert or watch of an organization is not declared.

## What it checks

The alert and the watch that are recorded in the store are among the `alerts` and `watches` of the organization.

## Why it matters

An undeclared word is treated as if no alert or watch had been recorded. Policies that depend on it become
conditional, and no request that depends on it is allowed.

## Example

```yaml
alerts: [calm, storm]
```

while the alert `RED` is recorded.

## Instead

```yaml
alerts: [calm, RED]
```

## Known limits

The rule needs the store, so only `orgkernel agent list` and `GET /v1/diagnostics` report it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find recorded alerts and watches that the organization does not declare."""
    for view in views:
        organization = view.records.organization
        declared = {"alert": organization.alerts, "watch": organization.watches}
        for kind, status in sorted(states[view.org_id].status.items()):
            if status.value not in declared[kind]:
                yield Finding(
                    view.records.document.place(f"{kind}es" if kind == "watch" else f"{kind}s"),
                    f"organization {quote(view.org_id)} is in {kind} {quote(status.value)}, which it does not declare",
                    did_you_mean(status.value, declared[kind])
                    or f"use `orgkernel crew {kind}` to record one that is declared",
                    f"organization:{view.org_id}",
                )


RULE = Rule("ORG619", "stale-status", Severity.ERROR, RuleTarget.STATE, check)
