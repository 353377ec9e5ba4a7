"""How well sentences find their role in organizations of other trades, beside plain BM25 and an embedding model alone.

`python -m benchmarks.trades` prints the tables of `docs/benchmarks.md`. Each folder of `benchmarks/data/routing/trades` is an
organization as a user would declare it, and the file beside it has its labeled sentences: plain ones in declared words,
indirect ones, messages without a task, and negations. `tuned` was looked at while the ranking was changed; `held_out` was
only counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from benchmarks.routing import DATA, NOBODY
from orgkernel import Kernel
from orgkernel.decisions.dispatch.embedding import find_similar
from orgkernel.decisions.dispatch.role_texts import get_text_index, get_text_sources
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.word_vectors import WordVectors, find_word_vectors
from orgkernel.runtime.text_index import extract_content, rank_roles

TRADES = ("hotel", "clinic", "logistics", "coding")
LATER_TRADES = ("winery", "theater")
"""Written and measured when the ranking was done, so nearly all of their sentences are held out."""
PARTS = ("tuned", "held_out")


class Answer(NamedTuple):
    """The candidates of one way to rank, best first, and the role that takes the sentence."""

    candidates: Sequence[str]
    taker: str | None


Ranker = Callable[[str], Answer]


class Counts(NamedTuple):
    """How many sentences of one kind were answered how."""

    sentences: int = 0
    first: int = 0
    among_three: int = 0
    right: int = 0
    wrong: int = 0

    def add(self, other: Counts) -> Counts:
        """The counts of two sets of sentences together."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def open_view(trade: str) -> OrgView:
    """The organization of a trade."""
    view: OrgView = Kernel.open(DATA / "trades" / trade).organization(trade).snapshot.index
    return view


def read_sentences(trade: str) -> dict[str, dict[str, list[Any]]]:
    """The labeled sentences of a trade, by kind and part."""
    data: dict[str, dict[str, list[Any]]] = yaml.safe_load(
        (DATA / "trades" / f"{trade}.yaml").read_text("utf-8")
    )
    return data


def build_ranker(view: OrgView) -> Ranker:
    """The ranking of orgkernel, by words."""
    index = get_text_index(view)

    def rank(text: str) -> Answer:
        ranking = rank_roles(index, text)
        names = [index.roles[each.role] for each in ranking.ranked]
        return Answer(names, names[0] if ranking.outcome == "role" else None)

    return rank


def build_meaning_ranker(view: OrgView) -> Ranker:
    """The ranking of orgkernel with the embedding model of `orgkernel[meaning]`."""
    index, model = get_text_index(view), _get_model()

    def rank(text: str) -> Answer:
        ranking = rank_roles(index, text, similar=find_similar(view, text, model))
        names = [index.roles[each.role] for each in ranking.ranked]
        return Answer(names, names[0] if ranking.outcome == "role" else None)

    return rank


def build_embedder(view: OrgView) -> Ranker:
    """The embedding model alone. The most similar role always takes the sentence."""
    model = _get_model()

    def rank(text: str) -> Answer:
        similar = find_similar(view, text, model)
        names = [view.roles[each] for each in sorted(similar, key=lambda number: -similar[number])]
        return Answer(names, names[0] if names else None)

    return rank


def _get_model() -> WordVectors:
    model = find_word_vectors()
    if model is None:
        raise RuntimeError("the embedding model is not installed: `pip install 'orgkernel[meaning]'`")
    return model


def build_bm25(view: OrgView) -> Ranker:
    """Plain BM25 over the texts of each role as one document (k1 1.5, b 0.75). The best role always takes the sentence."""
    documents = {
        role_id: Counter(
            word for each in get_text_sources(view, role_id) for word in extract_content(each.text)
        )
        for role_id in view.roles
    }
    usual = sum(each.total() for each in documents.values()) / len(documents)
    spread = Counter(word for each in documents.values() for word in each)

    def rank(text: str) -> Answer:
        scores = {}
        for role_id, words in documents.items():
            length = 1.5 * (0.25 + 0.75 * words.total() / usual)
            scores[role_id] = sum(
                math.log(1 + (len(documents) - spread[word] + 0.5) / (spread[word] + 0.5))
                * words[word] * 2.5 / (words[word] + length)
                for word in extract_content(text)
            )  # fmt: skip
        names = [each for each in sorted(scores, key=lambda role_id: -scores[role_id]) if scores[each]]
        return Answer(names, names[0] if names else None)

    return rank


def count(rank: Ranker, kind: str, rows: Sequence[Any]) -> Counts:
    """Ask the sentences of one kind. A task without a role, or with the forbidden one, is counted as wrong."""
    total = Counts()
    for row in rows:
        if kind == "idle":
            answer = rank(row)
            total = total.add(Counts(1, 0, 0, answer.taker is None, answer.taker is not None))
            continue
        right, text = row[0], row[-1]
        answer = rank(text)
        wrong = answer.taker == row[1] if kind == "negated" else answer.taker not in (None, right)
        taken = answer.taker == (None if right == NOBODY else right)
        total = total.add(
            Counts(1, list(answer.candidates[:1]) == [right], right in answer.candidates[:3], taken, wrong)
        )
    return total


def measure(
    build: Callable[[OrgView], Ranker], trades: Sequence[str] = TRADES
) -> Iterator[tuple[str, str, str, Counts]]:
    """Trade, kind of sentences, part and counts."""
    for trade in trades:
        rank = build(open_view(trade))
        for kind, parts in read_sentences(trade).items():
            for part in PARTS:
                yield trade, kind, part, count(rank, kind, parts[part])


def sum_up(rows: Iterator[tuple[str, str, str, Counts]]) -> Mapping[tuple[str, str], Counts]:
    """The counts of all trades, by kind and part."""
    totals: dict[tuple[str, str], Counts] = {}
    for _, kind, part, counts in rows:
        totals[kind, part] = totals.get((kind, part), Counts()).add(counts)
    return totals


def render(rows: Mapping[str, Mapping[tuple[str, str], Counts]]) -> str:
    """The table of the documentation: each ranking, each kind of sentences."""
    lines = [
        "| ranking | sentences | number | first | among three | right | wrong |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, totals in rows.items():
        for (kind, part), each in sorted(
            totals.items(), key=lambda row: (row[0][1] != "held_out", row[0][0])
        ):
            shares = (f"{number / max(each.sentences, 1):.0%}" for number in each[1:])
            lines.append(
                f"| {name} | {kind}, {part.replace('_', ' ')} | {each.sentences} | {' | '.join(shares)} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Print the table, with the rankings whose packages are installed."""
    rankers = {"words": build_ranker, "plain BM25": build_bm25}
    if find_word_vectors() is not None:
        rankers = {"words": build_ranker, "words and meaning": build_meaning_ranker, "plain BM25": build_bm25, "the embedding model alone": build_embedder}  # fmt: skip
    for trades in (TRADES, LATER_TRADES):
        print(render({name: sum_up(measure(build, trades)) for name, build in rankers.items()}))


if __name__ == "__main__":
    main()
