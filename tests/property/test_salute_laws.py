"""Laws of SALUTE reports, over generated situations, and over whatever a host may hand in by mistake."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from orgkernel.runtime.report_files import build_archive_name, build_latest_name, is_archive_name
from orgkernel.runtime.salute import EmissionState, Situation, compute_report, should_emit
from orgkernel.runtime.salute_format import STATES, Report, ReportError, read_report
from orgkernel.runtime.tiers import TIERS
from orgkernel.runtime.utc import as_exact_utc, as_seconds
from tests.support.trees import REPOSITORY

SCHEMA = Draft202012Validator(json.loads((REPOSITORY / "ontology/schemas/salute_report.json").read_text()))
NAMES = Situation._fields

texts = st.text(st.characters(exclude_categories=[]), max_size=20)
numbers = st.integers(-3, 30) | st.integers() | st.floats()
anything = st.recursive(
    st.none() | st.booleans() | numbers | texts | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
ids = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
moments = st.floats(0, 4e9)
counts = st.integers(0, 10**6)
situations = st.builds(
    Situation,
    role_id=ids, now=moments, role_name=texts, org_id=ids, reports_to=st.none() | ids, agent_number=counts,
    tier=st.sampled_from(TIERS), state=st.none() | st.sampled_from(STATES), task=texts, domain=ids, plan=st.just("") | ids,
    plan_step=counts, plan_steps=counts, plan_steps_done=counts, plan_turns_since_progress=st.none() | counts,
    iterations_on_step=counts, tool=ids, working_directory=texts, files_modified=st.lists(texts, max_size=4),
    files_read=st.lists(texts, max_size=4), resources_claimed=st.lists(texts, max_size=4),
    task_started=st.none() | moments, turns_elapsed=counts, turns_since_progress=counts, model=texts,
    tokens_used=counts, tokens_max=counts, tokens_at_start=st.none() | counts, context_fill=st.none() | st.floats(0, 1),
    gpu_available=st.none() | st.booleans(), failures_consecutive=counts, failures_total=counts, memory_fragments=counts,
)  # fmt: skip
mistaken = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, anything))


def read_or_refused(data: Any) -> Report | ReportError:
    try:
        return read_report(data)
    except ReportError as error:
        return error


@given(situations)
def test_every_report_fits_the_published_schema(situation: Situation) -> None:
    """And it is JSON, and reads as itself."""
    report = compute_report(situation)
    SCHEMA.validate(report)
    again = json.loads(json.dumps(report, allow_nan=False).encode("utf-8"))
    assert again == report
    assert read_report(again) == report


@given(situations, mistaken)
def test_a_host_that_hands_in_nonsense_gets_a_report(situation: Situation, wrong: dict[str, Any]) -> None:
    """Values of any other kind never raise and never leave the schema."""
    report = compute_report(situation._replace(**wrong))
    SCHEMA.validate(report)
    json.dumps(report, allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(situations, st.data())
def test_whatever_is_read_fits_the_schema_or_is_refused_with_a_place(
    situation: Situation, data: st.DataObject
) -> None:
    """Any value anywhere in a report is either read as what it must be, or named."""
    report = compute_report(situation)
    section = data.draw(st.sampled_from(list(report)))
    if isinstance(report[section], dict) and data.draw(st.booleans()):
        report[section][data.draw(st.sampled_from([*report[section], "x_own", "later"]))] = data.draw(
            anything
        )
    else:
        report[data.draw(st.sampled_from([section, "x_own", "later"]))] = data.draw(anything)
    read = read_or_refused(report)
    if isinstance(read, ReportError):
        assert read.code in {"NOT_A_REPORT", "UNKNOWN_VERSION", "MISSING_FIELD", "BAD_FIELD"}
        assert read.where
    else:
        SCHEMA.validate(read)
        assert read_report(read) == read


@given(anything)
def test_reading_never_raises_anything_else(data: Any) -> None:
    """Whatever is no report is refused as one."""
    assert isinstance(read_or_refused(data), ReportError)


@given(situations, situations, st.integers(0, 12), st.fixed_dictionaries({}, optional={
    "salute_interval_turns": st.integers(1, 9), "report_on_completion": st.booleans(), "report_on_failure": st.booleans()}))  # fmt: skip
def test_a_change_of_tier_is_always_due(
    one: Situation, other: Situation, since: int, doctrine: dict[str, Any]
) -> None:
    """And what is not due keeps on counting turns."""
    before = should_emit(None, compute_report(one), doctrine).state
    before = before._replace(turns_since=since)
    report = compute_report(other._replace(role_id=one.role_id))
    emission = should_emit(before, report, doctrine)
    if before.pace_level != report["status"]["pace_level"]:
        assert (emission.due, emission.reason) == (True, "tier")
    assert emission.due == bool(emission.reason)
    assert emission.state.turns_since == 0 if emission.due else emission.state.turns_since >= since
    assert not should_emit(emission.state, report, {"salute_interval_turns": 10**9}).due


@given(st.integers(1, 6), st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_no_interval_passes_without_a_report(interval: int, steps: list[int]) -> None:
    """However many calls lie between two questions, and however often one call is asked about, none is due late."""
    state: EmissionState | None = None
    turns = reported = 0
    for step in steps:
        turns += step
        emission = should_emit(
            state, compute_report(Situation(role_id="co", now=0, state="active", turns_elapsed=turns)),
            {"salute_interval_turns": interval},
        )  # fmt: skip
        assert emission.due == (state is None or turns - reported >= interval)
        if emission.due:
            reported = turns
        state = emission.state


@given(st.text(), moments, st.integers(0, 99))
def test_file_names_never_leave_the_folder(role_id: str, now: float, sequence: int) -> None:
    """No separator, and no dot at the beginning, whatever a role is called."""
    report = compute_report(Situation(role_id="co", now=now))
    report["unit"]["role_id"] = role_id
    for name in (build_latest_name(role_id), build_archive_name(report, sequence)):
        assert not set(name) & set("/\\:\0")
        assert not name.startswith(".")
        assert name.isascii()
    assert is_archive_name(build_archive_name(report, sequence)) == bool(role_id)
    assert not is_archive_name(build_latest_name(role_id))


@given(st.floats(-6e10, 9.9e10))
def test_moments_are_read_as_they_are_written(seconds: float) -> None:
    """To the microsecond."""
    text = as_exact_utc(seconds)
    assert text is not None
    assert abs((as_seconds(text) or 0.0) - seconds) <= 2e-5
