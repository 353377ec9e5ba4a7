"""A policy has a field that is not understood.

## What it checks

Every field in a policy is one that policies have, but for those whose names start with `x_`.

## Why it matters

Elsewhere a field nobody knows is passed over with a warning. In a policy that would be dangerous: a condition that is
not understood does not hold anybody back, so the policy speaks to more people than it says.

## Example

```yaml
no-strangers-at-night:
  effect: allow
  match: {conditions: [{tme: 08:00-22:00}]}
  permissions: {tools: [weather]}
```

## Instead

```yaml
no-strangers-at-night:
  effect: allow
  match: {conditions: [{time: 08:00-22:00}]}
  permissions: {tools: [weather]}
```

## Known limits

The same field is also reported as unknown (ORG102), with the name it may have been meant to have.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Fields of policies that nobody reads."""
    for document in view.records.catalogs:
        if document.kind == "access_policies":
            yield from _of_document(document)


def _of_document(document: SourceDocument) -> Iterator[Finding]:
    for route, _ in document.unknown:
        if len(route) > 2 and not str(route[-1]).startswith("x_"):
            yield Finding(
                document.place(*route, key=True),
                f"policy {quote(route[1])} has a field {quote(route[-1])}, which no decision would look at",
                "correct its name, remove it, or let its name start with `x_`",
                f"policy:{route[1]}",
            )


RULE = Rule("ORG421", "policy-field-unknown", Severity.ERROR, Scope.CATALOG, check)
