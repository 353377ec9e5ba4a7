"""What every store does with the log of hand-offs; part of the contract of stores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, text, update

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter, HandoffRecord
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.errors import Conflict, StoreError
from orgkernel.state import handoffs as module
from orgkernel.state.audit import read_rows
from orgkernel.state.chain import link
from orgkernel.state.claims import WantedClaim
from orgkernel.state.contracts import WantedContract
from orgkernel.state.handoffs import HandoffRows, WantedHandoff
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from orgkernel.state.tables import handoffs
from tests.state.opening import Clock, opened


def wanted(number: int, *files: str, parent: str | None = None, **said: Any) -> WantedHandoff:
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
    return WantedHandoff(**{**known, **said})


def hand_down(store: Store, number: int, *files: str, **said: Any) -> HandoffRecord:
    return store.handoffs.record("shop", lambda _: wanted(number, *files, **said), actor="system:cli")


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as conflict:
        act()
    return conflict.value.code


def everything(store: Store) -> tuple[object, ...]:
    return (
        store.handoffs.list(), store.claims.list(), store.contracts.list("shop"),
        [*read_rows(store.context, AuditFilter())],
    )  # fmt: skip


def handoff_all(place: StoreLocation, number: int) -> list[int]:
    """In a process of its own: hand down work on the same few files; the numbers of what was written down."""
    found: list[int] = []
    codes: set[str] = set()
    with Store(place, clock=Clock(), tokens=os.urandom, busy_seconds=30) as store:
        for step in range(8):
            try:
                found.append(hand_down(store, number * 100 + step, f"src/{(number + step) % 4}.py").number)
            except Conflict as conflict:
                codes.add(conflict.code)
    assert codes == {"CLAIM_CONFLICT"}
    return found


class HandoffsOnce:
    def test_a_handoff_claims_stores_and_logs(self, store: Store, clock: Clock) -> None:
        """The brief, the claim and the row are there together, and the rows are found by whom and where."""
        first = hand_down(store, 1, "src/**", from_session="s-0", depth=1)
        assert (first.number, first.token, first.expires_at) == (1, 1, clock.now + 60)
        claim = store.claims.list("shop")[0]
        assert (claim.paths, claim.brief, claim.session) == (("src/**",), "brief-1", "s-1")
        assert store.read_view("shop").claims.claims == (claim,)
        assert [each.record_id for each in store.contracts.list("shop")] == ["brief-1"]
        kinds = [row.entry.kind for row in read_rows(store.context, AuditFilter())]
        assert kinds == ["handoff", "claim", "contract"]
        inside = {
            "parent": "brief-1",
            "within": frozenset({1}),
            "sender": "agent:data",
            "from_session": "s-1",
        }
        second = hand_down(store, 2, "src/a.py", **inside)
        third = hand_down(store, 3, session="s-0")
        found = store.handoffs.list
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
            hand_down(store, number, *([f"{number}.py"] if number < 3 else []))

        def running() -> list[str]:
            return [each.session for each in store.handoffs.list(is_running=True)]

        assert running() == ["s-1", "s-2", "s-3"]
        clock.now += 30
        store.claims.extend("shop", 1, "agent:worf", seconds=60)
        store.claims.transfer("shop", 1, "agent:worf", "agent:data", session="s-9")
        clock.now += 40
        assert running() == ["s-1"]
        store.contracts.record("shop", "result", {"session": "s-1", "status": "failed"}, actor="a")
        assert running() == []

    def test_a_view_has_the_open_work_that_owns_no_files(
        self, store: Store, place: StoreLocation, clock: Clock
    ) -> None:
        """Until it has a result: in a view that is patched, in one that is read anew, and in a past one."""

        def sessions(view: StateView) -> list[str]:
            return [each.session for each in view.handoffs.get("worf", ())]

        assert sessions(store.read_view("shop")) == []
        hand_down(store, 1)
        hand_down(store, 2, "src/**")
        clock.now += 1
        assert sessions(store.read_view("shop")) == sessions(store.read_view()) == ["s-1"]
        hand_down(store, 3)
        hand_down(store, 4, holder="role:worker")
        assert sessions(store.read_view("shop")) == ["s-1", "s-3"]
        store.contracts.record("shop", "result", {"session": "s-1", "status": "failed"}, actor="a")
        assert sessions(store.read_view("shop")) == ["s-3"]
        assert sessions(store.read_view("yard")) == []
        with opened(place, clock) as other:
            assert sessions(other.read_view("shop")) == ["s-3"]
        assert sessions(store.read_past("shop", clock.now - 1)) == ["s-1"]
        (open_work,) = store.read_view("shop").handoffs["worf"]
        assert open_work.expires_at == clock.now + 60

    def test_a_brief_and_a_session_are_used_once(self, store: Store, clock: Clock) -> None:
        """The exception is work that was given up: then the brief may be handed to another worker."""
        hand_down(store, 1, "a.py")
        before = everything(store)
        assert refused(lambda: hand_down(store, 1, "b.py", session="s-2")) == "HANDOFF_DUPLICATE"
        assert refused(lambda: hand_down(store, 2, "b.py", session="s-1")) == "HANDOFF_DUPLICATE"
        assert everything(store) == before
        clock.now += 60
        assert hand_down(store, 1, "b.py", session="s-2").number == 2
        store.contracts.record("shop", "result", {"session": "s-2", "status": "failed"}, actor="a")
        assert refused(lambda: hand_down(store, 1, "b.py", session="s-3")) == "HANDOFF_DUPLICATE"
        assert refused(lambda: hand_down(store, 3, "b.py", session="s-2")) == "HANDOFF_DUPLICATE"

    def test_a_brief_is_never_another_one(self, store: Store) -> None:
        """Of a stored brief nothing can be changed by handing it down."""
        store.contracts.record("shop", "brief", {"id": "brief-1", "mission": "Something else"}, actor="a")
        before = everything(store)
        assert refused(lambda: hand_down(store, 1, "a.py")) == "CONTRACT_EXISTS"
        assert everything(store) == before

    def test_nothing_is_half_done(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever fails after the brief is stored and the files are claimed takes both back, and the next one works."""
        before = everything(store)

        def broken(*_: object) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(module, "_note", broken)
            with pytest.raises(StoreError, match="killed"):
                hand_down(store, 1, "a.py")
        assert everything(store) == before
        assert hand_down(store, 1, "a.py").number == 1

    def test_writers_of_several_processes_never_both_win(self, place: StoreLocation, store: Store) -> None:
        """Each file is handed to one worker; the rows are numbered without a gap, and the chain holds."""
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(3, mp_context=context) as processes:
            numbers = [each for found in processes.map(handoff_all, [place] * 3, range(3)) for each in found]
        assert sorted(numbers) == [1, 2, 3, 4]
        assert sorted(path for claim in store.claims.list() for path in claim.paths) == [
            f"src/{number}.py" for number in range(4)
        ]
        assert len(store.contracts.list("shop")) == 4
        assert store.handoffs.find_changes("shop") == ()

    def test_a_changed_log_is_noticed(self, store: Store) -> None:
        """A row that was changed, and one that is gone."""
        for number in (1, 2, 3):
            hand_down(store, number)
        second = handoffs.c.number == 2
        for query, said in (
            (update(handoffs).where(second).values(holder="agent:data"), "hand-off 2 was changed"),
            (delete(handoffs).where(second), "before hand-off 3 something was removed or moved"),
        ):
            with store.engine.begin() as connection:
                connection.execute(query)
            assert said in store.handoffs.find_changes("shop")

    def test_a_digest_keeps_the_name_of_the_column(self, store: Store) -> None:
        """The digest of a row is over `dispatch_id`, as in logs that were written before the record was renamed."""
        made = hand_down(store, 1)
        fields = msgspec.to_builtins(msgspec.structs.replace(made, digest="", previous=""))
        fields["dispatch_id"] = fields.pop("handoff_id")
        body = msgspec.json.encode(fields, order="deterministic").decode()
        assert made.digest == link(made.previous, "shop", "dispatches", 1, body)
        with store.engine.connect() as connection:
            row = connection.execute(text("SELECT dispatch_id FROM dispatches")).one()
        assert row.dispatch_id == made.handoff_id

    def test_entries_of_the_former_kind_are_read(self, store: Store) -> None:
        """The audit is chained, so what an earlier version wrote keeps the kind `dispatch`, and can be searched."""
        store.audit.write(AuditEntry("dispatch", 1.0, "dispatched", subject="role:human"))
        rows = read_rows(store.context, AuditFilter(kind="dispatch"))
        assert [row.entry.subject for row in rows] == ["role:human"]

    def test_what_is_asked_sees_what_is_stored(self, store: Store, clock: Clock) -> None:
        """How much runs below a sender, and what was handed down last."""
        hand_down(store, 1, "a.py", from_session="s-0")
        hand_down(store, 2, "b.py", from_session="s-0", sender="agent:data")
        seen: list[object] = []

        def look(rows: HandoffRows) -> WantedHandoff:
            seen.extend([rows.count_running("agent:data", None), rows.count_running("agent:data", "s-0")])
            seen.append([claim.token for claim in store.read_view("shop").claims.claims])
            last = rows.find_session("s-2")
            seen.extend(
                [
                    last and last.brief,
                    rows.find_brief("brief-9"),
                    [each.token for each in rows.list_claims("brief-1")],
                ]
            )
            return wanted(3)

        store.handoffs.record("shop", look, actor="a")
        assert seen == [1, 2, [1, 2], "brief-2", None, [1]]
