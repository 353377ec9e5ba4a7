"""A document names a rank matrix that no ladder has.

## What it checks

The `rank_matrix` of a tool is the name of a matrix, or of a row of a matrix, in a ladder that the organization sees. The
`rank_matrix` of an organization is the name of a matrix.

## Why it matters

Access fails closed. Until the matrix exists, no rank may do anything with the tool.

## Example

```yaml
browser_agent: {type: browser, rank_matrix: broswer}
```

## Instead

```yaml
browser_agent: {type: browser, rank_matrix: browser}
```

## Known limits

Nothing is reported while a ladder could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import is_matrix
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared names that are used as matrices."""
    records = view.records
    if "rank_ladder" in records.incomplete:
        return
    rows = [row.name for each in records.matrices.values() for row in each.record]
    wanted = records.organization.rank_matrix
    if wanted is not None and wanted not in records.matrices:
        yield Finding(
            records.document.place("rank_matrix"),
            f"organization {quote(view.org_id)} limits its tools by {quote(wanted)}, which is not a declared matrix",
            did_you_mean(wanted, records.matrices),
            f"organization:{view.org_id}",
        )
    for tool in records.tools.values():
        name = tool.record.rank_matrix
        if isinstance(name, str) and not is_matrix(name, records.matrices):
            yield Finding(
                tool.place("rank_matrix"),
                f"tool {quote(tool.id)} is limited by {quote(name)}, which is not a declared matrix or matrix row",
                did_you_mean(name, [*records.matrices, *rows]),
                f"tool:{tool.id}",
            )


RULE = Rule("ORG404", "unknown-matrix", Severity.ERROR, RuleTarget.CATALOG, check)
