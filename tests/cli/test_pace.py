"""`orgkernel role pace`: the tier of a role, with the lines that decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.runtime.observation import Observation
from tests.support.in_process import run_here as run
from tests.support.trees import copy_template, write_tree

LEAN = {
    "org.yaml": """\
_schema: orgkernel:organization
_version: "1.0"
org_id: lean
hierarchy: {co: {subordinates: [dev]}}
overrides:
  dev:
    pace_plan:
      alternate: {action: fallback_chain, trigger: failures >= 2}
""",
    "roles/co.yaml": '_schema: orgkernel:role_profile\n_version: "1.0"\nrole_id: co\nrole_type: commander\n',
    "roles/dev.yaml": """\
_schema: orgkernel:role_profile
_version: "1.0"
role_id: dev
chain_of_command: {reports_to: co}
pace_plan:
  alternate: {action: fallback_chain, trigger: consecutive_tool_failures >= 9}
  contingent: {action: escalate, trigger: context_fill > 0.8}
""",
}


@pytest.fixture
def crew(tmp_path: Path) -> Path:
    return copy_template(tmp_path / "crew", "software_dev")


@pytest.fixture
def lean(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "lean", LEAN)


def test_a_raised_tier_is_said_with_its_trigger_and_what_to_do(crew: Path) -> None:
    """The numbers, the line of the trigger, the obligation."""
    done = run("role", "pace", "codegen_specialist", "--org", "software_dev", "--previous", "alternate", "--observation",
               '{"consecutive_tool_failures": 5, "context_fill": 0.2, "turns_without_progress": 1, "unrecoverable_error": false}',
               cwd=crew)  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == (
        "codegen_specialist → contingent (was alternate)\n"
        "  because the contingent trigger is true: consecutive_tool_failures 5 >= 5\n"
        "      roles/codegen_specialist.yaml:59\n"
        "  must hand over to engineering_xo: Hand the task back with a note on what was tried\n"
    )


def test_the_answer_is_json_for_programs(crew: Path) -> None:
    """The same as `Kernel.pace`."""
    done = run(
        "role",
        "pace",
        "codegen_specialist",
        "--org",
        "software_dev",
        "--format",
        "json",
        "--previous",
        "emergency",
        cwd=crew,
    )
    answer = json.loads(done.stdout)
    pace = Kernel.open(crew).pace("software_dev", "codegen_specialist", Observation(), "emergency")
    assert (answer["tier"], answer["held"], answer["unknown"]) == (
        pace.tier,
        list(pace.held),
        list(pace.unknown),
    )
    assert [reason["code"] for reason in answer["reasons"]] == ["TRIGGER_UNKNOWN", "NOT_REPORTED"]
    assert answer["obligations"][0]["action"] == "abort_and_report"
    assert answer["snapshot"].startswith("sha256:")


def test_progress_ends_an_emergency_whose_trigger_is_unknown(crew: Path) -> None:
    """Progress ends an emergency whose trigger is unknown, and the answer cites the line of the trigger."""
    done = run("role", "pace", "co", "--org", "software_dev", "--previous", "emergency", "--observation",
               '{"turns_without_progress": 0}', cwd=crew)  # fmt: skip
    assert done.stdout.startswith(
        "co → primary (was emergency)\n"
        "  because progress was made, so the emergency is over although its trigger is unknown\n"
        "      roles/co.yaml:"
    )


def test_a_new_task_restores_primary(crew: Path) -> None:
    """Nothing is held of the task before."""
    done = run(
        "role", "pace", "co", "--org", "software_dev", "--previous", "emergency", "--new-task", cwd=crew
    )
    assert done.stdout.startswith("co → primary (was emergency)\n  because a new task began\n")


def test_an_override_of_the_organization_decides(lean: Path) -> None:
    """Its trigger, with a published word for a name, at its own line; the superior is whom a tier without one means."""
    two = run(
        "role", "pace", "dev", "--org", "lean", "--observation", '{"consecutive_tool_failures": 2}', cwd=lean
    )
    assert "the alternate trigger is true: consecutive_tool_failures 2 >= 2\n      org.yaml:8\n" in two.stdout
    full = run("role", "pace", "dev", "--org", "lean", "--observation", '{"context_fill": 0.9}', cwd=lean)
    assert "  must hand over to co\n" in full.stdout


def test_a_role_without_a_plan_says_so(lean: Path) -> None:
    """Primary, because nothing is declared."""
    done = run("role", "pace", "co", "--org", "lean", cwd=lean)
    assert done.stdout == "co → primary\n  because role `co` has no PACE plan\n  must continue as planned\n"


@pytest.mark.parametrize(
    ("observation", "said"),
    [
        ("{", "error: the observation is not JSON"),
        ("[]", "error: the observation is not a JSON object"),
        (
            '{"failures": 3}',
            "error: unknown name `failures` in the observation\nhelp: did you mean `consecutive_tool_failures`?",
        ),
        (
            '{"weather": 3}',
            "error: unknown name `weather` in the observation\nhelp: known names are `consecutive_tool_failures`",
        ),
        ('{"max": 3}', "error: unknown name `max` in the observation\nhelp: known names are"),
        ('{"context_fill": 85}', "error: `context_fill` in the observation is not a number from 0 to 1"),
        ('{"turns_elapsed": NaN}', "error: `turns_elapsed` in the observation is not a number of at least 0"),
        (
            '{"context_exhausted": "yes"}',
            "error: `context_exhausted` in the observation is not true or false",
        ),
    ],
)
def test_an_observation_that_says_nothing_is_refused(lean: Path, observation: str, said: str) -> None:
    """An observation that cannot be read is refused, not treated as unknown."""
    done = run("role", "pace", "dev", "--org", "lean", "--observation", observation, cwd=lean)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_an_undeclared_role_is_refused(lean: Path) -> None:
    """With a suggestion."""
    done = run("role", "pace", "devs", "--org", "lean", cwd=lean)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no role `devs`\nhelp: did you mean `dev`?" in done.stderr
