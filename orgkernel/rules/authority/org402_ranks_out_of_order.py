"""A ladder does not list its ranks in the order of the trust they require.

## What it checks

A ladder lists each rank once, lowest first. Each rank requires at least as much trust (`trust_from`) as the one below.

## Why it matters

An agent's rank follows from its trust. If a higher rank requires less trust than a lower one, no agent can ever have the
lower rank.

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

Two ranks can require the same trust. Agents then only ever get the higher one.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Rank, RankLadder
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Ranks that are listed more than once, or require less trust than the rank below."""
    for document in view.records.catalogs:
        if isinstance(document.record, RankLadder):
            yield from _check_ladder(document, document.record.ranks)


def _check_ladder(document: SourceDocument, ranks: tuple[Rank, ...]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, rank in enumerate(ranks):
        if rank.id in first:
            yield Finding(
                document.place("ranks", number, "id"),
                f"rank {quote(rank.id)} is listed more than once",
                "give each rank a unique id",
                f"rank:{rank.id}",
                (Related(document.place("ranks", first[rank.id], "id"), "the first entry"),),
            )
        first.setdefault(rank.id, number)
    for number, (lower, higher) in enumerate(pairwise(ranks)):
        if higher.trust_from < lower.trust_from:
            yield Finding(
                document.place("ranks", number + 1, "trust_from"),
                f"rank {quote(higher.id)} requires trust {higher.trust_from:g}, "
                f"less than the {lower.trust_from:g} of rank {quote(lower.id)} below it",
                "list the ranks lowest first, in the order of their `trust_from`",
                f"rank:{higher.id}",
            )


RULE = Rule("ORG402", "ranks-out-of-order", Severity.ERROR, RuleTarget.CATALOG, check)
