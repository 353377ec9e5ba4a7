"""Which coding a client gets, for every way it can ask."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manifest_api.answering import compress
from manifest_api.guards.request_head import GZIP, IDENTITY, choose_coding


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", IDENTITY), ("gzip", GZIP), ("GZIP", GZIP), ("x-gzip", GZIP), ("br, gzip", GZIP), ("br", IDENTITY),
        ("gzip;q=0", IDENTITY), ("gzip;q=0.0", IDENTITY), ("gzip; q=0.001", GZIP), ("*", GZIP), ("*;q=0", IDENTITY),
        ("gzip;q=0, *", IDENTITY), ("identity", IDENTITY), ("identity, gzip;q=0.5", IDENTITY), ("identity;q=0.5, gzip", GZIP),
        ("identity, gzip", GZIP), ("gzip;q=2", IDENTITY), ("gzip;q=x", IDENTITY), ("gzip gzip", IDENTITY), (",,gzip,", GZIP),
        ("gzip;q=1;x=2", IDENTITY), ("deflate, compress", IDENTITY),
    ],
)  # fmt: skip
def test_choice(accepted: str, coding: str) -> None:
    """Gzip where it is accepted and not less wanted than the plain answer; anything not understood is not accepted."""
    assert choose_coding(accepted) == coding


@given(st.text(alphabet="gzip*;q=01., \tx-é", max_size=80))
def test_nothing_raises_and_gzip_is_asked_for(accepted: str) -> None:
    """No header value raises an error, and gzip is chosen only if the header accepts it."""
    if choose_coding(accepted) == GZIP:
        assert "gzip" in accepted or "*" in accepted


@given(st.binary(max_size=3000))
def test_compressed_bytes_are_the_same_every_time(body: bytes) -> None:
    """So that a tag stands for the same bytes on every machine and day."""
    assert compress(body) == compress(body)
    assert gzip.decompress(compress(body)) == body
