"""What a manifest holds: complete, in the published shape, the same bytes for the same documents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from orgkernel.documents.records import RoleProfile
from orgkernel.documents.role_fields import fields_shown_in, value_in
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import build_manifest_schema, encode
from tests.support.trees import REPOSITORY, TEMPLATES, write_tree
from tests.unit.manifest.everything import EVERYTHING

VALIDATOR = jsonschema.Draft202012Validator(build_manifest_schema())


def ids(items: Any) -> list[str]:
    return [item.id for item in items]


def test_the_manifest_of_a_role_is_complete(whole: Kernel) -> None:
    """Every field of the profile is in it, as the organization has it."""
    maker = whole.manifest("whole", "maker")
    assert (maker.role_id, maker.role_name, maker.role_type) == ("maker", "Maker", "specialist")
    assert (maker.org_id, maker.org_name, maker.description) == ("whole", "The Whole", "Makes.")
    blank = RoleProfile(role_id="blank")
    defaults = {each.route[-1]: value_in(blank, each) for each in fields_shown_in("identity", "setting")}
    assert {fact.id: fact.value for fact in maker.identity} == defaults | {
        "authority_level": 1, "can_delegate": False, "crew_tier": "utility", "position": "worker", "clearance": "basic",
        "entry_rank": "apprentice", "open_to_probation": True, "deputy": "keeper", "lmc_mode": "direct",
    }  # fmt: skip
    assert maker.department
    assert (maker.department.id, maker.department.name) == ("works", "Works")
    assert [(each.id, each.role_type, each.external) for each in maker.chain_of_command] == [
        ("chief", "commander", False),
        ("board", None, True),
    ]
    assert [(each.id, each.channel) for each in maker.peers] == [("keeper", "lateral")]
    assert ids(maker.handoff_targets) == []
    assert ids(maker.handoff_sources) == ["chief", "keeper"]
    assert ids(whole.manifest("whole", "keeper").handoff_targets) == ["maker"]
    assert [(each.id, each.description, each.chosen) for each in maker.domains] == [
        ("build", "Making things", True)
    ]
    assert ids(maker.intents) == ["make_something"]
    (plan,) = maker.plans
    assert (plan.id, plan.name, plan.description, plan.domains) == (
        "make",
        "Make it",
        "From nothing",
        ("build",),
    )
    assert (plan.steps, plan.runnable, plan.missing_tools, plan.stale_after_turns) == (
        ("measure", "cut"),
        True,
        (),
        4,
    )
    assert [
        (skill.id, skill.min_proficiency, skill.proficiency_name, skill.optional) for skill in maker.skills
    ] == [("sawing", 1, "one", False)]
    for field, expected in (
        ("credentials", "workshop_key"), ("data", "drawings"), ("file_scope", "src/**"),
        ("standing_orders", "Wear goggles."), ("does_not_have", "A forklift."),
    ):  # fmt: skip
        assert ids(getattr(maker, field)) == [expected]
    assert maker.pace.current is None
    assert ids(maker.pace.tiers) == ["primary", "contingent", "emergency"]
    assert maker.snapshot == whole.organization("whole").snapshot.digest


def test_tools_say_what_their_level_suffices_for(whole: Kernel) -> None:
    """Primary before secondary before stated levels; actions with the level each requires."""
    saw, bench = whole.manifest("whole", "maker").tools
    assert (saw.id, saw.level, saw.letters, saw.preference) == ("saw", "full", "ORWD", "primary")
    assert (saw.actions, saw.allowed_actions) == ({"look": "observe", "cut": "full"}, ("look", "cut"))
    assert (saw.name, saw.provider, saw.side_effects) == ("Saw", "workshop", "destructive")
    assert (saw.falls_back_to, saw.names, saw.input_schema) == (
        ("bench",),
        {"agent_zero": "saw_tool"},
        {"type": "object"},
    )
    assert (bench.id, bench.level, bench.letters, bench.preference) == ("bench", "write", "ORW", "stated")
    assert (bench.actions, bench.allowed_actions) == ({"use": "write"}, ("use",))
    assert (saw.wired, saw.used, saw.grants) == (None, None, ())


def test_a_level_that_does_not_suffice_allows_no_action(tmp_path: Path) -> None:
    """Level `read` on a tool that writes: listed, and good for looking only."""
    text = EVERYTHING["roles/maker.yaml"].replace("level: write", "level: read")
    kernel = Kernel.open(write_tree(tmp_path, EVERYTHING | {"roles/maker.yaml": text}))
    tool = next(each for each in kernel.manifest("whole", "maker").tools if each.id == "bench")
    assert (tool.letters, tool.actions, tool.allowed_actions) == ("OR-", {"use": "write"}, ())


def test_an_action_that_a_path_or_a_lock_would_open_is_conditional(tmp_path: Path) -> None:
    """A write in a scope and the use of an exclusive tool are refused as things are, and listed with what they depend on."""
    org = """\
_schema: orgkernel:organization
org_id: demo
hierarchy: {co: {}}
---
{_schema: "orgkernel:role_profile", role_id: co, role_type: commander, file_scope: ["ops/**"],
 capabilities: {tools_primary: [files, shell]}}
---
_schema: orgkernel:tool_catalog
tools:
  files: {type: deterministic_function, actions: {read: read, write: write}, path_arguments: [path]}
  shell: {type: computer_use, side_effects: destructive, concurrency: exclusive, lock_timeout_seconds: 60, path_arguments: []}
"""
    kernel = Kernel.open(write_tree(tmp_path, {"org.yaml": org}))
    files, shell = kernel.manifest("demo", "co").tools
    assert (files.allowed_actions, files.conditional_actions) == (("read",), ("write",))
    assert files.conditional == "path:ops/**"
    assert (shell.allowed_actions, shell.conditional_actions) == (("lock",), ("use",))
    assert shell.conditional == "lock:shell"


def test_essential_tools_are_there_without_being_listed(whole: Kernel) -> None:
    """Tools essential for all roles, for roles that delegate, and for roles with a certain tool; a listed tool is not
    repeated.
    """
    assert ids(whole.manifest("whole", "maker").essential_tools)[:2] == ["bell", "guard"]
    chief = whole.manifest("whole", "chief")
    assert ids(chief.tools) == ["bell"]
    assert "whistle" in ids(chief.essential_tools)
    assert "bell" not in ids(chief.essential_tools)
    assert "guard" not in ids(whole.manifest("whole", "keeper").essential_tools)
    for tool in chief.essential_tools:
        assert (tool.preference, tool.level, tool.decided_by) == ("essential", "full", "essential tool")


def test_a_plan_whose_tools_a_role_lacks_is_not_runnable(tmp_path: Path) -> None:
    """It is listed all the same, with what is missing and the line that needs it."""
    text = (
        EVERYTHING["roles/maker.yaml"]
        .replace("    - saw\n", "    - bell\n")
        .replace("tool: bench", "tool: guard")
    )
    kernel = Kernel.open(write_tree(tmp_path, EVERYTHING | {"roles/maker.yaml": text}))
    from orgkernel.manifest.role import build_role_manifest  # the organization has errors and is not served

    latest = kernel.latest("whole")
    (plan,) = build_role_manifest(latest.index, "maker", latest.diagnostics).plans
    assert (plan.runnable, set(plan.missing_tools)) == (False, {"saw", "bench"})
    assert [why.text for why in plan.why] == [
        "role maker follows plan make", *(f"plan make needs tool {tool}" for tool in plan.missing_tools)
    ]  # fmt: skip
    assert "ORG309" in ids(build_role_manifest(latest.index, "maker", latest.diagnostics).findings)


def test_the_manifest_of_an_organization_is_complete(whole: Kernel) -> None:
    """Mission, mode, both configurations, channels, departments, layers, limits, who takes what."""
    crew = whole.crew("whole")
    assert {fact.id: fact.value for fact in crew.mission} == {
        "objective": "To be complete.", "success_criteria": ("Nothing is missing.",),
        "constraints": ("Stay small.", "Stay valid."),
    }  # fmt: skip
    assert crew.mode.value == "macrocosm"
    execution = {fact.id: fact.value for fact in crew.execution}
    assert execution["execution_model"] == "concurrent_containers"
    assert execution["network"]["heartbeat_interval_seconds"] == 7
    assert {fact.id: fact.value for fact in crew.other_execution}[
        "execution_model"
    ] == "sequential_role_switching"
    assert [(each.id, each.description, each.allowed_pairs) for each in crew.channels] == [
        ("command", "Up and down", ()),
        ("lateral", "", (("maker", "keeper"),)),
    ]
    assert [(each.name, each.description) for each in crew.departments] == [
        ("Works", "Where things are made")
    ]
    assert (ids(crew.layers), ids(crew.dispatch_edges), ids(crew.external)) == (
        ["top", "bottom"],
        ["top>bottom"],
        ["board"],
    )
    assert {fact.id: fact.value for fact in crew.limits}["max_children"] == 4
    assert [(each.id, each.role_id, each.answers_for, each.routing) for each in crew.domains] == [
        ("build", "maker", True, ("maker",)),
        ("keep", "keeper", True, ()),
    ]
    assert (crew.roots, [role.role_id for role in crew.roles], crew.count, crew.next) == (
        ("chief",), ["chief", "maker", "keeper"], 3, None,
    )  # fmt: skip


def test_handoff_targets_and_sources_follow_layers_and_positions() -> None:
    """A role that a layer or its position keeps from handing work to another is told neither as its source nor as its target."""
    kernel = Kernel.open(TEMPLATES / "omega")
    found = {
        role: (
            [each.id for each in kernel.manifest("omega", role).handoff_targets],
            [each.id for each in kernel.manifest("omega", role).handoff_sources],
        )
        for role in ("overseer", "intake", "planner", "worker")
    }
    assert found == {
        "overseer": (["companion", "intake"], []),
        "intake": (["planner"], ["companion", "human", "overseer"]),
        "planner": (["worker"], ["intake"]),
        "worker": ([], ["planner"]),
    }
    crew = kernel.crew("omega")
    assert [each.id for each in crew.layers] == [f"L{number}" for number in range(6)]
    assert {each.why[0].file.rpartition("/")[2] for each in (*crew.layers, *crew.dispatch_edges)} == {
        "governance.yaml"
    }
    limits = {each.id: (each.value, each.why[0].file.rpartition("/")[2]) for each in crew.limits}
    assert limits["max_spawn_depth"] == (4, "governance.yaml")
    assert limits["span_of_control"] == (7, "org.yaml")


def test_manifests_fit_the_published_schema(whole: Kernel, shipped: Kernel) -> None:
    """Of every role and organization there is, whole or in pages."""
    for kernel in (whole, shipped):
        for org, organization in kernel.state.served.items():
            VALIDATOR.validate(msgspec.json.decode(encode(kernel.crew(org))))
            VALIDATOR.validate(msgspec.json.decode(encode(kernel.crew(org, limit=1))))
            for role in organization.snapshot.index.roles:
                VALIDATOR.validate(msgspec.json.decode(encode(kernel.manifest(org, role))))


@pytest.mark.parametrize("key", ["role_id", "why", "plans", "snapshot", "_schema"])
def test_the_schema_refuses_what_lacks_a_promised_field(shipped: Kernel, key: str) -> None:
    """A schema that accepts anything would prove nothing."""
    data = msgspec.json.decode(encode(shipped.manifest("blank", "co")))
    del data[key]
    if key == "_schema":
        data[key] = "orgkernel:something"
    assert not VALIDATOR.is_valid(data)


def test_a_role_has_at_least_the_promised_keys(shipped: Kernel) -> None:
    """The list other tools were told."""
    data = msgspec.json.decode(encode(shipped.manifest("software_dev", "co")))
    promised = (
        "role_id role_name role_type org_id chain_of_command subordinates domains plans tools skills escalation pace "
        "doctrine requirements does_not_have findings snapshot"
    )
    assert set(promised.split()) <= data.keys()


def test_the_same_documents_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Whatever order sets have in a process, none of it shows."""
    write_tree(tmp_path, EVERYTHING)
    program = (
        "import sys\nfrom orgkernel import Kernel, encode\nfrom orgkernel.manifest.chart import render_json, render_tree\n"
        "for kernel in (Kernel.open(), Kernel.open('.')):\n"
        "    for org, each in kernel.state.served.items():\n"
        "        sys.stdout.buffer.write(encode(kernel.crew(org)))\n"
        "        for role in each.snapshot.index.roles:\n"
        "            sys.stdout.buffer.write(encode(kernel.manifest(org, role)))\n"
        "        sys.stdout.write(render_json(each.snapshot.graph) + render_tree(each.snapshot.graph))\n"
        "        sys.stdout.flush()\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 100_000


def test_findings_about_a_role_are_in_its_manifest(tmp_path: Path) -> None:
    """Warnings and hints do not keep an organization from answering, and are said where they belong."""
    text = EVERYTHING["roles/keeper.yaml"].replace("description: Keeps.\n", "")
    kernel = Kernel.open(write_tree(tmp_path, EVERYTHING | {"roles/keeper.yaml": text}))
    (found,) = kernel.manifest("whole", "keeper").findings
    assert (found.id, found.name, found.severity) == ("ORG702", "undescribed-role", "info")
    assert found.why[0].line == found.line
    assert kernel.manifest("whole", "maker").findings == ()
