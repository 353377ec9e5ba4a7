"""SALUTE reports: what is computed, what is due, what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orgkernel.runtime.report_files import build_archive_name, build_latest_name, find_stale_archives
from orgkernel.runtime.salute import EmissionState, Situation, compute_report, find_emission, should_emit
from orgkernel.runtime.salute_format import (
    MAX_ITEMS,
    MAX_TEXT_LENGTH,
    SCHEMA,
    SECTIONS,
    VERSION,
    Report,
    ReportError,
    read_report,
)
from tests.support.trees import REPOSITORY

NOW = 1_790_000_000.25
GITHUB = "ghp_" + "a1B2c3D4e5" * 4
WORKING = Situation(
    role_id="bugfix_specialist", now=NOW, role_name="Bugfix Specialist", org_id="software_dev", reports_to="engineering_xo",
    agent_number=1, task="fix the parser", domain="bugfix", plan="bugfix_workflow", plan_step=3, plan_steps=5,
    plan_steps_done=2, plan_turns_since_progress=4, iterations_on_step=2, tool="code_execution_tool",
    working_directory="/srv/app", files_modified=["parser.py", "parser.py", "test_parser.py"], task_started=NOW - 90.5,
    turns_elapsed=6, turns_since_progress=1, model="some/model", tokens_used=12_000, tokens_max=100_000,
    tokens_at_start=6_000, failures_consecutive=1, failures_total=3, memory_fragments=7,
)  # fmt: skip


def test_every_field_is_filled_by_its_rule():
    """A busy role's whole report."""
    assert compute_report(WORKING) == {
        "_schema": "orgkernel:salute_report",
        "_version": "1.0",
        "status": {"state": "active", "progress": 0.4, "pace_level": "primary", "health": "nominal"},
        "activity": {
            "current_task": "fix the parser", "bst_domain": "bugfix", "htn_plan": "bugfix_workflow", "htn_step": 3,
            "htn_total_steps": 5, "current_tool": "code_execution_tool", "iterations_on_current_step": 2,
        },
        "location": {
            "working_directory": "/srv/app", "files_modified": ["parser.py", "test_parser.py"], "files_read": [],
            "resources_claimed": [],
        },
        "unit": {
            "role_id": "bugfix_specialist", "role_name": "Bugfix Specialist", "agent_number": 1,
            "reports_to": "engineering_xo", "organization": "software_dev",
        },
        "time": {
            "timestamp": "2026-09-21T14:13:20.250000Z", "task_started": "2026-09-21T14:11:49.750000Z", "elapsed_seconds": 90.5,
            "turns_elapsed": 6, "turns_since_progress": 4, "context_turns_remaining": 88,
        },
        "environment": {
            "model": "some/model", "context_fill_pct": 12.0, "context_tokens_used": 12_000, "context_tokens_max": 100_000,
            "gpu_available": None, "tool_failures_consecutive": 1, "tool_failures_total": 3, "memory_fragments_stored": 7,
        },
    }  # fmt: skip


def test_the_table_of_fields_is_the_published_schema():
    """Sections, fields, their order, defaults, words and what is required: stated once for hosts, once for documents."""
    schema = json.loads((REPOSITORY / "ontology/schemas/salute_report.json").read_text())
    sections = {name: part for name, part in schema["properties"].items() if name in SECTIONS}
    assert list(sections) == list(SECTIONS)
    for section, reference in sections.items():
        published = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        assert list(published["properties"]) == list(SECTIONS[section])
        assert set(published.get("required", ())) == {
            name for name, field in SECTIONS[section].items() if field.required
        }
        for name, field in SECTIONS[section].items():
            said = published["properties"][name]
            assert tuple(said.get("enum", ())) == field.words
            if not field.required:
                assert said["default"] == field.default, name
    assert (schema["properties"]["_schema"]["const"], schema["properties"]["_version"]["default"]) == (
        SCHEMA,
        VERSION,
    )


@pytest.mark.parametrize(
    ("tier", "failures", "health"),
    [("primary", 0, "nominal"), ("primary", 1, "nominal"), ("primary", 2, "degraded"), ("alternate", 0, "degraded"),
     ("contingent", 0, "critical"), ("emergency", 0, "critical")],
)  # fmt: skip
def test_health_follows_from_tier_and_failures(tier: str, failures: int, health: str):
    """As the specification says under "Computing SALUTE Fields"."""
    report = compute_report(WORKING._replace(tier=tier, failures_consecutive=failures))
    assert report["status"]["health"] == health


@pytest.mark.parametrize(
    ("known", "progress"),
    [({"plan": ""}, 0.0), ({"plan_steps": 0}, 0.0), ({"plan_steps_done": 5}, 1.0), ({"plan_steps_done": 9}, 1.0),
     ({"plan_steps": 3, "plan_steps_done": 1}, 0.3333)],
)  # fmt: skip
def test_progress_is_that_of_the_active_plan(known: dict[str, Any], progress: float):
    """Completed steps of all steps; 0 without a plan."""
    assert compute_report(WORKING._replace(**known))["status"]["progress"] == progress


def test_turns_without_progress_are_the_plan_s_or_ours():
    """The plan's staleness counter goes first; without a plan our own counts."""
    ours = WORKING._replace(plan_turns_since_progress=None)
    assert compute_report(WORKING)["time"]["turns_since_progress"] == 4
    assert compute_report(ours)["time"]["turns_since_progress"] == 1


@pytest.mark.parametrize(
    ("known", "state"),
    [({}, "active"), ({"task": "", "turns_elapsed": 0}, "idle"), ({"tier": "alternate"}, "error_recovery"),
     ({"tier": "contingent"}, "escalating"), ({"tier": "emergency"}, "aborted"),
     ({"tier": "contingent", "state": "waiting"}, "waiting"), ({"state": "asleep"}, "active")],
)  # fmt: skip
def test_the_state_is_the_host_s_or_follows_from_the_tier(known: dict[str, Any], state: str):
    """A word that is no state says nothing."""
    assert compute_report(WORKING._replace(**known))["status"]["state"] == state


@pytest.mark.parametrize(
    ("known", "percentage"),
    [({}, 12.0), ({"tokens_max": 0}, 0.0), ({"tokens_max": 0, "context_fill": 0.345}, 34.5)],
)
def test_the_fill_is_counted_or_as_told(known: dict[str, Any], percentage: float):
    """Tokens go before the share a host states."""
    assert compute_report(WORKING._replace(**known))["environment"]["context_fill_pct"] == percentage


@pytest.mark.parametrize(
    "known", [{"tokens_at_start": None}, {"tokens_max": 0}, {"turns_elapsed": 0}, {"tokens_at_start": 12_000}]
)
def test_turns_that_remain_are_not_guessed(known: dict[str, Any]):
    """Null, unless it is known what a turn of this task takes."""
    assert compute_report(WORKING._replace(**known))["time"]["context_turns_remaining"] is None


def test_a_full_window_has_no_turn_left():
    """Never a negative number."""
    assert compute_report(WORKING._replace(tokens_used=120_000))["time"]["context_turns_remaining"] == 0


def test_failures_in_a_row_are_failures_in_all():
    """A host that counts only those in a row does not report fewer in all."""
    environment = compute_report(WORKING._replace(failures_consecutive=4, failures_total=0))["environment"]
    assert (environment["tool_failures_consecutive"], environment["tool_failures_total"]) == (4, 4)


def test_secrets_are_masked_wherever_they_stand():
    """A task, a path, a list: whatever has the shape of a token."""
    report = compute_report(WORKING._replace(task=f"push with {GITHUB}", working_directory=f"/x/{GITHUB}", files_read=[GITHUB], role_name=GITHUB,
        model=f"m {GITHUB}", resources_claimed=[f"password = {'x7Kp9vQ2mW4zR8sT'}"],
    ))  # fmt: skip
    text = json.dumps(report)
    assert GITHUB not in text
    assert "x7Kp9vQ2mW4zR8sT" not in text
    assert report["activity"]["current_task"].startswith("push with ghp_***")


def test_a_private_key_is_masked_to_its_end():
    """Not only as much of it as it takes to recognize one."""
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" + str(line) for line in range(9))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    masked = compute_report(WORKING._replace(task=f"use\n{key}\nhere"))["activity"]["current_task"]
    assert "MIIEvQ" not in masked
    assert masked.endswith("\nhere")


def test_the_configuration_of_a_model_is_no_name():
    """What the first dispatcher wrote into reports held keys; only a short text on one line is a name."""
    for model in ("ModelConfig(provider='a',\n api_key='b')", "x" * 201, {"name": "a"}, object()):
        assert compute_report(WORKING._replace(model=model))["environment"]["model"] == ""


def test_a_report_stays_small():
    """Whatever the host hands in: texts are cut, of lists the last entries stay."""
    report = compute_report(
        WORKING._replace(task="long " * 10**6, files_read=[f"{number}.py" for number in range(10**4)])
    )
    assert len(report["activity"]["current_task"]) == MAX_TEXT_LENGTH
    assert report["location"]["files_read"][-1] == "9999.py"
    assert len(report["location"]["files_read"]) == MAX_ITEMS


# --- when a report is due


def asked(
    situation: Situation, after: EmissionState | None, **doctrine: Any
) -> tuple[bool, str, EmissionState]:
    emission = should_emit(after, compute_report(situation), doctrine)
    assert find_emission(after, situation, doctrine) == emission
    return emission


def test_the_first_report_of_a_role_is_due():
    """A role that begins says so; what another role reported does not count."""
    due, reason, state = asked(WORKING, None)
    other = asked(WORKING._replace(role_id="codegen_specialist"), state)
    assert (due, reason, other.due, other.reason) == (True, "first", True, "first")  # type: ignore[attr-defined]


def test_reports_come_at_the_interval():
    """Every `salute_interval_turns` calls; asking again in the same call changes nothing."""
    state, due_at = None, []
    for turn in (1, 1, 2, 3, 4, 4, 5, 6, 7, 8):
        due, _, state = asked(WORKING._replace(turns_elapsed=turn), state, salute_interval_turns=3)
        if due:
            due_at.append(turn)
    assert due_at == [1, 4, 7]


def test_a_new_task_goes_on_counting():
    """Turns of short tasks add up, so that a role with many of them still reports."""
    state, due_at = None, []
    for number, turn in enumerate((1, 2, 1, 2, 1, 2, 1, 2)):
        due, _, state = asked(WORKING._replace(turns_elapsed=turn), state, salute_interval_turns=4)
        if due:
            due_at.append(number)
    assert due_at == [0, 4]


@pytest.mark.parametrize("interval", [None, 0, -1, True, "3", 2.5])
def test_an_interval_that_is_none_counts_as_the_usual_one(interval: Any):
    """Five calls, as in the specification's example."""
    _, _, state = asked(WORKING._replace(turns_elapsed=1), None)
    assert not asked(WORKING._replace(turns_elapsed=5), state, salute_interval_turns=interval)[0]
    assert asked(WORKING._replace(turns_elapsed=6), state, salute_interval_turns=interval)[:2] == (
        True,
        "interval",
    )


def test_a_change_of_tier_or_state_is_due_at_once():
    """Both ways, and each change once."""
    _, _, state = asked(WORKING, None)
    reasons = []
    for known in (
        {"tier": "alternate"},
        {"tier": "alternate"},
        {"tier": "primary"},
        {"state": "waiting"},
        {"state": "waiting"},
        {},
    ):
        _, reason, state = asked(WORKING._replace(**known), state)
        reasons.append(reason)
    assert reasons == ["tier", "", "tier", "state", "", "state"]


@pytest.mark.parametrize(
    ("ending", "setting", "reason"),
    [("complete", "report_on_completion", "completion"), ("aborted", "report_on_failure", "failure")],
)
def test_the_end_of_a_task_is_reported_as_the_doctrine_says(ending: str, setting: str, reason: str):
    """By default it is; the next task that ends the same way is reported too."""
    _, _, state = asked(WORKING, None)
    done = WORKING._replace(state=ending)
    assert not asked(done, state, **{setting: False})[0]
    due, said, after = asked(done, state)
    assert (due, said) == (True, reason)
    assert not asked(done, after)[0]
    assert asked(done._replace(task_started=NOW - 5), after)[:2] == (True, reason)


def test_a_failure_that_changes_the_tier_is_reported_in_any_case():
    """`report_on_failure: false` silences the end of the task, not the escalation."""
    _, _, state = asked(WORKING, None)
    assert asked(WORKING._replace(tier="emergency"), state, report_on_failure=False)[:2] == (True, "tier")


# --- reading reports of others


def test_what_we_write_we_read():
    """A report of this version reads as itself."""
    assert read_report(compute_report(WORKING)) == compute_report(WORKING)


def test_an_older_minor_version_gets_defaults_for_what_it_lacks():
    """The fields every version has are enough."""
    old = {
        "_schema": SCHEMA,
        "_version": "1.0",
        "status": {"state": "active"},
        "unit": {"role_id": "co"},
        "time": {"timestamp": "2026-09-21T14:13:20+02:00"},
    }
    report = read_report(old)
    assert report["status"] == {
        "state": "active",
        "progress": 0.0,
        "pace_level": "primary",
        "health": "nominal",
    }
    assert report["environment"]["gpu_available"] is None
    assert report["location"]["files_read"] == []
    report["location"]["files_read"].append("shared?")
    assert read_report(old)["location"]["files_read"] == []


def test_a_newer_minor_version_is_read_without_what_is_new():
    """Fields this version does not know are dropped, a user's own stay, and it says what it is now."""
    newer: Report = compute_report(WORKING) | {"_version": "1.7", "weather": {}, "x_site": "north"}
    newer["status"] |= {"mood": "fine", "x_shift": 2, "x_deep": {"a": 1}}
    report = read_report(newer)
    assert (report["_version"], report["x_site"], report["status"]["x_shift"]) == (VERSION, "north", 2)
    assert "weather" not in report
    assert not {"mood", "x_deep"} & set(report["status"])


def test_nulls_of_other_writers_are_defaults():
    """Where a field cannot be null, null says as much as nothing."""
    report = compute_report(WORKING)
    report["activity"]["htn_plan"] = None
    report["unit"]["reports_to"] = None
    report["location"] = None
    read = read_report(report)
    assert (read["activity"]["htn_plan"], read["unit"]["reports_to"], read["location"]["files_modified"]) == (
        "",
        None,
        [],
    )


def test_secrets_of_other_writers_are_masked():
    """What another process put into a report is stored and shown as well."""
    report = compute_report(WORKING)
    report["activity"]["current_task"] = f"push with {GITHUB}"
    report["x_note"] = GITHUB
    assert GITHUB not in json.dumps(read_report(report))


@pytest.mark.parametrize(
    ("route", "value", "code", "said"),
    [
        ((), [], "NOT_A_REPORT", "a report must be a mapping"),
        (("_schema",), "orgkernel:role_profile", "NOT_A_REPORT", "_schema: a report must have `_schema: orgkernel:salute_report`"),
        (("_version",), "2.0", "UNKNOWN_VERSION", "_version: version `2.0` is not supported; this reader accepts 1.x"),
        (("_version",), 1, "UNKNOWN_VERSION", "_version: version (not a string) is not supported; this reader accepts 1.x"),
        (("_version",), "1", "UNKNOWN_VERSION", "_version: version `1` is not supported; this reader accepts 1.x"),
        (("status",), "fine", "BAD_FIELD", "status: must be a mapping"),
        (("status", "state"), None, "MISSING_FIELD", "status/state: this field is required"),
        (("status", "state"), "asleep", "BAD_FIELD", "status/state: must be a state, one of idle, active, waiting, error_recovery, escalating, complete, aborted"),
        (("status", "progress"), 40, "BAD_FIELD", "status/progress: must be a number from 0 to 1"),
        (("unit", "role_id"), "", "BAD_FIELD", "unit/role_id: must be a string"),
        (("unit", "role_id"), "x" * 1000, "BAD_FIELD", "unit/role_id: must be a string"),
        (("unit", "agent_number"), 1.5, "BAD_FIELD", "unit/agent_number: must be a count"),
        (("time", "timestamp"), "yesterday", "BAD_FIELD", "time/timestamp: must be a timestamp (ISO 8601)"),
        (("time", "task_started"), 3, "BAD_FIELD", "time/task_started: must be a timestamp (ISO 8601) or null"),
        (("time", "elapsed_seconds"), -1, "BAD_FIELD", "time/elapsed_seconds: must be seconds"),
        (("time", "elapsed_seconds"), float("nan"), "BAD_FIELD", "time/elapsed_seconds: must be seconds"),
        (("environment", "gpu_available"), "yes", "BAD_FIELD", "environment/gpu_available: must be true, false or null"),
        (("location", "files_read"), ["a", 1], "BAD_FIELD", "location/files_read: must be a list of strings"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(route: tuple[str, ...], value: Any, code: str, said: str):
    """With a code, the field and what it has to be."""
    report: Any = compute_report(WORKING)
    if not route:
        report = value
    elif len(route) == 1:
        report[route[0]] = value
    else:
        report[route[0]][route[1]] = value
    with pytest.raises(ReportError) as raised:
        read_report(report)
    assert (raised.value.code, str(raised.value)) == (code, said)
    assert raised.value.where == "/".join(route)


# --- names of files


def test_names_of_files_are_those_of_the_specification():
    """`<role_id>_latest.json`, and a copy whose name sorts by time."""
    report = compute_report(WORKING)
    assert build_latest_name("bugfix_specialist") == "bugfix_specialist_latest.json"
    assert build_archive_name(report) == "bugfix_specialist_20260921T141320.250000Z.json"
    assert build_archive_name(report, 2) == "bugfix_specialist_20260921T141320.250000Z-2.json"


def test_only_copies_that_are_too_old_are_stale():
    """Files of other programs are never named, however old they are."""
    names = [
        "co_20260921T141320.250000Z.json",
        "co_20260921T141320.250000Z-3.json",
        ".co_20260921T141320.250000Z.json.tmp",
    ]
    others = ["co_latest.json", "notes.json", "co_20260921.json", "co_20260921T141320.250000Z.json.bak"]
    written = [(name, 1_000.0) for name in (*names, *others)]
    assert find_stale_archives(written, 1_000.0 + 3_600.0) == []
    assert find_stale_archives(written, 1_000.5 + 3_600.0) == sorted(names)
    assert find_stale_archives(written, 1_060.5, keep_seconds=60) == sorted(names)
