"""The open blockers of each agent in a view: read with the decisions that may answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, select

from orgkernel.decisions.evidence.crew_records import OpenBlocker
from orgkernel.decisions.evidence.state_records import ContractRecord
from orgkernel.decisions.work.contracts.coherence import find_open_blockers, is_about_blockers
from orgkernel.state.rows import decode_record, group_rows
from orgkernel.state.tables import contract_records

BlockerRecords = Mapping[str, tuple[ContractRecord, ...]]
"""Blockers and the decisions that may answer them, by organization, in the order in which they were stored."""
_KINDS = ("blocker", "decision_entry")


def patch_questions(old: BlockerRecords, connection: Connection, since: int) -> BlockerRecords:
    """Add the records stored since a version. Existing records never change."""
    columns = contract_records.c
    query = select(contract_records).where(columns.version > since, columns.kind.in_(_KINDS))
    rows = connection.execute(query.order_by(columns.org_id, columns.sequence))
    new = [each for each in (decode_record(ContractRecord, row) for row in rows) if is_about_blockers(each)]
    if not new:
        return old
    return {
        **old,
        **{org_id: (*old.get(org_id, ()), *each) for org_id, each in group_rows(new, "org_id").items()},
    }


def open_blockers_at(connection: Connection, org_id: str, at: float) -> Mapping[str, tuple[OpenBlocker, ...]]:
    """The blockers that were open at a time, keyed by agent id."""
    columns = contract_records.c
    query = select(contract_records).where(
        columns.org_id == org_id, columns.kind.in_(_KINDS), columns.at <= at
    )
    rows = connection.execute(query.order_by(columns.sequence))
    return open_by_agent(decode_record(ContractRecord, row) for row in rows)


def open_by_agent(records: Iterable[ContractRecord]) -> Mapping[str, tuple[OpenBlocker, ...]]:
    """The blockers that no decision has answered, by the agent that asks."""
    blockers = [_open_blocker(each) for each in find_open_blockers(records)]
    return MappingProxyType(group_rows(blockers, "agent_id"))


def _open_blocker(record: ContractRecord) -> OpenBlocker:
    body = record.body
    asks = str(body.get("agent") or (record.actor if record.actor.startswith("agent:") else ""))
    return OpenBlocker(
        record.record_id, record.org_id, asks.removeprefix("agent:"), record.session or "",
        str(body.get("question") or ""), str(body.get("fallback_action") or ""), body.get("human_required_for"),
        record.at,
    )  # fmt: skip
