"""The words that the file of an agent lists: they are kept beside its record, as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from orgkernel.loading.sources import SourceDocument, unpack_unknown

# They are asked for several times, of one agent after the other, and many agents list the same.
_KEPT = 4096


def words_in(document: SourceDocument) -> Mapping[str, Sequence[str]]:
    """Field to the words of its list, for the lists that the file writes."""
    return _unpacked(document.packed.unknown)


@lru_cache(_KEPT)
def _unpacked(unknown: bytes) -> Mapping[str, Sequence[str]]:
    return {str(route[0]): words for route, words in unpack_unknown(unknown)}
