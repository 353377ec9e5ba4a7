"""The seal of an audit row. It shows that the row was written by a process that has the signing key.

A checkpoint is written a moment after the rows that it covers, so a process that is killed leaves rows after its last
checkpoint. Their digests alone prove nothing, because anyone can compute them. So each row ends with a seal: the
number of the
row that the last checkpoint named when it was written, and an HMAC of the row with the signing key. Only sealed rows are covered
by a later checkpoint (ADR 0008).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from typing import NamedTuple

_SEAL = re.compile(r',"seal":"([0-9]{1,18})\.([0-9a-f]{64})"\}')
_MAX_SEAL_LENGTH = len(',"seal":"."}') + 18 + 64


class ChainRow(NamedTuple):
    """The parts of a row that prove its place in its chain."""

    sequence: int
    previous: str
    digest: str
    body: str


def seal_body(
    key: bytes, previous: str, writer: str, stream: str, sequence: int, covered: int, entry: str
) -> str:
    """The body of a row: the JSON of its entry, with a seal as its last member.

    `covered` is the number of the row that the last checkpoint of the chain names.
    """
    mac = _compute_mac(key, previous, writer, stream, sequence, covered, entry)
    return f'{entry[:-1]},"seal":"{covered}.{mac}"}}'


def read_seal(keys: Iterable[bytes], writer: str, stream: str, row: ChainRow) -> int | None:
    """The number of the row that the last checkpoint named when this row was sealed. None without a valid seal."""
    start = row.body.rfind(',"seal":"', -_MAX_SEAL_LENGTH)
    match = _SEAL.fullmatch(row.body, start) if start > 0 else None
    if match is None:
        return None
    covered, entry = int(match[1]), f"{row.body[:start]}}}"
    for key in keys:
        mac = _compute_mac(key, row.previous, writer, stream, row.sequence, covered, entry)
        if hmac.compare_digest(mac, match[2]):
            return covered
    return None


def _compute_mac(
    key: bytes, previous: str, writer: str, stream: str, sequence: int, covered: int, entry: str
) -> str:
    text = f"audit row\n{previous}\n{writer}\n{stream}\n{sequence}\n{covered}\n{entry}"
    return hmac.digest(key, text.encode(), "sha256").hex()
