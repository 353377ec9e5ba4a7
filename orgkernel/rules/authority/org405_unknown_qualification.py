"""A document names a qualification that no catalog declares.

## What it checks

Every qualification that a tool or a promotion needs, or that another qualification builds on, is declared by a
qualification catalog that the organization sees.

## Why it matters

No agent can pass a test that does not exist, so no agent can use the tool or get the promotion.

## Example

```yaml
deploy: {type: remote_api, side_effects: write, qualifications: [release_safty]}
```

## Instead

```yaml
deploy: {type: remote_api, side_effects: write, qualifications: [release_safety]}
```

## Known limits

Nothing is reported while a qualification catalog could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as qualifications."""
    known = view.records.qualifications
    if "qualification_catalog" in view.records.incomplete:
        return
    unknown = find_undeclared(
        view,
        EdgeKind.NEEDS_QUALIFICATION,
        EdgeKind.BUILDS_ON,
        known=known,
        also=_iterate_promotion_references(view.records),
    )
    yield from report_undeclared(unknown, "qualification", lambda word: did_you_mean(word, known))


def _iterate_promotion_references(records: OrgRecords) -> Iterator[Reference]:
    for promotion in records.promotions.values():
        for number, word in enumerate(promotion.record.qualifications):
            place = promotion.place("qualifications", number)
            yield Reference(place, "promotion", promotion.id, "needs", word)


RULE = Rule("ORG405", "unknown-qualification", Severity.ERROR, RuleTarget.CATALOG, check)
