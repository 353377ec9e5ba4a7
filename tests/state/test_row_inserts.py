"""Rows that are written below SQLAlchemy, beside the same rows written by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.engines import EnginesOff
from orgkernel.errors import StoreError
from orgkernel.state.store import Store
from orgkernel.state.tables import audit, tool_usage
from orgkernel.state.verify import verify_audit
from tests.state.opening import opened, sqlite_at


def write_corpus(store: Store) -> list[str]:
    """Rows alone and together, of both chains, calls that are counted, and a change; what each ticket came to."""
    tickets = [store.audit.submit(AuditEntry("decision", 5.0, "allow", subject="agent:worf"))]
    tickets[0].result()
    for number in range(150):
        entry = AuditEntry(
            "decision", float(number), "deny", subject=f"agent:{number % 7}", reason="ü\0" * number
        )
        tickets.append(store.audit.submit(entry))
    tickets.append(store.audit.submit(AuditEntry("decision", float("nan"), "allow")))
    tickets += [
        store.usage.record("worf", f"press{number % 3}", ok=number % 4 > 0, seconds=0.25)
        for number in range(20)
    ]
    store.agents.add("worf", org_id="shop", actor="test")
    tickets.append(store.usage.record("data", "press", is_urgent=False))
    answers = []
    for ticket in tickets:
        try:
            answers.append(ticket.result().partition(":")[2])
        except StoreError as error:
            answers.append(str(error))
    return answers


def read_tables(store: Store) -> list[Any]:
    """What stands in the tables but for the names of writers and keys, and what depends on them."""
    columns = [each for each in audit.columns if each.name not in ("writer", "previous", "digest", "body")]
    with store.context.reading() as connection:
        entry = func.substr(audit.c.body, 1, func.instr(audit.c.body, ',"seal":"') - 1)
        rows = connection.execute(select(*columns, entry).order_by(audit.c.stream, audit.c.sequence)).all()
        counts = connection.execute(
            select(tool_usage).order_by(tool_usage.c.agent_id, tool_usage.c.tool_id)
        ).all()
    return [[tuple(row) for row in rows], [tuple(row) for row in counts]]


def test_both_ways_write_the_same(tmp_path: Path) -> None:
    """The same rows, counts and refusals, and chains that can be verified."""
    found: list[Any] = []
    for name, off in (("on", ()), ("off", ("row_inserts",))):
        folder = tmp_path / name
        folder.mkdir()
        with EnginesOff(*off), opened(sqlite_at(folder)) as store:
            answers = write_corpus(store)
            assert (store.context.writer._row_inserts is None) == bool(off)
            verification = verify_audit(store.context, store.folder)
            found.append([answers, read_tables(store), verification.verdict, verification.findings])
    on, off_too = found
    assert on == off_too
    rows, counts = on[1]
    assert (len(rows), len(counts)) == (1 + 150 + 20 + 1 + 1, 4)
    assert on[2:] == ["whole", ()]


@pytest.mark.parametrize("off", [(), ("row_inserts",)], ids=["engine", "plain"])
def test_a_failed_transaction_writes_nothing(
    off: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows cannot be written, each caller gets the error, and the next rows continue the chain."""
    with EnginesOff(*off), opened(sqlite_at(tmp_path)) as store:
        store.audit.write(AuditEntry("decision", 1.0, "allow"))
        writer = store.context.writer
        with monkeypatch.context() as patch:
            patch.setattr(writer._chains, "_insert_rows", fail)
            patch.setattr("orgkernel.state.engine.row_inserts._insert_in_blocks", fail)
            with pytest.raises(StoreError, match="ZeroDivisionError"):
                store.audit.write(AuditEntry("decision", 2.0, "allow"))
        store.audit.write(AuditEntry("decision", 3.0, "allow"))
        rows, _ = read_tables(store)
        assert [row[2] for row in rows] == [1.0, 3.0]
        assert verify_audit(store.context, store.folder).verdict == "whole"


def fail(*_: object) -> None:
    raise ZeroDivisionError
