"""Content codings: which of them a client takes, and an answer in one of them (RFC 9110 §8.4, §12.5.3)."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache

IDENTITY, GZIP = "identity", "gzip"
# Below this many bytes a compressed answer saves no packet.
LEAST_BYTES = 1_024
_LEVEL = 5
_LONGEST_KNOWN = 200

_ITEM = re.compile(r"\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*(?:;\s*[qQ]\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?")


def choose_coding(accepted: bytes) -> str:
    """The coding to answer in, by the value of Accept-Encoding; what cannot be understood is not accepted.

    >>> [choose_coding(each) for each in (b"", b"gzip, br", b"gzip;q=0, *", b"*", b"identity, gzip;q=0.5")]
    ['identity', 'gzip', 'identity', 'gzip', 'identity']
    """
    if not accepted:
        return IDENTITY
    # Clients have few ways to say this; whoever makes up many long ones may not fill the memory with them.
    return _choose_known(accepted) if len(accepted) <= _LONGEST_KNOWN else _choose(accepted)


def _choose(accepted: bytes) -> str:
    weights: dict[str, float] = {}
    for item in accepted.decode("latin-1").split(","):
        match = _ITEM.fullmatch(item)
        if match is not None:
            name = match[1].lower().removeprefix("x-")
            weights.setdefault(name, float(match[2] or 1))
    compressed = weights.get(GZIP, weights.get("*", 0.0))
    return GZIP if compressed > 0 and compressed >= weights.get(IDENTITY, 0.0) else IDENTITY


_choose_known = lru_cache(maxsize=256)(_choose)


def compress(body: bytes) -> bytes:
    """A body in gzip: the same bytes for the same body, whenever it is asked for."""
    return gzip.compress(body, _LEVEL, mtime=0)
