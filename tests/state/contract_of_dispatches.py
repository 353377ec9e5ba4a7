"""What every store does with the log of dispatches; part of the contract of stores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, update

from orgkernel.decisions.evidence.state_records import AuditFilter, DispatchRecord
from orgkernel.errors import Conflict, StoreError
from orgkernel.state import dispatches as module
from orgkernel.state.audit import read_rows
from orgkernel.state.claims import WantedClaim
from orgkernel.state.contracts import WantedContract
from orgkernel.state.dispatches import DispatchRows, WantedDispatch
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from orgkernel.state.tables import dispatches
from tests.state.opening import Clock


def wanted(number: int, *files: str, parent: str | None = None, **said: Any) -> WantedDispatch:
    """Work by a brief that owns files."""
    brief, session = f"brief-{number}", said.get("session", f"s-{number}")
    claim = WantedClaim(
        holder="agent:worf", paths=files, seconds=60, session=session, brief=brief, mission=parent,
        within=said.pop("within", frozenset()),
    )  # fmt: skip
    known = {
        "sender": "role:planner", "receiver": "role:worker", "holder": "agent:worf", "session": session,
        "queue_mode": "queue", "session_key": "key", "code": "CHAIN_OF_COMMAND", "snapshot": "sha256:0", "seconds": 60,
        "brief": WantedContract("brief", {"id": brief, "mission": "Do it", "parent": parent}, str), "mission": parent,
        "claim": claim if files else None,
    }  # fmt: skip
    return WantedDispatch(**{**known, **said})


def dispatched(store: Store, number: int, *files: str, **said: Any) -> DispatchRecord:
    return store.dispatches.record("shop", lambda _: wanted(number, *files, **said), actor="system:cli")


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as conflict:
        act()
    return conflict.value.code


def everything(store: Store) -> tuple[object, ...]:
    return (
        store.dispatches.list(), store.claims.list(), store.contracts.list("shop"),
        [*read_rows(store.context, AuditFilter())],
    )  # fmt: skip


def dispatch_all(place: StoreLocation, number: int) -> list[int]:
    """In a process of its own: hand down work on the same few files; the numbers of what was written down."""
    found: list[int] = []
    codes: set[str] = set()
    with Store(place, clock=Clock(), tokens=os.urandom, busy_seconds=30) as store:
        for step in range(8):
            try:
                found.append(dispatched(store, number * 100 + step, f"src/{(number + step) % 4}.py").number)
            except Conflict as conflict:
                codes.add(conflict.code)
    assert codes == {"CLAIM_CONFLICT"}
    return found


class DispatchesOnce:
    def test_a_dispatch_claims_stores_and_logs(self, store: Store, clock: Clock) -> None:
        """The brief, the claim and the row are there together, and the rows are found by whom and where."""
        first = dispatched(store, 1, "src/**", from_session="s-0", depth=1)
        assert (first.number, first.token, first.expires_at) == (1, 1, clock.now + 60)
        claim = store.claims.list("shop")[0]
        assert (claim.paths, claim.brief, claim.session) == (("src/**",), "brief-1", "s-1")
        assert store.read_view("shop").claims.claims == (claim,)
        assert [each.record_id for each in store.contracts.list("shop")] == ["brief-1"]
        kinds = [row.entry.kind for row in read_rows(store.context, AuditFilter())]
        assert kinds == ["dispatch", "claim", "contract"]
        inside = {
            "parent": "brief-1",
            "within": frozenset({1}),
            "sender": "agent:data",
            "from_session": "s-1",
        }
        second = dispatched(store, 2, "src/a.py", **inside)
        third = dispatched(store, 3, session="s-0")
        found = store.dispatches.list
        assert found() == found("shop") == (first, second, third)
        assert found("yard") == ()
        assert found(session="s-1") == (first, second)
        assert found(sender="agent:data") == (second,)
        assert found(receiver="role:worker") == found(receiver="agent:worf") == (first, second, third)
        assert found(brief="brief-1") == (first, second)
        assert store.read_view("shop").claims.find_by_mission("brief-1")[0].token == 2

    def test_work_runs_until_its_result_or_its_claim_ends(self, store: Store, clock: Clock) -> None:
        """A claim that is extended or handed over keeps it running."""
        for number in (1, 2, 3):
            dispatched(store, number, *([f"{number}.py"] if number < 3 else []))

        def running() -> list[str]:
            return [each.session for each in store.dispatches.list(is_running=True)]

        assert running() == ["s-1", "s-2", "s-3"]
        clock.now += 30
        store.claims.extend("shop", 1, "agent:worf", seconds=60)
        store.claims.transfer("shop", 1, "agent:worf", "agent:data", session="s-9")
        clock.now += 40
        assert running() == ["s-1"]
        store.contracts.record("shop", "result", {"session": "s-1", "status": "failed"}, actor="a")
        assert running() == []

    def test_a_brief_and_a_session_are_used_once(self, store: Store, clock: Clock) -> None:
        """Unless the work was given up: then the brief may be handed to somebody else."""
        dispatched(store, 1, "a.py")
        before = everything(store)
        assert refused(lambda: dispatched(store, 1, "b.py", session="s-2")) == "DISPATCH_DUPLICATE"
        assert refused(lambda: dispatched(store, 2, "b.py", session="s-1")) == "DISPATCH_DUPLICATE"
        assert everything(store) == before
        clock.now += 60
        assert dispatched(store, 1, "b.py", session="s-2").number == 2
        store.contracts.record("shop", "result", {"session": "s-2", "status": "failed"}, actor="a")
        assert refused(lambda: dispatched(store, 1, "b.py", session="s-3")) == "DISPATCH_DUPLICATE"
        assert refused(lambda: dispatched(store, 3, "b.py", session="s-2")) == "DISPATCH_DUPLICATE"

    def test_a_brief_is_never_another_one(self, store: Store) -> None:
        """Of a stored brief nothing can be changed by handing it down."""
        store.contracts.record("shop", "brief", {"id": "brief-1", "mission": "Something else"}, actor="a")
        before = everything(store)
        assert refused(lambda: dispatched(store, 1, "a.py")) == "CONTRACT_EXISTS"
        assert everything(store) == before

    def test_nothing_is_half_done(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever fails after the brief is stored and the files are claimed takes both back, and the next one works."""
        before = everything(store)

        def broken(*_: object) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(module, "_note", broken)
            with pytest.raises(StoreError, match="killed"):
                dispatched(store, 1, "a.py")
        assert everything(store) == before
        assert dispatched(store, 1, "a.py").number == 1

    def test_writers_of_several_processes_never_both_win(self, place: StoreLocation, store: Store) -> None:
        """Each file is handed to one worker; the rows are numbered without a gap, and the chain holds."""
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(3, mp_context=context) as processes:
            numbers = [each for found in processes.map(dispatch_all, [place] * 3, range(3)) for each in found]
        assert sorted(numbers) == [1, 2, 3, 4]
        assert sorted(path for claim in store.claims.list() for path in claim.paths) == [
            f"src/{number}.py" for number in range(4)
        ]
        assert len(store.contracts.list("shop")) == 4
        assert store.dispatches.find_changes("shop") == ()

    def test_a_changed_log_is_noticed(self, store: Store) -> None:
        """A row that was changed, and one that is gone."""
        for number in (1, 2, 3):
            dispatched(store, number)
        second = dispatches.c.number == 2
        for query, said in (
            (update(dispatches).where(second).values(holder="agent:data"), "dispatch 2 was changed"),
            (delete(dispatches).where(second), "before dispatch 3 something was removed or moved"),
        ):
            with store.engine.begin() as connection:
                connection.execute(query)
            assert said in store.dispatches.find_changes("shop")

    def test_what_is_asked_sees_what_is_stored(self, store: Store, clock: Clock) -> None:
        """How much runs below a sender, and what was handed down last."""
        dispatched(store, 1, "a.py", from_session="s-0")
        dispatched(store, 2, "b.py", from_session="s-0", sender="agent:data")
        seen: list[object] = []

        def look(rows: DispatchRows) -> WantedDispatch:
            seen.extend([rows.count_running("agent:data", None), rows.count_running("agent:data", "s-0")])
            seen.append([claim.token for claim in store.read_view("shop").claims.claims])
            last = rows.find_session("s-2")
            seen.extend(
                [
                    last and last.brief,
                    rows.find_brief("brief-9"),
                    [each.token for each in rows.claims_of("brief-1")],
                ]
            )
            return wanted(3)

        store.dispatches.record("shop", look, actor="a")
        assert seen == [1, 2, [1, 2], "brief-2", None, [1]]
