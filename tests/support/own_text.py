"""Finding the texts of ours that another text carries."""

from __future__ import annotations

import re

from orgkernel.runtime.own_text import MARK, strip_own_text

_MARKED = re.compile(re.escape(MARK) + r"\s+.*?\s+\[([0-9a-f]{8})\]", re.DOTALL)


def find_own_text(text: str) -> tuple[str, ...]:
    """The fingerprints of all our texts within a text, in order: of what is taken out of it before it is used."""
    return tuple(match[1] for match in _MARKED.finditer(text) if not strip_own_text(match[0]))
