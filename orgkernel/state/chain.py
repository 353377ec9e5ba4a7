"""The chain of the audit: each row carries the digest of the row before it in the same chain of the same writer.

Every process writes chains of its own, so that writers need not wait for each other; a digest covers the place in the
chain and the entry as canonical JSON. Texts are masked and cut here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, get_args

import msgspec

from orgkernel.decisions.state_records import AuditEntry, AuditKind
from orgkernel.runtime.secret_shapes import find_secrets, mask_secrets, may_hold_secrets

GENESIS = "0" * 64
"""What stands before the first row of a chain."""
_LONGEST = 500
"""Characters of one text: PostgreSQL refuses longer keys in an index, and ids have at most 200."""
_LONGEST_REASON = 4_000
_DEEPEST = 8
_TEXTS = (
    "activity", "subject", "actor", "action", "resource", "code", "org_id", "relationship", "channel", "sender",
    "session", "record_id", "level", "snapshot",
)  # fmt: skip
_KINDS = frozenset(get_args(AuditKind))
_canonical = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(AuditEntry).decode


def encode_entry(entry: AuditEntry) -> tuple[AuditEntry, str]:
    """The entry as it may be written, and its canonical JSON: the same entry gives the same text everywhere.

    Raises ValueError or TypeError for what is no entry.
    """
    if entry.kind not in _KINDS or not isfinite(entry.at):
        raise ValueError(f"kind {entry.kind!r} at {entry.at}")
    said = (
        entry.subject, entry.actor, entry.action, entry.resource, entry.code, entry.channel, entry.sender,
        entry.session, entry.record_id, entry.reason, entry.activity, entry.relationship, entry.org_id,
    )  # fmt: skip
    if entry.detail is not None or not _is_clean(said):
        entry = _clean(entry)
    return entry, _canonical(entry).decode()


def decode_entry(body: str) -> AuditEntry:
    """The entry of a row; raises msgspec.ValidationError or DecodeError when the row was tampered with."""
    return _decode(body)


def link(previous: str, writer: str, stream: str, sequence: int, body: str) -> str:
    """The digest of a row: over what stands before it, its place, and what it says."""
    return sha256(f"{previous}\n{writer}\n{stream}\n{sequence}\n{body}".encode()).hexdigest()


def clean_text(text: str, name: str = "", longest: int = _LONGEST_REASON) -> str:
    """A text as it may be stored: secrets masked, no NUL and no lone surrogates, not longer than allowed."""
    if not _is_plain(text):
        text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return "…" if name and any(find_secrets(text, name)) else mask_secrets(text)


@lru_cache(maxsize=4_096)
def _is_clean(texts: tuple[str, ...]) -> bool:
    """Whether texts can be written as they are; the same ones come again and again."""
    said = "\n".join(texts)
    if len(said) > _LONGEST or not _is_plain(said):
        return False
    # What might be a secret is often only a long name: then cleaning changes nothing, and need not be done again.
    return not may_hold_secrets(said) or all(clean_text(each, longest=_LONGEST) == each for each in texts)


def _is_plain(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _clean(entry: AuditEntry) -> AuditEntry:
    texts = {
        name: clean_text(getattr(entry, name), longest=_LONGEST) for name in _TEXTS if name != "snapshot"
    }
    detail = None if entry.detail is None else clean_value(msgspec.to_builtins(entry.detail))
    return msgspec.structs.replace(entry, **texts, reason=clean_text(entry.reason), detail=detail)


def clean_value(value: Any, name: str = "", depth: int = 0) -> Any:
    """A value of JSON as it may be stored: every text in it cleaned, not nested deeper than is of use."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, str):
        return clean_text(value, name)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_value(each, str(key), depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(each, name, depth + 1) for each in value]
    return value
