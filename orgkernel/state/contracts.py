"""Contracts that were stored: each one once, in the order in which they came, chained, never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Select, insert, select

from orgkernel.decisions.evidence.state_records import AuditEntry, ContractRecord, HandoffRecord
from orgkernel.decisions.work.contracts.coherence import find_open_blockers, is_about_blockers
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, Conflict, Refused
from orgkernel.state.chain import GENESIS, clean_value, link
from orgkernel.state.claims import release_session
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id
from orgkernel.state.tables import contract_records
from orgkernel.state.writer import Transaction

MAX_CONTRACT_BYTES = 256 * 1024
"""Maximum size of a contract as JSON, in bytes."""
ENDING = ("result", "mission_close")
"""Kinds of which a session has one."""
_CHAIN = "contracts"
_canonical = msgspec.json.Encoder(order="deterministic").encode


class ContractBinding(NamedTuple):
    """What a contract is bound to while it is stored."""

    handoff: HandoffRecord | None = None
    """The hand-off that it belongs to."""
    changes: Mapping[str, Any] = MappingProxyType({})
    """Fields that are stored with other values than the writer stated."""


class WantedContract:
    """A contract to store. Raises `Refused` if it cannot be stored."""

    def __init__(self, kind: str, body: Mapping[str, Any], new_id: Callable[[], str]) -> None:
        self.kind = kind
        self.body = clean_value(dict(body))
        self.record_id: str = self.body.get("id") or new_id()
        self.body["id"] = self.record_id
        require_id("the id", self.record_id)
        self.session: str | None = self.body.get("session")
        if self.session is not None:
            require_id("the session", self.session)
        if len(_canonical(self.body)) > MAX_CONTRACT_BYTES:
            raise Refused(
                f"the contract has more than {MAX_CONTRACT_BYTES // 1024} KiB",
                "leave the output out",
                "BAD_VALUE",
            )

    def is_stored_as(self, record: ContractRecord) -> bool:
        """Whether a stored contract has the same content."""
        return record.kind == self.kind and _canonical(record.body) == _canonical(self.body)

    def store(
        self,
        transaction: Transaction,
        org_id: str,
        bind: Callable[[ContractRows], ContractBinding],
        actor: str,
    ) -> ContractRecord:
        """Within a change: store it. Raises `Conflict`, and what `bind` raises."""
        rows, kind, session, record_id = (
            ContractRows(transaction, org_id),
            self.kind,
            self.session,
            self.record_id,
        )
        ends = session if kind in ENDING else None
        if ends is not None and (known := rows.get_end(ends)) is not None:
            raise Conflict(
                f"session {quote(ends)} has the result {quote(known.record_id)}",
                "store a correction that names it",
                code="DONE_DUPLICATE",
            )
        if rows.find(record_id) is not None:
            raise Conflict(
                f"the contract {quote(record_id)} is already stored",
                "contracts are never changed",
                code="CONTRACT_EXISTS",
            )
        handoff, changes = bind(rows)
        stated = {name: self.body.get(name) for name in changes}
        body = {**self.body, **changes}
        last = rows.last()
        sequence = 1 if last is None else last.sequence + 1
        previous = GENESIS if last is None else last.digest
        brief_id = self.body.get("brief") or (None if handoff is None else handoff.brief)
        record = ContractRecord(
            org_id=org_id, sequence=sequence, kind=kind, record_id=record_id, brief_id=brief_id,
            session=session, at=transaction.now, actor=actor, previous=previous, digest="", body=body,
            handoff_id=None if handoff is None else handoff.handoff_id,
        )  # fmt: skip
        record = msgspec.structs.replace(record, digest=_compute_digest(record))
        version = transaction.touch() if ends is not None or is_about_blockers(record) else 0
        values = {**encode_row(record), "ends": ends, "version": version}
        transaction.connection.execute(insert(contract_records).values(**values))
        transaction.audit(
            AuditEntry(
                "contract", transaction.now, "recorded", subject=f"contract:{kind}", actor=actor, org_id=org_id,
                session=session or "", record_id=record_id,
                detail={"sequence": sequence, "digest": record.digest, **({"stated": stated} if stated else {})},
            )
        )  # fmt: skip
        is_report = kind in (*ENDING, "correction")
        if is_report and body.get("status") == "done_clean" and session is not None:
            holder = f"agent:{self.body.get('agent')}"
            release_session(transaction, org_id, session, holder, brief_id, actor)
        return record


class Contracts:
    """The contracts of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def record(
        self,
        org_id: str,
        kind: str,
        body: Mapping[str, Any],
        bind: Callable[[ContractRows], ContractBinding] = lambda rows: ContractBinding(),
        *,
        actor: str,
    ) -> ContractRecord:
        """Store a contract. A report that is `done_clean` releases what its agent claimed in the session.

        `bind` returns the hand-off that the contract belongs to, and the fields to store with other values. It raises if
        stored rows forbid the contract. It runs in the same change. Raises `Conflict` (`DONE_DUPLICATE`, `CONTRACT_EXISTS`) and `Refused`.
        """
        require_id("the organization", org_id)
        wanted = WantedContract(kind, body, self.new_id)
        return self._context.change(lambda transaction: wanted.store(transaction, org_id, bind, actor))

    def new_id(self) -> str:
        """A new unique id."""
        return make_uuid(self._context.tokens(16))

    def list(
        self, org_id: str, kind: str | None = None, session: str | None = None
    ) -> tuple[ContractRecord, ...]:
        """The contracts of an organization, in the order in which they were stored."""
        query = _select_for(org_id)
        if kind is not None:
            query = query.where(contract_records.c.kind == kind)
        if session is not None:
            query = query.where(contract_records.c.session == session)
        return self._context.read(ContractRecord, query)

    def open_blockers(self, org_id: str, session: str | None = None) -> tuple[ContractRecord, ...]:
        """The blockers that no decision has answered, oldest first."""
        with self._context.reading() as connection:
            return find_open_blockers(_find_about_blockers(connection, org_id, session))

    def get(self, org_id: str, record_id: str) -> ContractRecord | None:
        """One contract."""
        return self._context.find(
            ContractRecord, _select_for(org_id).where(contract_records.c.record_id == record_id)
        )

    def find_changes(self, org_id: str) -> tuple[str, ...]:
        """Problems that the chain of digests shows: changed, removed or moved contracts. Empty if there are none."""
        with self._context.reading() as connection:
            rows = connection.execute(_select_for(org_id)).all()
        return tuple(list_broken_contracts(rows))


class ContractRows:
    """Stored contracts of an organization, while a contract is being stored."""

    def __init__(self, transaction: Transaction, org_id: str) -> None:
        self.transaction = transaction
        self._connection = transaction.connection
        self._org_id = org_id

    def find(self, record_id: str, kind: str | None = None) -> ContractRecord | None:
        """The contract with an id."""
        query = _select_for(self._org_id).where(contract_records.c.record_id == record_id)
        return self._find_first(query if kind is None else query.where(contract_records.c.kind == kind))

    def get_end(self, session: str) -> ContractRecord | None:
        """The one result of a session."""
        return self._find_first(_select_for(self._org_id).where(contract_records.c.ends == session))

    def find_about_blockers(self, session: str) -> tuple[ContractRecord, ...]:
        """The blockers of a session and, if there are any, the decisions that could answer them."""
        return _find_about_blockers(self._connection, self._org_id, session)

    def list_about(self, kind: str, brief_id: str) -> tuple[ContractRecord, ...]:
        """The contracts of a kind about a brief, in the order in which they were stored."""
        query = _select_for(self._org_id).where(contract_records.c.kind == kind)
        return _fetch_records(self._connection, query.where(contract_records.c.brief_id == brief_id))

    def all(self) -> tuple[ContractRecord, ...]:
        """All contracts, in the order in which they were stored."""
        return _fetch_records(self._connection, _select_for(self._org_id))

    def last(self) -> ContractRecord | None:
        """The contract that was stored last."""
        query = select(contract_records).where(contract_records.c.org_id == self._org_id)
        return self._find_first(query.order_by(contract_records.c.sequence.desc()))

    def _find_first(self, query: Select[Any]) -> ContractRecord | None:
        row = self._connection.execute(query.limit(1)).first()
        return None if row is None else decode_record(ContractRecord, row)


def _select_for(org_id: str) -> Select[Any]:
    query = select(contract_records).where(contract_records.c.org_id == org_id)
    return query.order_by(contract_records.c.sequence)


def _find_about_blockers(connection: Any, org_id: str, session: str | None) -> tuple[ContractRecord, ...]:
    blockers = _select_for(org_id).where(contract_records.c.kind == "blocker")
    if session is not None:
        blockers = blockers.where(contract_records.c.session == session)
    records = _fetch_records(connection, blockers)
    entries = _select_for(org_id).where(contract_records.c.kind == "decision_entry")
    return (*records, *_fetch_records(connection, entries)) if records else ()


def _fetch_records(connection: Any, query: Select[Any]) -> tuple[ContractRecord, ...]:
    return tuple(decode_record(ContractRecord, row) for row in connection.execute(query))


def _compute_digest(record: ContractRecord) -> str:
    """Compute the digest of a row over its content and the previous digest."""
    fields = [
        record.kind,
        record.record_id,
        record.brief_id,
        record.session,
        record.at,
        record.actor,
        record.body,
        # Rows of versions before 0016 belong to no hand-off, and keep their digests.
        *([] if record.handoff_id is None else [record.handoff_id]),
    ]
    return link(record.previous, record.org_id, _CHAIN, record.sequence, _canonical(fields).decode())


def list_broken_contracts(rows: Any) -> Iterator[str]:
    """Problems that the digests of an organization's contracts show, in the order of the rows."""
    previous, expected = GENESIS, 1
    for row in rows:
        try:
            record = decode_record(ContractRecord, row)
            ends = record.session if record.kind in ENDING else None
            is_whole = _compute_digest(record) == record.digest and row.ends == ends
        except (BadStore, msgspec.MsgspecError, TypeError):
            is_whole = False
        if row.sequence != expected or row.previous != previous:
            yield f"before contract {row.sequence} something was removed or moved"
        if not is_whole:
            yield f"contract {row.sequence} was changed"
        previous, expected = row.digest, row.sequence + 1


def make_uuid(random: bytes) -> str:
    """A UUID of version 4 from 16 random bytes."""
    digits = bytes(
        [*random[:6], random[6] & 0x0F | 0x40, random[7], random[8] & 0x3F | 0x80, *random[9:16]]
    ).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
