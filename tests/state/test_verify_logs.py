"""`audit verify` on stores whose contracts or hand-offs were changed by a writer of the database."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from orgkernel.state.contracts import WantedContract
from orgkernel.state.handoffs import WantedHandoff
from orgkernel.state.location import StoreLocation
from orgkernel.state.verify import verify_audit
from tests.state.opening import opened, sqlite_at


@pytest.fixture
def place(quick_folder: Path) -> StoreLocation:
    """A store with two hand-offs and four contracts of one organization, and one contract of another, closed."""
    place = sqlite_at(quick_folder)
    with opened(place) as store:
        for number in (1, 2):
            wanted = WantedHandoff(
                sender="role:co", receiver="role:dev", holder="role:dev", session=f"s-{number}", queue_mode="queue",
                session_key="k", code="CHAIN_OF_COMMAND", snapshot="sha256:" + "0" * 64, seconds=60.0,
                brief=WantedContract("brief", {"id": f"brief-{number}"}, lambda: "unused"),
            )  # fmt: skip
            store.handoffs.record("shop", lambda rows, wanted=wanted: wanted, actor="a")
        for session in ("s-1", "s-2"):
            store.contracts.record("shop", "result", {"session": session, "status": "failed"}, actor="a")
        store.contracts.record("yard", "result", {"session": "s-1", "status": "failed"}, actor="a")
    return place


def verify(place: StoreLocation) -> tuple[str, list[tuple[str, str]]]:
    with opened(place) as store:
        found = verify_audit(store.context, store.folder)
    return found.verdict, [(each.problem, each.row) for each in found.findings]


def tamper(place: StoreLocation, *statements: str) -> None:
    connection = sqlite3.connect(place.path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_logs_that_were_not_touched_are_whole(place: StoreLocation) -> None:
    """And stay so when contracts are added."""
    assert verify(place) == ("whole", [])
    with opened(place) as store:
        store.contracts.record("shop", "result", {"session": "s-3", "status": "failed"}, actor="a")
    assert verify(place) == ("whole", [])


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("DELETE FROM contract_records WHERE org_id = 'shop' AND sequence = 4", [("cut_off", "contract:shop:4")], id="the last contract is gone"),
        pytest.param("DELETE FROM contract_records WHERE org_id = 'yard'", [("cut_off", "contract:yard:1")], id="the only contract is gone"),
        pytest.param(
            "DELETE FROM contract_records WHERE org_id = 'shop' AND sequence = 3",
            [("changed", "contract:shop"), ("missing", "contract:shop:3")], id="a contract in the middle is gone",
        ),
        pytest.param(
            "UPDATE contract_records SET body = replace(body, 'failed', 'done_clean') WHERE org_id = 'shop' AND sequence = 4",
            [("changed", "contract:shop")], id="a result is another one",
        ),
        pytest.param(
            "UPDATE contract_records SET dispatch_id = 'x' WHERE org_id = 'shop' AND sequence = 4",
            [("changed", "contract:shop")], id="a result belongs to another hand-off",
        ),
        pytest.param("DELETE FROM dispatches WHERE number = 2", [("cut_off", "handoff:shop:2")], id="the last hand-off is gone"),
        pytest.param("UPDATE dispatches SET holder = 'agent:x' WHERE number = 1", [("changed", "handoff:shop")], id="a hand-off is to another agent"),
    ],
)  # fmt: skip
def test_a_changed_log_is_found(
    place: StoreLocation, statement: str, expected: list[tuple[str, str]]
) -> None:
    """With the row, and the verdict that something was changed."""
    tamper(place, statement)
    assert verify(place) == ("changed", expected)


def test_a_chain_that_was_written_anew_is_found(place: StoreLocation) -> None:
    """Its digests are right, but they are not those of the audit; a row that was added has none there."""
    with opened(place) as store:
        row = store.contracts.list("yard")[0]
    tamper(place, "DELETE FROM contract_records WHERE org_id = 'yard'")
    copy = Path(place.path).with_name("copy")
    copy.mkdir()
    with opened(sqlite_at(copy)) as store:
        forged = store.contracts.record("yard", "result", {**row.body, "status": "done_clean"}, actor="a")
    connection = sqlite3.connect(place.path)
    with connection:
        connection.execute(
            "INSERT INTO contract_records (org_id, sequence, kind, record_id, session, ends, at, actor, previous, digest, body)"
            " VALUES ('yard', 1, 'result', ?, 's-1', 's-1', ?, 'a', ?, ?, ?)",
            (forged.record_id, forged.at, forged.previous, forged.digest, json.dumps(forged.body)),
        )
    connection.close()
    assert verify(place) == ("changed", [("changed", "contract:yard:1")])
