"""A rank is named that the ladder does not have.

## What it checks

Every rank that is named is one of the ladder the organization sees: the `entry_rank` of a role, the rank an agent
starts at, the ranks in a tool's `rank_matrix`, and in a ladder those of its matrices and promotions.

## Why it matters

A rank nobody has opens nothing: an entry for it in a matrix never holds, and a holder who starts at it has no rank at
all and is refused everything that ranks decide.

## Example

```yaml
role_id: codegen
entry_rank: leutenant
```

## Instead

```yaml
role_id: codegen
entry_rank: lieutenant
```

## Known limits

The nearest ladder that lists ranks is the one an organization has. What a ladder says itself is compared with its own
ranks, or, where it lists none, with those of that ladder. Nothing is reported while a ladder could not be read.

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
from orgkernel.loading.sources import SourceDocument
from orgkernel.records.rank_ladder import RankLadder
from orgkernel.rules.references import Reference, find_undeclared, undeclared
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Ids in the place of a rank that are none."""
    if "rank_ladder" in view.records.incomplete:
        return
    ranks = tuple(rank.id for rank in view.records.ranks)
    unknown = [*find_undeclared(view, EdgeKind.STARTS_AT, known=ranks, also=_references(view.records))]
    for document in view.records.catalogs:
        if isinstance(document.record, RankLadder):
            own = tuple(rank.id for rank in document.record.ranks) or ranks
            unknown += [each for each in _of_ladder(document, document.record) if each.target not in own]
    yield from undeclared(unknown, "rank", lambda word: did_you_mean(word, ranks))


def _references(records: OrgRecords) -> Iterator[Reference]:
    for agent in records.agents.values():
        if agent.record.rank is not None:
            yield Reference(agent.place("rank"), "agent", agent.id, "starts at", agent.record.rank)
    for tool in records.tools.values():
        matrix = tool.record.rank_matrix
        for rank_id in matrix if isinstance(matrix, dict) else ():
            yield Reference(
                tool.place("rank_matrix", rank_id, key=True), "tool", tool.id, "gives a level to", rank_id
            )


def _of_ladder(document: SourceDocument, ladder: RankLadder) -> Iterator[Reference]:
    for rank_id in ladder.promotions:
        place = document.place("promotions", rank_id, key=True)
        yield Reference(place, "promotion", rank_id, "leads to", rank_id)
    for matrix_id, rows in ladder.matrices.items():
        for number, row in enumerate(rows):
            for rank_id in row.levels:
                place = document.place("matrices", matrix_id, number, "levels", rank_id, key=True)
                yield Reference(place, "matrix", f"{matrix_id}/{row.name}", "gives a level to", rank_id)


RULE = Rule("ORG401", "unknown-rank", Severity.ERROR, Scope.CATALOG, check)
