"""Shared code of stores: read and change rows, and convert records to rows and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, Select, Table, select

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.diagnostics.wording import did_you_mean, listing, printable, quote
from orgkernel.errors import BadStore, Refused, UnknownRecord
from orgkernel.prepared_types import prepared
from orgkernel.state.chain import clean_text
from orgkernel.state.database import open_for_reading
from orgkernel.state.known_claims import KnownClaims
from orgkernel.state.schema_version import require_newest_to_read
from orgkernel.state.signing import Tokens
from orgkernel.state.writer import Transaction, Writer

T = TypeVar("T")
_JSON = frozenset(
    {
        "resources",
        "waives",
        "scopes",
        "context",
        "body",
        "digests",
        "skills",
        "tools",
        "paths",
        "obligations",
        "org_ids",
        "approved_by",
        "approvals",
    }
)
_MAX_ID_LENGTH = 200
_DIGEST = re.compile("[0-9a-f]{64}")
_SNAPSHOT = re.compile("sha256:[0-9a-f]{64}")
_FURTHEST = 1e11
"""Seconds: some three thousand years."""


@dataclass(frozen=True, slots=True)
class StoreContext:
    """An open store, as each of its parts sees it."""

    engine: Engine
    shown: str
    writer: Writer
    clock: Callable[[], float]
    tokens: Tokens
    right: Mapping[str, str] | None = None
    """The right by which the actor acts, for audit rows that name an actor."""
    claims: KnownClaims = field(default_factory=KnownClaims)
    """The index of claims that changes use."""

    def change(self, change: Callable[[Transaction], T]) -> T:
        """Run a change and wait until it is on the disk. Raises the errors of the change."""
        answer: T = self.writer.submit(partial(_change_by_right, change, self.right)).result()
        return answer

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one moment, of a store of this program's version. Raises `OtherStoreVersion`."""
        return _open_fenced(self.engine, self.shown)

    def read(self, kind: type[T], query: Select[Any]) -> tuple[T, ...]:
        """The rows that a query finds at one moment, as records."""
        with self.reading() as connection:
            return tuple(decode_record(kind, row) for row in connection.execute(query))

    def find(self, kind: type[T], query: Select[Any]) -> T | None:
        """The first row that a query finds, as a record."""
        return next(iter(self.read(kind, query)), None)

    def new_id(self, kind: str) -> str:
        """A new unique id: its kind in a letter or two, and 48 random bits."""
        return f"{kind}-{self.tokens(6).hex()}"


@contextmanager
def _open_fenced(engine: Engine, shown: str) -> Iterator[Connection]:
    with open_for_reading(engine, shown) as connection:
        require_newest_to_read(connection, shown)
        yield connection


def _change_by_right(
    change: Callable[[Transaction], T], right: Mapping[str, str] | None, transaction: Transaction
) -> T:
    """Run a change whose audit rows record the right of the actor."""
    if right is None:
        return change(transaction)
    plain = transaction.audit

    def append(entry: AuditEntry) -> str:
        if entry.actor:
            entry = msgspec.structs.replace(entry, detail={**(entry.detail or {}), **right})
        return plain(entry)

    transaction.audit = append
    try:
        return change(transaction)
    finally:
        transaction.audit = plain


def encode_row(record: msgspec.Struct) -> dict[str, Any]:
    """A record as the values of its columns."""
    return {
        name: None if value is None else msgspec.json.encode(value).decode() if name in _JSON else value
        for name, value in msgspec.structs.asdict(record).items()
    }


def decode_record(kind: type[T], row: Any) -> T:
    """A row as the record it was; columns the record does not have are left out, and fields without a column computed later.

    Raises `BadStore` for a row that another program changed such that it cannot be read.
    """
    mapping: Mapping[str, Any] = row._mapping
    try:
        return msgspec.convert(
            {
                name: msgspec.json.decode(mapping[name])
                if name in _JSON and mapping[name] is not None
                else mapping[name]
                for name in kind.__struct_fields__  # type: ignore[attr-defined]
                if name in mapping
            },
            prepared(kind),
        )
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise BadStore(
            f"a `{kind.__name__}` in the store was changed and cannot be read: {printable(str(error))}",
            "restore a backup, or correct the row",
        ) from None


def group_rows(rows: Iterable[T], column: str) -> dict[str, tuple[T, ...]]:
    """Group rows or records by the value of a column, in order."""
    rows_by_value: dict[str, list[T]] = {}
    for row in rows:
        rows_by_value.setdefault(getattr(row, column), []).append(row)
    return {value: tuple(each) for value, each in rows_by_value.items()}


def require_record(
    transaction: Transaction, kind: type[T], table: Table, record_id: str, what: str, help: str
) -> T:
    """Within a change: the record with an id. Raises `UnknownRecord` with its kind and a help."""
    (key,) = table.primary_key
    row = transaction.connection.execute(select(table).where(key == record_id)).first()
    if row is None:
        raise UnknownRecord(f"there is no {what} {quote(record_id)}", help)
    return decode_record(kind, row)


def clean_record(record: T) -> T:
    """A record whose strings can be stored: secrets masked, and characters removed that a database refuses."""
    texts = {
        name: clean_text(value)
        for name, value in msgspec.structs.asdict(record).items()  # type: ignore[arg-type]
        if isinstance(value, str)
    }
    return msgspec.structs.replace(record, **texts)  # type: ignore[type-var]


def require_time(what: str, seconds: float | None) -> float | None:
    """A valid time or number of seconds, or None. Raises `Refused`, because NaN would be stored as "never"."""
    if seconds is not None and not abs(seconds) < _FURTHEST:
        raise Refused(f"{what} {quote(seconds)} is not a valid time", code="BAD_VALUE")
    return seconds


def require_id(what: str, text: str) -> str:
    """An id that can be stored. Raises `Refused`."""
    if not 0 < len(text) <= _MAX_ID_LENGTH or not _is_storable(text):
        raise Refused(
            f"{what} {quote(text)} cannot be stored",
            f"it has 1 to {_MAX_ID_LENGTH} printable characters, and must not look like a secret",
            code="BAD_VALUE",
        )
    return text


@lru_cache(maxsize=4_096)
def _is_storable(text: str) -> bool:
    """Whether an id can be stored and shown unchanged. The result is cached, because ids recur."""
    return text.isprintable() and clean_text(text) == text


def require_reference(what: str, text: str, kinds: Collection[str]) -> str:
    """A string such as `agent:ID` of one of the given kinds. Raises `Refused`."""
    kind, colon, name = text.partition(":")
    if not colon or not name or kind not in kinds:
        help = did_you_mean(kind, kinds) if colon else ""
        raise Refused(
            f"{what} {quote(text)} has an unknown kind",
            help or f"write it as `KIND:ID`; kinds are {listing(kinds)}",
            code="BAD_VALUE",
        )
    return require_id(what, text)


def require_bound(action: str | None, input_digest: str | None, snapshot: str | None = None) -> None:
    """Whether the action, the input and the snapshot that something is bound to can be stored; raises `Refused`."""
    if action is not None:
        require_id("the action", action)
    if input_digest is not None and not _DIGEST.fullmatch(input_digest):
        raise Refused(
            f"{quote(input_digest)} is not a digest",
            "write the SHA-256 as 64 hexadecimal digits",
            "BAD_VALUE",
        )
    if snapshot is not None and not _SNAPSHOT.fullmatch(snapshot):
        raise Refused(
            f"{quote(snapshot)} is not the digest of a snapshot",
            "write it as every answer names it: `sha256:` and 64 hexadecimal digits",
            "BAD_VALUE",
        )


def require_word(what: str, word: str, known: Collection[str]) -> str:
    """One of some words; raises `Refused`."""
    if word not in known:
        help = did_you_mean(word, known) or f"it must be one of {listing(known)}"
        raise Refused(f"{what} {quote(word)} is not known", help, code="BAD_VALUE")
    return word
