"""The port for an embedding model that a caller supplies: it turns texts into vectors, close ones for similar meanings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from orgkernel.decisions.dispatch.role_texts import get_text_sources
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

_FIELDS = frozenset(("name", "description", "example", "intent", "domain_description"))


class Embedder(Protocol):
    """Turns texts into vectors of one length. It is called once for the roles, and once for each sentence."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text."""
        ...


@PerView
def _get_vectors(view: OrgView) -> dict[Embedder, list[Sequence[float]]]:
    """The vectors of the roles, cached by embedder."""
    return {}


def find_similar(view: OrgView, text: str, embedder: Embedder) -> dict[int, float]:
    """The similarity of each role to a text: the cosine of their vectors."""
    held = _get_vectors(view)
    if embedder not in held:
        texts = [
            ". ".join(each.text for each in get_text_sources(view, role_id) if each.field in _FIELDS)
            for role_id in view.roles
        ]
        held[embedder] = [_scale(vector) for vector in embedder.embed(texts)]
    query_vector = _scale(embedder.embed([text])[0])
    return {
        number: sum(a * b for a, b in zip(query_vector, vector, strict=True))
        for number, vector in enumerate(held[embedder])
    }


def _scale(vector: Sequence[float]) -> Sequence[float]:
    length = math.sqrt(sum(each * each for each in vector)) or 1.0
    return [each / length for each in vector]
