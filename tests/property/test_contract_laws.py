"""Laws of contracts: whatever else a result says, a failed verification is never clean; a log only grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.decisions.contracts.check import check_contract
from orgkernel.decisions.contracts.markdown import render_decision_log
from orgkernel.decisions.state_records import ContractRecord
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.contracts import add_decision, read_decision_log
from orgkernel.records.brief import Brief
from orgkernel.records.decision_entry import DecisionEntry
from orgkernel.records.mission_close import MissionClose
from orgkernel.records.result import Result
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
