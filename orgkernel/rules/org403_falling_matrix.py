"""A higher rank is given a lower level than a rank below it.

## What it checks

Going up the ladder, the levels in a row of a matrix and in a tool's own `rank_matrix` never fall.

## Why it matters

A promotion would take something away. Every list and every remedy takes it that a higher rank may do at least what a
lower one may.

## Example

```yaml
shell: {type: computer_use, rank_matrix: {lieutenant: write, commander: read}}
```

## Instead

```yaml
shell: {type: computer_use, rank_matrix: {lieutenant: read, commander: write}}
```

## Known limits

Ranks that the ladder does not have are left to ORG401.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.records.levels import LEVELS, ToolLevel
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Entries that are lower than one for a lower rank."""
    order = [rank.id for rank in view.records.ranks]
    for tool in view.records.tools.values():
        matrix = tool.record.rank_matrix
        if isinstance(matrix, dict):
            yield from _falling(
                f"tool {quote(tool.id)}", f"tool:{tool.id}", matrix, order,
                partial(tool.place, "rank_matrix"),
            )  # fmt: skip
    for each in view.records.matrices.values():
        for number, row in enumerate(each.record):
            yield from _falling(
                f"row {quote(row.name)} of matrix {quote(each.id)}", f"matrix:{each.id}", row.levels, order,
                partial(each.place, number, "levels"),
            )  # fmt: skip


def _falling(
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
                f"less than {quote(highest[1])} below it has",
                "an entry holds upwards until the next: write only where the level rises",
                subject,
            )
        else:
            highest = (height, rank_id)


RULE = Rule("ORG403", "falling-matrix", Severity.ERROR, Scope.CATALOG, check)
