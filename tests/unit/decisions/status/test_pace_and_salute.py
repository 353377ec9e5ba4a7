"""PACE and SALUTE of the roles of an organization: the runtime's answers, with what the documents know."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.runtime.bundle import read_bundle
from orgkernel.runtime.observation import Observation
from orgkernel.runtime.pace import decide_pace, read_plan
from orgkernel.runtime.salute import Situation
from orgkernel.runtime.tiers import TIERS
from tests.support.trees import REPOSITORY

KERNEL = Kernel.open()
OBSERVED = [
    Observation(),
    Observation(
        consecutive_tool_failures=3, context_fill=0.1, turns_without_progress=0, unrecoverable_error=False
    ),
    Observation(consecutive_tool_failures=9, total_tool_failures=20, turns_elapsed=40, elapsed_seconds=9_000),
    Observation(turns_without_progress=40, context_exhausted=True),
]


STUCK = Observation(unrecoverable_error=True)


@pytest.mark.parametrize(
    ("org", "role", "observation", "asked", "codes"),
    [
        ("software_dev", "co", Observation(), {}, ["NOTHING_TRIPPED", "NOT_REPORTED"]),
        ("software_dev", "co", STUCK, {}, ["TRIGGER_HOLDS", "NOT_REPORTED"]),
        ("software_dev", "co", Observation(), {"previous": "contingent"}, ["TRIGGER_UNKNOWN", "NOT_REPORTED"]),
        ("software_dev", "co", Observation(), {"previous": "contingent", "new_task": True},
         ["NEW_TASK", "NOTHING_TRIPPED", "NOT_REPORTED"]),
        ("software_dev", "co", Observation(turns_without_progress=0), {"previous": "emergency"},
         ["PROGRESS", "NOTHING_TRIPPED", "NOT_REPORTED"]),
        ("household", "steward", STUCK, {}, ["NO_PLAN"]),
    ],
)  # fmt: skip
def test_what_decided_has_a_code(
    org: str, role: str, observation: Observation, asked: dict[str, Any], codes: list[str]
):
    """Primary is assumed where nothing is seen, and what could not be seen is named."""
    assert [reason.code for reason in KERNEL.pace(org, role, observation, **asked).reasons] == codes


def test_a_reason_has_the_line_of_its_trigger():
    """The file and line that decided."""
    pace = KERNEL.pace("software_dev", "co", Observation(unrecoverable_error=True))
    (why,) = pace.reasons[0].why
    assert (pace.tier, why.file) == ("emergency", "templates/software_dev/roles/co.yaml")
    line = (REPOSITORY / why.file).read_text(encoding="utf-8").splitlines()[why.line - 1]
    assert f"emergency {line.strip().replace(':', '')}" == why.text


@pytest.mark.parametrize("org", ["software_dev", "sigint_alpha", "household", "blank"])
def test_a_host_with_the_compiled_plan_decides_as_the_kernel(org: str):
    """For every role, tier and some observations: the bundle says what the documents say."""
    index = KERNEL.organization(org).snapshot.index
    bundle = read_bundle(json.loads(json.dumps(compile_bundle(index, "test"))))
    for role_id, role in bundle.roles.items():
        plan = read_plan({"pace": role.pace, "max_turns": role.max_turns, "reports_to": role.reports_to})
        for observation, tier in product(OBSERVED, TIERS):
            there = decide_pace(plan, observation, tier)
            here = KERNEL.pace(org, role_id, observation, tier)
            assert (there.tier, there.held, there.unknown, there.obligations) == (
                here.tier, here.held, here.unknown, here.obligations,
            )  # fmt: skip


def test_the_report_of_a_role_names_what_the_organization_declares():
    """Name, superior and organization are those of the documents, whatever the host believes."""
    situation = Situation(
        role_id="bugfix_specialist", now=0, role_name="Me", org_id="mine", reports_to="nobody"
    )
    assert KERNEL.report("software_dev", situation)["unit"] == {
        "role_id": "bugfix_specialist", "role_name": "Bugfix Specialist", "agent_number": 0,
        "reports_to": "engineering_xo", "organization": "software_dev",
    }  # fmt: skip
