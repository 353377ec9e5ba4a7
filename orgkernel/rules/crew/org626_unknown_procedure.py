"""A role lists a procedure that no catalog declares.

## What it checks

Every id in `capabilities.procedures` is declared by a procedure catalog that the organization sees.

## Why it matters

The role cannot run a procedure that does not exist.

## Example

```yaml
procedures: [publish_pots]
```

## Instead

```yaml
procedures: [publish_post]
```

## Known limits

The name has no effect, and the rest of the organization is served. Nothing is reported while a procedure catalog
could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.questions import OrgView
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are listed as procedures."""
    procedures = view.records.procedures
    if "procedure_catalog" in view.records.incomplete:
        return
    listed = (
        Reference(place, "role", post.role_id, "lists", procedure)
        for post in view.posts
        for procedure, place in zip(
            post.profile.capabilities.procedures,
            post.locate_items("capabilities", "procedures"),
            strict=True,
        )
    )
    unknown = find_undeclared(view, known=procedures, also=listed)
    yield from report_undeclared(unknown, "procedure", lambda word: did_you_mean(word, procedures))


RULE = Rule("ORG626", "unknown-procedure", Severity.ERROR, RuleTarget.ORGANIZATION, check)
