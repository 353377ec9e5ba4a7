"""The port for a model of language that a caller brings: texts become vectors, and near vectors mean alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from orgkernel.decisions.dispatch.role_texts import sources_of
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

_FIELDS = frozenset(("name", "description", "example", "intent", "domain_description"))


class Embedder(Protocol):
    """Turns texts into vectors of one length. It is asked once about the roles, and once for each sentence."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text."""
        ...


@PerView
def _vectors(view: OrgView) -> dict[Embedder, list[Sequence[float]]]:
    """The vectors of the roles, by embedder."""
    return {}


def find_similar(view: OrgView, text: str, embedder: Embedder) -> dict[int, float]:
    """How near each role is to a text: the cosine of their vectors."""
    held = _vectors(view)
    if embedder not in held:
        texts = [
            ". ".join(each.text for each in sources_of(view, role_id) if each.field in _FIELDS)
            for role_id in view.roles
        ]
        held[embedder] = [_scaled(vector) for vector in embedder.embed(texts)]
    asked = _scaled(embedder.embed([text])[0])
    return {
        number: sum(a * b for a, b in zip(asked, vector, strict=True))
        for number, vector in enumerate(held[embedder])
    }


def _scaled(vector: Sequence[float]) -> Sequence[float]:
    length = math.sqrt(sum(each * each for each in vector)) or 1.0
    return [each / length for each in vector]
