"""A higher rank has a lower level than a rank below it.

## What it checks

In a row of a matrix, and in a tool's own `rank_matrix`, the level never falls as the rank rises.

## Why it matters

Otherwise a promotion would take access away. All lists and remedies assume that a higher rank may do at least what a lower
one may do.

## Example

```yaml
shell: {type: computer_use, rank_matrix: {lieutenant: write, commander: read}}
```

## Instead

```yaml
shell: {type: computer_use, rank_matrix: {lieutenant: read, commander: write}}
```

## Known limits

ORG401 reports ranks that the ladder does not have.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Entries with a lower level than the entry for a lower rank."""
    order = [rank.id for rank in view.records.ranks]
    for tool in view.records.tools.values():
        matrix = tool.record.rank_matrix
        if isinstance(matrix, dict):
            yield from _find_falling_rows(
                f"tool {quote(tool.id)}", f"tool:{tool.id}", matrix, order,
                partial(tool.place, "rank_matrix"),
            )  # fmt: skip
    for each in view.records.matrices.values():
        for number, row in enumerate(each.record):
            yield from _find_falling_rows(
                f"row {quote(row.name)} of matrix {quote(each.id)}", f"matrix:{each.id}", row.levels, order,
                partial(each.place, number, "levels"),
            )  # fmt: skip


def _find_falling_rows(
    what: str,
    subject: str,
    levels: Mapping[str, ToolLevel],
    order: list[str],
    place_of: Callable[[str], Place],
) -> Iterator[Finding]:
    highest: tuple[int, str] | None = None
    for rank_id in order:
        if rank_id not in levels:
            continue
        height = LEVELS.index(levels[rank_id])
        if highest is not None and height < highest[0]:
            yield Finding(
                place_of(rank_id),
                f"{what} gives rank {quote(rank_id)} level {quote(levels[rank_id])}, "
                f"less than the level of rank {quote(highest[1])} below it",
                "write an entry only where the level rises; it also applies to the ranks above, up to the next entry",
                subject,
            )
        else:
            highest = (height, rank_id)


RULE = Rule("ORG403", "falling-matrix", Severity.ERROR, RuleTarget.CATALOG, check)
