"""A policy has an unknown field.

## What it checks

Every field in a policy is a known field of policies, or its name starts with `x_`.

## Why it matters

Elsewhere an unknown field is ignored with a warning. In a policy that would be dangerous: an unknown condition
excludes no one, so the policy would match more people than its author intended.

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

ORG102 also reports the same field, and suggests the name that was probably meant.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find unknown fields of policies."""
    for document in view.records.catalogs:
        if document.kind == "access_policies":
            yield from _check_document(document)


def _check_document(document: SourceDocument) -> Iterator[Finding]:
    for route, _ in document.unknown:
        if len(route) > 2 and not str(route[-1]).startswith("x_"):
            yield Finding(
                document.place(*route, key=True),
                f"policy {quote(route[1])} has the field {quote(route[-1])}, which no decision reads",
                "correct its name, remove it, or start its name with `x_`",
                f"policy:{route[1]}",
            )


RULE = Rule("ORG421", "policy-field-unknown", Severity.ERROR, RuleTarget.CATALOG, check)
