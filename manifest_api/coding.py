"""Content codings: which of them a client takes, and an answer in one of them (RFC 9110 §8.4, §12.5.3)."""

from __future__ import annotations

import gzip
import re

IDENTITY, GZIP = "identity", "gzip"
# Below this many bytes a compressed answer saves no packet.
LEAST_BYTES = 1_024
_LEVEL = 3

_ITEM = re.compile(r"\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*(?:;\s*[qQ]\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?")


def choose_coding(accepted: str) -> str:
    """The coding to answer in, by the value of Accept-Encoding; what cannot be understood is not accepted.

    >>> [choose_coding(each) for each in ("", "gzip, br", "gzip;q=0, *", "*", "identity, gzip;q=0.5")]
    ['identity', 'gzip', 'identity', 'gzip', 'identity']
    """
    weights: dict[str, float] = {}
    for item in accepted.split(","):
        match = _ITEM.fullmatch(item)
        if match is not None:
            name = match[1].lower().removeprefix("x-")
            weights.setdefault(name, float(match[2] or 1))
    compressed = weights.get(GZIP, weights.get("*", 0.0))
    return GZIP if compressed > 0 and compressed >= weights.get(IDENTITY, 0.0) else IDENTITY


def compress(body: bytes) -> bytes:
    """A body in gzip: the same bytes for the same body, whenever it is asked for."""
    return gzip.compress(body, _LEVEL, mtime=0)
