"""Laws of contracts: whatever else a result says, a failed verification is never clean; a log only grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.decisions.evidence.state_records import ContractRecord
from orgkernel.decisions.work.contracts.check import check_contract
from orgkernel.decisions.work.contracts.coherence import find_incoherence
from orgkernel.decisions.work.contracts.markdown import render_decision_log
from orgkernel.documents.records import Brief, DecisionEntry, MissionClose, Result
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.contracts import add_decision, read_decision_log
from orgkernel.state.store import Store
from tests.state.opening import opened, sqlite_at
from tests.support.contracts import SOUND
from tests.support.trees import TEMPLATES

ANY: dict[str, st.SearchStrategy[Any]] = {
    "regressions": st.none() | st.lists(st.text(max_size=5), max_size=2),
    "pending_actions": st.lists(st.text(max_size=5), max_size=2),
    "refusal_reason": st.none() | st.text(max_size=5),
    "approved_by": st.none() | st.sampled_from(["worker-1", "planner-1"]),
    "ship": st.none() | st.fixed_dictionaries({"requested": st.booleans(), "result": st.sampled_from(["ok", "failed", "frozen", "skipped"])}),
    "audit": st.fixed_dictionaries({"gates_required": st.lists(st.sampled_from(["a", "b"])), "gates_passed": st.lists(st.sampled_from(["a", "b"]))}),
}  # fmt: skip
FAILED = st.none() | st.integers(-255, 255).filter(bool)


@given(
    said=st.fixed_dictionaries({}, optional=ANY), code=FAILED, beside=st.booleans(), is_close=st.booleans()
)
def test_no_done_clean_with_failed_verify(
    said: dict[str, Any], code: int | None, beside: bool, is_close: bool
) -> None:
    """Whatever else a result or a close says, and whatever it is checked beside."""
    base = SOUND["mission_close" if is_close else "result"]
    evidence = {**base["evidence"], "verify_exit_code": code}
    report = msgspec.convert({**base, **said, "evidence": evidence}, MissionClose if is_close else Result)
    brief = msgspec.convert(SOUND["brief"], Brief) if beside else None
    assert "DONE_CLEAN_VERIFY_FAILED" in {each.reason for each in check_contract(report, brief)}


@given(said=st.fixed_dictionaries({}, optional=ANY), code=FAILED | st.just(0))
def test_what_is_sound_beside_its_brief_is_sound_alone(said: dict[str, Any], code: int | None) -> None:
    """A brief only takes away: it never makes a finding go."""
    evidence = {**SOUND["result"]["evidence"], "verify_exit_code": code}
    report = msgspec.convert({**SOUND["result"], **said, "evidence": evidence}, Result)
    brief = msgspec.convert(SOUND["brief"], Brief)
    assert {*check_contract(report)} <= {*check_contract(report, brief)}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A store with an empty log."""
    with opened(sqlite_at(Path(tmp_path_factory.mktemp("log")))) as store:
        yield Context(Kernel.open(TEMPLATES / "software_dev").with_store(store), store, Actor("system:cli"))


PARTS = ("title", "task", "decision", "rationale", "falsifier")


@given(
    parts=st.lists(st.text(max_size=8), min_size=5, max_size=5),
    written_by=st.sampled_from(["intake", "planner", "worker", None]),
    supersedes=st.none() | st.sampled_from(["x", *("0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55",)]),
)
def test_log_is_append_only(log: Context, parts: list[str], written_by: Any, supersedes: str | None) -> None:
    """Whatever is added or refused, what was in the log stays at its place, as it was, also in the export."""
    before: tuple[ContractRecord, ...] = log.store.contracts.list("software_dev")
    shown = render_decision_log(read_decision_log(log))
    entry = DecisionEntry(
        **dict(zip(PARTS, parts, strict=True)),
        classification="simple",
        written_by=written_by,
        supersedes=supersedes,
    )
    try:
        add_decision(log, entry)
        grown = 1
    except Refused:
        grown = 0
    after = log.store.contracts.list("software_dev")
    assert after[: len(before)] == before
    assert len(after) == len(before) + grown
    assert log.store.contracts.find_changes("software_dev") == ()
    assert render_decision_log(read_decision_log(log)).startswith(shown)


def test_nothing_of_a_store_changes_a_contract() -> None:
    """The part of the store has one way to write, which adds."""
    with_names = [name for name in vars(Store.__init__.__globals__["Contracts"]) if not name.startswith("_")]
    assert with_names == ["record", "new_id", "list", "open_blockers", "get", "find_changes"]


IDS = st.sampled_from(["b1", "b2", "b3"])
STATUS = st.sampled_from(["done_clean", "pending", "failed"])
STORED = st.one_of(
    st.builds(
        lambda id, parent, replaces: ("brief", id, None, None, {"parent": parent, "replaces": replaces}),
        IDS, st.sampled_from(["m", "x"]), st.none() | IDS,
    ),
    st.builds(
        lambda kind, brief, status: (kind, None, brief, f"s-{brief}", {"agent": f"w-{brief}", "status": status}),
        st.sampled_from(["result", "correction"]), IDS, STATUS,
    ),
    st.builds(lambda id, brief: ("blocker", id, None, f"s-{brief}", {}), st.sampled_from(["q1", "q2"]), IDS),
    st.builds(
        lambda id, answers, old: ("decision_entry", id, None, None, {"answers": answers, "supersedes": old}),
        st.sampled_from(["d1", "d2"]), st.none() | st.sampled_from(["q1", "q2"]), st.none() | st.just("d1"),
    ),
)  # fmt: skip


def as_record(
    sequence: int, row: tuple[str, str | None, str | None, str | None, dict[str, Any]]
) -> ContractRecord:
    kind, name, brief, session, body = row
    return ContractRecord(
        org_id="shop", sequence=sequence, kind=kind, record_id=name or f"r{sequence}", brief_id=brief, session=session,
        at=0.0, actor="", previous="", digest="", body=body,
    )  # fmt: skip


@given(rows=st.lists(STORED, max_size=9, unique_by=lambda row: row[1] or object()), listed=st.sets(IDS))
def test_no_done_clean_close_of_unfinished_work(rows: list[Any], listed: set[str]) -> None:
    """A close is coherent exactly if every brief of the mission that none replaced ended clean, is listed, and nothing is open."""
    records = [as_record(number, row) for number, row in enumerate(rows, 1)]
    workers = [
        {"agent": f"w-{each}", "session": f"s-{each}", "status": "done_clean"} for each in sorted(listed)
    ]
    close = msgspec.convert({**SOUND["mission_close"], "brief": "m", "workers": workers}, MissionClose)

    below = [name for kind, name, _, _, body in rows if kind == "brief" and body["parent"] == "m"]
    replaced = [body["replaces"] for kind, _, _, _, body in rows if kind == "brief" and body["parent"] == "m"]
    last = {brief: body["status"] for kind, _, brief, _, body in rows if kind in ("result", "correction")}
    entries = [(name, body) for kind, name, _, _, body in rows if kind == "decision_entry"]
    gone = [body["supersedes"] for _, body in entries]
    answered = [body["answers"] for name, body in entries if name not in gone]
    asked = {session for kind, name, _, session, _ in rows if kind == "blocker" and name not in answered}

    is_coherent = (
        all(each in below and last.get(each) == "done_clean" for each in listed)
        and all(each in replaced or (last.get(each) == "done_clean" and each in listed) for each in below)
        and not any(f"s-{each}" in asked for each in below if each in last)
    )
    assert (not [*find_incoherence(close, records)]) == is_coherent


def test_a_done_close_can_be_coherent() -> None:
    """Otherwise the law would say nothing."""
    rows = [
        ("brief", "b1", None, None, {"parent": "m", "replaces": None}),
        ("result", None, "b1", "s-b1", {"agent": "w-b1", "status": "done_clean"}),
    ]
    workers = [{"agent": "w-b1", "status": "done_clean"}]
    close = msgspec.convert({**SOUND["mission_close"], "brief": "m", "workers": workers}, MissionClose)
    assert [*find_incoherence(close, [as_record(number, row) for number, row in enumerate(rows, 1)])] == []
