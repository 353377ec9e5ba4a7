"""The port for an embedding model: it turns texts into vectors, close ones for similar meanings.

A caller can supply a model, and `orgkernel[meaning]` brings one that needs no network (`orgkernel.kernel.word_vectors`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from operator import itemgetter
from statistics import fmean
from typing import Any, Protocol, runtime_checkable

from orgkernel.decisions.dispatch.role_texts import find_sources
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

_FIELDS = frozenset(
    (
        "name",
        "description",
        "example",
        "intent",
        "cognitive_skill",
        "domain_name",
        "domain_description",
        "domain_trigger",
        "domain_example",
    )
)
_NEAREST = 3
_MAX_TEXTS = 40
"""Per role, the strongest kinds first: a catalog can have hundreds of examples."""
_DEVIATIONS = 2.0
"""The number of standard deviations above the average role at which a role is as similar as can be."""


class Embedder(Protocol):
    """Turns texts into vectors of one length. It is called once for the roles, and once for each sentence."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text."""
        ...


@runtime_checkable
class ComparingEmbedder(Embedder, Protocol):
    """An embedder that also compares, faster than plain Python."""

    def build_table(self, texts: Sequence[str], sizes: Sequence[int]) -> Any:
        """A table of groups of texts. `sizes` are the numbers of texts of the groups, which follow each other."""
        ...

    def compare(self, text: str, table: Any) -> Sequence[float]:
        """The similarity of a text to each group, as `compare_groups` computes it."""
        ...


@PerView
def _get_tables(view: OrgView) -> dict[Embedder, Any]:
    """An empty table, made once for each view, that `find_similar` fills with the vectors of the roles by embedder."""
    return {}


def find_similar(view: OrgView, text: str, embedder: Embedder) -> dict[int, float]:
    """How similar each role is to a text: 0 for the average role of the organization, 1 for one that stands out.

    The values depend on the other roles and not on the scale of the model, so one weight serves all models.
    """
    if not view.roles:
        return {}
    tables = _get_tables(view)
    if isinstance(embedder, ComparingEmbedder):
        if embedder not in tables:
            tables[embedder] = embedder.build_table(*_list_texts(view))
        similarities = embedder.compare(text, tables[embedder])
    else:
        if embedder not in tables:
            texts, sizes = _list_texts(view)
            tables[embedder] = embedder.embed(texts), sizes
        similarities = compare_groups(embedder.embed([text])[0], *tables[embedder])
    average = fmean(similarities)
    # `statistics.pstdev` counts in fractions, which takes longer than the comparison itself.
    deviation = math.sqrt(fmean([(each - average) ** 2 for each in similarities]))
    # Models differ in how similar unrelated texts are, so only the distance from the average role is meaningful.
    if deviation < 1e-6:
        return {}
    shares = ((each - average) / (_DEVIATIONS * deviation) for each in similarities)
    return {number: min(share, 1.0) for number, share in enumerate(shares) if share > 0}


def _list_texts(view: OrgView) -> tuple[list[str], list[int]]:
    """For each role its texts as one, then each of them, and how many these are."""
    texts: list[str] = []
    sizes: list[int] = []
    for role_id in view.roles:
        sources = (each for each in find_sources(view, role_id) if each.field in _FIELDS)
        own = [each.text.replace("_", " ") for each in islice(sources, _MAX_TEXTS)]
        texts += [". ".join(own), *own]
        sizes.append(len(own) + 1)
    return texts, sizes


def compare_groups(
    vector: Sequence[float], others: Sequence[Sequence[float]], groups: Sequence[int]
) -> list[float]:
    """The similarity of a vector to each group: the mean of the cosine with its first vector, which is for all texts of a
    role, and of the three nearest others.
    """
    length = _compute_length(vector)
    cosines = [
        sum(a * b for a, b in zip(vector, other, strict=True)) / (length * _compute_length(other))
        for other in others
    ]
    owners = (owner for owner, size in enumerate(groups) for _ in range(size))
    return [
        _average_nearest([cosine for _, cosine in pairs])
        for _, pairs in groupby(zip(owners, cosines, strict=True), key=itemgetter(0))
    ]


def _average_nearest(cosines: Sequence[float]) -> float:
    nearest: Iterable[float] = sorted(cosines[1:] or cosines, reverse=True)[:_NEAREST]
    return (cosines[0] + fmean(nearest)) / 2


def _compute_length(vector: Sequence[float]) -> float:
    return math.sqrt(sum(each * each for each in vector)) or 1.0
