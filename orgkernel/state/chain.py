"""The chains of the audit: each row carries the digest of the previous row in the same chain of the same writer.

Every process writes its own chains, so writers need not wait for each other. A digest covers the place in the chain
and the body: the entry as canonical JSON, with a seal. Strings are masked and cut here, before anything is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Engine, Table, exists, insert, select

from orgkernel.decisions.evidence.state_records import (
    INPUT_DIGEST,
    AuditEntry,
    AuditKind,
    Stream,
    audit_id,
    get_stream,
)
from orgkernel.engines import is_on
from orgkernel.prepared_types import prepared
from orgkernel.runtime.secret_shapes import is_secret, masked, name_secrets
from orgkernel.state.checkpoints import Checkpoints, Head, HeadFile, Link
from orgkernel.state.database import translate_error
from orgkernel.state.engine.row_inserts import make_insert
from orgkernel.state.seals import ChainRow, read_seal, seal_body
from orgkernel.state.tables import (
    AuditValues,
    agent_identities,
    agent_service,
    agents,
    api_keys,
    audit,
    commissions,
    contract_records,
    file_claims,
    grants,
    handoffs,
    key_revocations,
    limit_uses,
    org_status,
    outcome_counts,
    personality_observations,
    qualification_results,
    requests,
    restrictions,
    skill_records,
    tool_locks,
)

GENESIS = "0" * 64
"""Digest before the first row of a chain."""
UNREADABLE = "unreadable"
"""The activity in the place of an entry that was changed and cannot be read."""
_UNREADABLE_REASON = "the row was changed and cannot be read; see `orgkernel audit verify`"
_MAX_LENGTH = 500
"""Maximum length of a string: PostgreSQL refuses longer index keys, and ids have at most 200 characters."""
_MAX_REASON_LENGTH = 4_000
_MAX_DEPTH = 8
_TEXTS = (
    "activity", "subject", "actor", "action", "resource", "code", "org_id", "relationship", "channel", "sender",
    "session", "record_id", "level", "snapshot",
)  # fmt: skip
_DIGEST = re.compile("[0-9a-f]{64}")
_ROW = re.compile("[0-9a-f]{12}:(?:decision|history):[0-9]{1,18}")
_KINDS = frozenset(get_args(AuditKind))
_canonical = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(prepared(AuditEntry)).decode
_AUDITED: tuple[Table, ...] = (
    agents, api_keys, grants, qualification_results, requests, restrictions, skill_records, tool_locks,
    agent_identities, agent_service, commissions, org_status, outcome_counts, personality_observations,
    contract_records, handoffs, file_claims, key_revocations,
    limit_uses,
)  # fmt: skip
"""Tables in which nothing changes without a row of the audit."""
_STREAMS: tuple[Stream, ...] = ("decision", "history")


def encode_entry(entry: AuditEntry) -> tuple[AuditEntry, str]:
    """The cleaned entry and its canonical JSON, which is the same for equal entries.

    Raises ValueError or TypeError for an invalid entry.
    """
    if entry.kind not in _KINDS or not isfinite(entry.at):
        raise ValueError(f"kind {entry.kind!r} at {entry.at}")
    texts = (
        entry.subject, entry.actor, entry.action, entry.resource, entry.code, entry.channel, entry.sender,
        entry.session, "" if _ROW.fullmatch(entry.record_id) else entry.record_id, entry.reason, entry.activity, entry.relationship, entry.org_id,
    )  # fmt: skip
    if not _is_clean(texts) or (entry.detail is not None and not _is_clean_call(entry.detail)):
        entry = _clean(entry)
    return entry, _canonical(entry).decode()


def decode_entry(body: str) -> AuditEntry:
    """Decode the entry in the body of a row. Raises ValueError if the row was changed."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"not an entry of the audit: {error}") from None


def build_unreadable_entry(at: object) -> AuditEntry:
    """The entry in the place of one that was changed and cannot be read, so that the other rows still can be."""
    is_time = isinstance(at, (int, float)) and isfinite(at)
    return AuditEntry("audit", float(at) if is_time else 0.0, UNREADABLE, reason=_UNREADABLE_REASON)  # type: ignore[arg-type]


def link(previous: str, writer: str, stream: str, sequence: int, body: str) -> str:
    """The digest of a row, over the previous digest, its place and its content."""
    return sha256(f"{previous}\n{writer}\n{stream}\n{sequence}\n{body}".encode()).hexdigest()


def clean_text(text: str, name: str = "", longest: int = _MAX_REASON_LENGTH) -> str:
    """A string that can be stored: secrets are replaced by their kind, NUL and lone surrogates are removed, and
    length is limited.
    """
    if not _is_plain(text):
        text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    # Cut well beyond the length first: the secrets found stay the same, and a text of megabytes costs nothing.
    text = text if len(text) <= 4 * longest else text[: 4 * longest] + "…"
    text = masked("a secret") if name and is_secret(text, name) else name_secrets(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


@lru_cache(maxsize=4_096)
def _is_clean(texts: tuple[str, ...]) -> bool:
    """Whether strings can be stored unchanged. The result is cached, because the same strings recur."""
    text = "\n".join(texts)
    if len(text) > _MAX_LENGTH or not _is_plain(text):
        return False
    # A suspected secret is often only a long name: then cleaning changes nothing and is not repeated.
    return name_secrets(text) == text or all(clean_text(each, longest=_MAX_LENGTH) == each for each in texts)


def _is_clean_call(detail: Mapping[str, Any]) -> bool:
    """Whether the detail of an entry about a call can be stored unchanged: a digest, which is not a secret, and a few names."""
    if not _DIGEST.fullmatch(str(detail.get(INPUT_DIGEST, ""))):
        return False
    rest = tuple((name, value) for name, value in detail.items() if name != INPUT_DIGEST)
    return all(isinstance(value, str) for _, value in rest) and _are_clean(rest)


@lru_cache(maxsize=4_096)
def _are_clean(named: tuple[tuple[str, str], ...]) -> bool:
    return bool(clean_value(dict(named)) == dict(named))


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
        name: clean_text(getattr(entry, name), longest=_MAX_LENGTH) for name in _TEXTS if name != "snapshot"
    }
    detail = None if entry.detail is None else clean_value(msgspec.to_builtins(entry.detail))
    return msgspec.structs.replace(entry, **texts, reason=clean_text(entry.reason), detail=detail)


def clean_value(value: Any, name: str = "", depth: int = 0) -> Any:
    """A JSON value that can be stored: every string in it cleaned, and its depth limited."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, str):
        return clean_text(value, name)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_value(each, str(key), depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(each, name, depth + 1) for each in value]
    return value


class Chains:
    """The chains of one writer. A writer and the ends of its chains are chosen when the first row is written."""

    def __init__(self, engine: Engine, folder: Checkpoints) -> None:
        self._folder = folder
        self._insert_rows = make_insert(engine) if is_on("row_inserts") else insert_plainly
        self._file: HeadFile | None = None
        self._key = b""
        self.open_rows: dict[Stream, tuple[int, int]] = {}
        """Rows after the last checkpoint that were there when the chains were resumed: the first and the last."""
        self.problem: Exception | None = None
        """Why a checkpoint could not be written although the rows are; None while all is well."""

    def resume(self, connection: Connection) -> dict[Stream, Link]:
        """Find the ends of this writer's chains in the table.

        Chains that were cut, or that contain rows without a valid seal, are not continued, because they are evidence.
        """
        signing, file, links = self._folder.signing, self._file, None
        if file is not None:
            links = find_ends(connection, signing.read_trusted(), file.writer, file.heads)
        if file is None or links is None:
            self.close()
            file, links = self._lease(connection)
            self._file = file
        signed = {stream: known.sequence for stream, known in file.heads.items()}
        self.open_rows = {
            stream: (signed.get(stream, 0) + 1, last.sequence)
            for stream, last in links.items()
            if last.sequence > signed.get(stream, 0)
        }
        self.read_key()
        return links

    def read_key(self) -> None:
        """Read the key that seals the next rows, which can have been replaced. Raises `BadStore`."""
        self._key = self._folder.signing.get()

    def _lease(self, connection: Connection) -> tuple[HeadFile, dict[Stream, Link]]:
        """Take over a writer that no running process uses, or begin a new one. Returns it with the ends of its chains."""
        ends_by_writer: dict[str, dict[Stream, Link] | None] = {}

        def is_continued(head: Head) -> bool:
            ends = find_ends(connection, self._folder.signing.read_trusted(), head.writer, head.heads)
            ends_by_writer[head.writer] = ends
            return ends is not None

        file = self._folder.lease(is_continued, lambda: is_audit_missing(connection))
        return file, ends_by_writer.get(file.writer) or {stream: Link(0, GENESIS) for stream in _STREAMS}

    def checkpoint(self, links: dict[Stream, Link]) -> None:
        assert self._file is not None
        try:
            self._file.write(links)
            self.problem = None
        except Exception as error:
            self.problem = translate_error(error, self._folder.path)

    def append(self, entry: AuditEntry, body: str, links: dict[Stream, Link], rows: list[AuditValues]) -> str:
        assert self._file is not None
        writer, stream = self._file.writer, get_stream(entry.kind)
        last = links[stream]
        sequence = last.sequence + 1
        covered = self._file.heads.get(stream)
        body = seal_body(
            self._key, last.digest, writer, stream, sequence, covered.sequence if covered else 0, body
        )
        digest = link(last.digest, writer, stream, sequence, body)
        links[stream] = Link(sequence, digest)
        rows.append(
            (
                writer, stream, sequence, last.digest, digest, entry.at, entry.kind, entry.activity, entry.subject,
                entry.channel, entry.relationship, entry.record_id, body,
            )
        )  # fmt: skip
        return audit_id(writer, stream, sequence)

    def insert(self, connection: Connection, rows: list[AuditValues]) -> None:
        """Write rows at once: there are many."""
        self._insert_rows(connection, rows)

    def close(self) -> None:
        """Release the writer, so that another process can continue its chains."""
        if self._file is not None:
            self._file.close()
            self._file = None


def is_audit_missing(connection: Connection) -> bool:
    """Whether there are records and no row of the audit, which nothing but a removal explains."""
    if connection.scalar(select(exists(select(audit)))):
        return False
    return any(connection.scalar(select(exists(select(table)))) for table in _AUDITED)


def insert_plainly(connection: Connection, rows: list[AuditValues]) -> None:
    """Insert rows as SQLAlchemy does."""
    connection.execute(insert(audit), [dict(zip(audit.columns.keys(), row, strict=True)) for row in rows])


def follow_sealed(
    keys: Sequence[bytes], writer: str, stream: str, start: Link, rows: Iterable[ChainRow]
) -> Link | None:
    """The end of the rows that follow a row. None if one of them is not sealed, or does not follow the one before."""
    end = start
    for row in rows:
        if row.sequence != end.sequence + 1 or row.previous != end.digest:
            return None
        if link(row.previous, writer, stream, row.sequence, row.body) != row.digest:
            return None
        if read_seal(keys, writer, stream, row) is None:
            return None
        end = Link(row.sequence, row.digest)
    return end


def find_ends(
    connection: Connection, keys: Sequence[bytes], writer: str, heads: Mapping[Stream, Link]
) -> dict[Stream, Link] | None:
    """The last rows of the chains of a writer, from a checkpoint on. None if a row is missing or not proven."""
    ends: dict[Stream, Link] = {}
    for stream in _STREAMS:
        known = heads.get(stream, Link(0, GENESIS))
        if known.sequence and _read_link(connection, writer, stream, known.sequence) != known:
            return None
        end = follow_sealed(
            keys, writer, stream, known, _read_after(connection, writer, stream, known.sequence)
        )
        if end is None:
            return None
        ends[stream] = end
    return ends


def _read_link(connection: Connection, writer: str, stream: Stream, sequence: int) -> Link | None:
    where = (audit.c.writer == writer, audit.c.stream == stream, audit.c.sequence == sequence)
    digest = connection.scalar(select(audit.c.digest).where(*where))
    return None if digest is None else Link(sequence, digest)


def _read_after(connection: Connection, writer: str, stream: Stream, sequence: int) -> Iterator[ChainRow]:
    where = (audit.c.writer == writer, audit.c.stream == stream, audit.c.sequence > sequence)
    columns = (audit.c.sequence, audit.c.previous, audit.c.digest, audit.c.body)
    for row in connection.execute(select(*columns).where(*where).order_by(audit.c.sequence)):
        yield ChainRow(*row)


def read_last_link(connection: Connection, writer: str, stream: Stream) -> Link:
    """The last row of a chain in the table."""
    where = (audit.c.writer == writer, audit.c.stream == stream)
    row = connection.execute(
        select(audit.c.sequence, audit.c.digest).where(*where).order_by(audit.c.sequence.desc()).limit(1)
    ).first()
    return Link(0, GENESIS) if row is None else Link(row.sequence, row.digest)
