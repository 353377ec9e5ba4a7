"""A document names a rank that the ladder does not have.

## What it checks

Every rank that a document names is a rank of the ladder that the organization sees. This covers the `entry_rank` of a
role, the starting rank of an agent, the ranks in a tool's `rank_matrix`, and the ranks in the matrices and promotions of a
ladder.

## Why it matters

An unknown rank grants no access. A matrix entry for it never applies, and an agent that starts at it has no rank at
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

The ranks of an organization are those of the first ladder with ranks, from its own folder upward. The matrices and
promotions of a ladder are compared with the ranks of the same ladder. If that ladder lists none, they are compared with
the ranks of the organization. Nothing is reported while a ladder could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.documents.records import RankLadder
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as ranks."""
    if "rank_ladder" in view.records.incomplete:
        return
    ranks = tuple(rank.id for rank in view.records.ranks)
    unknown = [
        *find_undeclared(view, EdgeKind.STARTS_AT, known=ranks, also=_iterate_references(view.records))
    ]
    for document in view.records.catalogs:
        if isinstance(document.record, RankLadder):
            own = tuple(rank.id for rank in document.record.ranks) or ranks
            unknown += [
                each
                for each in _iterate_ladder_references(document, document.record)
                if each.target not in own
            ]
    yield from report_undeclared(unknown, "rank", lambda word: did_you_mean(word, ranks))


def _iterate_references(records: OrgRecords) -> Iterator[Reference]:
    for agent in records.agents.values():
        if agent.record.rank is not None:
            yield Reference(agent.place("rank"), "agent", agent.id, "starts at", agent.record.rank)
    for tool in records.tools.values():
        matrix = tool.record.rank_matrix
        for rank_id in matrix if isinstance(matrix, dict) else ():
            yield Reference(
                tool.place("rank_matrix", rank_id, key=True), "tool", tool.id, "gives a level to", rank_id
            )


def _iterate_ladder_references(document: SourceDocument, ladder: RankLadder) -> Iterator[Reference]:
    for rank_id in ladder.promotions:
        place = document.place("promotions", rank_id, key=True)
        yield Reference(place, "promotion", rank_id, "leads to", rank_id)
    for matrix_id, rows in ladder.matrices.items():
        for number, row in enumerate(rows):
            for rank_id in row.levels:
                place = document.place("matrices", matrix_id, number, "levels", rank_id, key=True)
                yield Reference(place, "matrix", f"{matrix_id}/{row.name}", "gives a level to", rank_id)


RULE = Rule("ORG401", "unknown-rank", Severity.ERROR, RuleTarget.CATALOG, check)
