"""What every store does with contracts; part of the contract of stores."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from sqlalchemy import delete, update

from orgkernel.decisions.evidence.state_records import AuditFilter, ContractRecord
from orgkernel.errors import Conflict, Refused
from orgkernel.state.audit import read_rows
from orgkernel.state.contracts import ContractBinding, ContractRows
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from orgkernel.state.tables import contract_records
from tests.state.opening import Clock, opened
from tests.support.contracts import changed


def nothing(rows: ContractRows) -> ContractBinding:
    """What is stored forbids nothing."""
    return ContractBinding()


def stored(store: Store, kind: str = "result", **changes: Any) -> ContractRecord:
    return store.contracts.record("shop", kind, changed(kind, changes), nothing, actor="caller:k")


def result(store: Store, session: str) -> ContractRecord:
    return stored(store, id=None, session=session)


class ContractsOnce:
    def test_a_contract_is_kept_as_it_was_written(self, store: Store, clock: Clock) -> None:
        """With who stored it and when; what has no id gets one."""
        brief, entry = stored(store, "brief"), stored(store, "decision_entry", id=None)
        assert (brief.record_id, brief.sequence, brief.at, brief.actor) == (
            brief.body["id"],
            1,
            clock.now,
            "caller:k",
        )
        assert brief.body == changed("brief", {})
        assert re.fullmatch(
            r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", entry.record_id
        )
        assert store.contracts.list("shop") == (brief, entry)
        assert store.contracts.list("shop", "decision_entry") == (entry,)
        assert store.contracts.get("shop", brief.record_id) == brief
        assert store.contracts.list("yard") == ()

    def test_a_view_knows_the_open_blockers(self, store: Store, clock: Clock) -> None:
        """By agent, until a decision in effect answers them; and those of a past time."""

        def open_now() -> dict[str, list[str]]:
            found = store.read_view("shop").blockers
            return {agent: [each.session for each in blockers] for agent, blockers in found.items()}

        assert open_now() == {}
        first = stored(store, "blocker", id=None, agent="agent:worker-1")
        stored(store, "blocker", id=None, agent="worker-1", session="shop-worker-2")
        stored(store, "blocker", id=None, session="shop-worker-3")
        assert open_now() == {"worker-1": ["shop-worker-1", "shop-worker-2"], "": ["shop-worker-3"]}
        clock.now += 60
        answer = stored(store, "decision_entry", id=None, answers=first.record_id)
        assert open_now() == {"worker-1": ["shop-worker-2"], "": ["shop-worker-3"]}
        assert [each.session for each in store.contracts.open_blockers("shop")] == [
            "shop-worker-2",
            "shop-worker-3",
        ]
        assert store.contracts.open_blockers("shop", "shop-worker-1") == ()
        assert len(store.read_past("shop", clock.now - 1).blockers["worker-1"]) == 2
        assert len(store.read_past("shop", clock.now).blockers["worker-1"]) == 1
        stored(store, "decision_entry", id=None, supersedes=answer.record_id)
        assert open_now()["worker-1"] == ["shop-worker-1", "shop-worker-2"]
        assert store.read_view("yard").blockers == {}
        assert store.read_view("shop") is store.read_view("shop")

    def test_a_session_has_one_result(self, store: Store) -> None:
        """A second one is refused, also with the same words; another session and another organization have their own."""
        first = result(store, "shop-worker-1")
        with pytest.raises(Conflict, match=first.record_id) as refused:
            result(store, "shop-worker-1")
        assert refused.value.code == "DONE_DUPLICATE"
        with pytest.raises(Conflict) as refused:
            stored(store, "mission_close", session="shop-worker-1")
        assert refused.value.code == "DONE_DUPLICATE"
        result(store, "shop-worker-2")
        store.contracts.record("yard", "result", changed("result", {"id": None}), nothing, actor="a")
        stored(store, "correction")
        assert [each.kind for each in store.contracts.list("shop")] == ["result", "result", "correction"]

    def test_an_id_is_used_once(self, store: Store) -> None:
        """A contract is never changed, so nothing else is stored under its id."""
        brief = stored(store, "brief")
        with pytest.raises(Conflict) as refused:
            stored(store, "brief", mission="Another mission")
        assert refused.value.code == "CONTRACT_EXISTS"
        assert store.contracts.list("shop") == (brief,)

    def test_the_result_of_many_at_once_is_one(self, place: StoreLocation, clock: Clock) -> None:
        """Two processes, eight threads, three sessions: each session gets one result, and all others are refused."""
        outcomes: list[str] = []
        with opened(place, clock, busy_seconds=30) as one, opened(place, clock, busy_seconds=30) as other:

            def deliver(number: int) -> None:
                for session in ("a", "b", "c"):
                    try:
                        result((one, other)[number % 2], session)
                        outcomes.append("stored")
                    except Conflict as refused:
                        outcomes.append(refused.code)

            threads = [threading.Thread(target=deliver, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(each.session or "" for each in one.contracts.list("shop")) == ["a", "b", "c"]
            assert one.contracts.find_changes("shop") == ()
        assert sorted(outcomes) == ["DONE_DUPLICATE"] * 21 + ["stored"] * 3

    def test_what_is_stored_may_forbid_it(self, store: Store) -> None:
        """The check sees what is stored, and nothing is stored if it refuses."""
        stored(store, "blocker")

        def refuse(rows: ContractRows) -> None:
            (blocker,) = rows.find_about_blockers("shop-worker-1")
            raise Refused(f"there is {blocker.kind}")

        with pytest.raises(Refused, match="there is blocker"):
            store.contracts.record("shop", "result", changed("result", {}), refuse, actor="a")
        assert len(store.contracts.list("shop")) == 1
        assert len(audited(store)) == 1

    def test_each_is_in_the_audit(self, store: Store) -> None:
        """With its digest, so that a chain that was written anew does not agree with it."""
        record = stored(store)
        (entry,) = audited(store)
        assert (entry.record_id, entry.session, entry.actor) == (
            record.record_id,
            "shop-worker-1",
            "caller:k",
        )
        assert entry.detail == {"sequence": 1, "digest": record.digest}

    @pytest.mark.parametrize(
        ("change", "found"),
        [
            (update(contract_records).where(contract_records.c.sequence == 2).values(actor="b"), "contract 2 was changed"),
            (update(contract_records).where(contract_records.c.sequence == 1).values(ends=None), "contract 1 was changed"),
            (update(contract_records).where(contract_records.c.sequence == 2).values(body="{}"), "contract 2 was changed"),
            (delete(contract_records).where(contract_records.c.sequence == 2), "before contract 3 something was removed or moved"),
        ],
        ids=["actor", "session", "body", "removed"],
    )  # fmt: skip
    def test_a_change_is_found(self, store: Store, change: Any, found: str) -> None:
        """Whatever column of whatever row was changed, or whatever row was removed."""
        for session in ("a", "b", "c"):
            result(store, session)
        assert store.contracts.find_changes("shop") == ()
        with store.engine.begin() as connection:
            connection.execute(change)
        assert found in store.contracts.find_changes("shop")

    def test_secrets_are_masked(self, store: Store) -> None:
        """In whatever text of the contract they are."""
        record = stored(store, **{"evidence.verify_stdout": "token ghp_" + "a1B2" * 9})
        assert "ghp_" not in str(record.body)

    def test_a_contract_has_a_size(self, store: Store) -> None:
        """Output of hours belongs into a file."""
        with pytest.raises(Refused, match="256 KiB"):
            stored(store, pending_actions=["x" * 3_000] * 100)


def audited(store: Store) -> list[Any]:
    return [row.entry for row in read_rows(store.context, AuditFilter(kind="contract"))]
