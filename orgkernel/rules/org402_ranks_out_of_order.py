"""A ladder's ranks are not in the order of the trust they take.

## What it checks

A ladder lists each rank once, lowest first, and each takes at least as much trust (`trust_from`) as the one below.

## Why it matters

An agent's rank follows from its trust. Where a higher rank takes less trust than a lower one, gaining trust costs
rank, and the lower rank can never be held.

## Example

```yaml
ranks:
  - {id: junior, trust_from: 0.6}
  - {id: senior, trust_from: 0.3}
```

## Instead

```yaml
ranks:
  - {id: junior, trust_from: 0.3}
  - {id: senior, trust_from: 0.6}
```

## Known limits

Two ranks may take the same trust; then only the higher one is ever computed.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument
from orgkernel.records.rank_ladder import Rank, RankLadder
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Ranks that are listed again, or take less trust than the one below."""
    for document in view.records.catalogs:
        if isinstance(document.record, RankLadder):
            yield from _of_ladder(document, document.record.ranks)


def _of_ladder(document: SourceDocument, ranks: tuple[Rank, ...]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, rank in enumerate(ranks):
        if rank.id in first:
            yield Finding(
                document.place("ranks", number, "id"),
                f"rank {quote(rank.id)} is listed again",
                "give each rank an id of its own",
                f"rank:{rank.id}",
                (Related(document.place("ranks", first[rank.id], "id"), "listed first here"),),
            )
        first.setdefault(rank.id, number)
    for number, (lower, higher) in enumerate(pairwise(ranks)):
        if higher.trust_from < lower.trust_from:
            yield Finding(
                document.place("ranks", number + 1, "trust_from"),
                f"rank {quote(higher.id)} takes trust {higher.trust_from:g}, "
                f"less than {lower.trust_from:g} of {quote(lower.id)} below it",
                "list ranks lowest first, with trust that rises",
                f"rank:{higher.id}",
            )


RULE = Rule("ORG402", "ranks-out-of-order", Severity.ERROR, Scope.CATALOG, check)
