"""Every field of the specification's three schemas has a reader (docs/documents.md): a field without a reader fails here.

The first kernel of this kind had fields that nothing read. For a role profile and an organization each field is given
another valid value, and a manifest, a finding or a dispatch answer must change. A SALUTE report is only read, so each
of its fields must be accepted as it is and refused, at its own place, as something else.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.documents.model.organization import Organization
from orgkernel.documents.model.role_profile import RoleProfile
from orgkernel.documents.model.salute_report import SaluteReport
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import SourceText
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import find_mark, unpack_mark
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.trees import copy_template, read
from tests.support.yaml_text import read_yaml_file

ROLE_FILE, ORG_FILE = "roles/codegen_specialist.yaml", "org.yaml"

# Specification, "Schema 1: Role Profile": every field, and another value for it.
ROLE_PROFILE: dict[str, Any] = {
    "_schema": "orgkernel:plan_catalog",
    "_version": "1.1",
    "role_id": "another_specialist",
    "role_name": "Another Name",
    "role_type": "executive",
    "chain_of_command.reports_to": "research_xo",
    "chain_of_command.authority_level": 2,
    "chain_of_command.can_delegate": True,
    "capabilities.bst_domains": ["codegen"],
    "capabilities.htn_plans": ["codegen_module"],
    "capabilities.tools_primary": ["text_editor", "code_execution_tool"],
    "capabilities.tools_secondary": ["memory_load", "memory_save", "document_query"],
    "capabilities.skills": ["software_construction"],
    "requirements.min_context_tokens": 8192,
    "requirements.preferred_model": "a-model",
    "requirements.required_extensions": ["working_memory"],
    "pace_plan.primary.description": "Another description",
    "pace_plan.primary.action": "fallback_chain",
    "pace_plan.alternate.description": "Another description",
    "pace_plan.alternate.action": "escalate",
    "pace_plan.alternate.trigger": "consecutive_tool_failures >= 2",
    "pace_plan.contingent.description": "Another description",
    "pace_plan.contingent.action": "abort_and_report",
    "pace_plan.contingent.trigger": "consecutive_tool_failures >= 4",
    "pace_plan.contingent.escalate_to": "co",
    "pace_plan.emergency.description": "Another description",
    "pace_plan.emergency.action": "escalate",
    "pace_plan.emergency.trigger": "unrecoverable_error",
    "pace_plan.emergency.escalate_to": "co",
    "doctrine.salute_interval_turns": 4,
    "doctrine.max_turns_without_progress": 11,
    "doctrine.report_on_completion": False,
    "doctrine.report_on_failure": False,
    "doctrine.autonomous_retry_limit": 1,
}

# Specification, "Schema 3: Organization Definition".
ORGANIZATION: dict[str, Any] = {
    "_schema": "orgkernel:plan_catalog",
    "_version": "1.1",
    "org_id": "another_org",
    "org_name": "Another Name",
    "description": "Another description.",
    "mission.objective": "Another objective.",
    "mission.success_criteria": "Another criterion.",
    "mission.constraints": ["Another constraint."],
    "hierarchy.codegen_specialist.role_id": "bugfix_specialist",
    "hierarchy.codegen_specialist.role_name": "Another Name",
    "hierarchy.engineering_xo.subordinates": ["bugfix_specialist", "codegen_specialist", "devops_specialist"],
    "communication_channels.command.description": "Another description",
    "communication_channels.command.direction": "another_direction",
    "communication_channels.command.protocol": "another_protocol",
    "communication_channels.lateral.description": "Another description",
    "communication_channels.lateral.direction": "another_direction",
    "communication_channels.lateral.protocol": "another_protocol",
    "communication_channels.lateral.allowed_pairs": [["engineering_xo", "research_xo"]],
    "mode": "macrocosm",
    "microcosm_config.execution_model": "another",
    "microcosm_config.role_activation": "another",
    "microcosm_config.state_sharing": "another",
    "microcosm_config.salute_storage": "another",
    "macrocosm_config.execution_model": "another",
    "macrocosm_config.role_activation": "another",
    "macrocosm_config.state_sharing": "another",
    "macrocosm_config.salute_storage": "another",
    "macrocosm_config.network.protocol": "another",
    "macrocosm_config.network.discovery": "another",
    "macrocosm_config.network.heartbeat_interval_seconds": 31,
}

# Specification, "Schema 2: SALUTE Report", as it is printed there but for the placeholders.
SALUTE: dict[str, Any] = {
    "_schema": "orgkernel:salute_report",
    "_version": "1.0",
    "status": {"state": "active", "progress": 0.5, "pace_level": "alternate", "health": "degraded"},
    "activity": {
        "current_task": "Human-readable description of current work", "bst_domain": "codegen", "htn_plan": "codegen_module",
        "htn_step": 2, "htn_total_steps": 4, "current_tool": "text_editor", "iterations_on_current_step": 1,
    },
    "location": {"working_directory": "/a0", "files_modified": ["a"], "files_read": ["b"], "resources_claimed": ["c"]},
    "unit": {
        "role_id": "codegen_specialist", "role_name": "Codegen Specialist", "agent_number": 0,
        "reports_to": "engineering_xo", "organization": "software_dev",
    },
    "time": {
        "timestamp": "2026-01-01T00:00:00Z", "task_started": None, "elapsed_seconds": 0, "turns_elapsed": 0,
        "turns_since_progress": 0, "context_turns_remaining": None,
    },
    "environment": {
        "model": "a-model", "context_fill_pct": 0.0, "context_tokens_used": 0, "context_tokens_max": 0,
        "gpu_available": True, "tool_failures_consecutive": 0, "tool_failures_total": 0, "memory_fragments_stored": 0,
    },
}  # fmt: skip


def observe(snapshot: Snapshot) -> Any:
    """All that can be seen of an organization, without the places and digests that any edit changes."""
    seen: list[Any] = [(found.code, found.message, found.help) for found in snapshot.diagnostics]
    for organization in snapshot.organizations.values():
        view = organization.index
        manifest = build_organization_manifest(view, view.roles, organization.diagnostics)
        seen.append(without_places(msgspec.json.decode(msgspec.json.encode(manifest))))
        for domain in view.records.domains:
            decision = msgspec.json.decode(msgspec.json.encode(decide_dispatch(view, domain)))
            seen.append(without_places(decision))
    return seen


def without_places(data: Any) -> Any:
    if isinstance(data, dict):
        places = ("why", "file", "line", "column", "snapshot")
        return {key: without_places(value) for key, value in data.items() if key not in places}
    return [without_places(value) for value in data] if isinstance(data, list) else data


def with_value(document: dict[str, Any], route: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *above, last = route.split(".")
    inner = changed
    for step in above:
        inner = inner[step]
    assert inner.get(last) != value
    inner[last] = value
    return changed


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return observe(read(copy_template(tmp_path_factory.mktemp("before"), "software_dev")))


@pytest.mark.parametrize(
    ("file", "route", "value"),
    [
        *(
            pytest.param(ROLE_FILE, route, value, id=f"role_profile {route}")
            for route, value in ROLE_PROFILE.items()
        ),
        *(
            pytest.param(ORG_FILE, route, value, id=f"organization {route}")
            for route, value in ORGANIZATION.items()
        ),
    ],
)
def test_another_value_changes_what_is_seen(
    tmp_path: Path, before: Any, file: str, route: str, value: Any
) -> None:
    """Each field changes a manifest, a finding or a dispatch answer; otherwise no code reads it."""
    folder = copy_template(tmp_path, "software_dev")
    document = read_yaml_file(folder / file)
    changed = with_value(document, route, value)
    (folder / file).write_text(yaml.safe_dump(changed, sort_keys=False), encoding="utf-8")
    snapshot = read(folder)
    if route != "_schema":
        assert not [found for found in snapshot.diagnostics if found.code.startswith("ORG1")], (
            "not a valid value"
        )
    assert observe(snapshot) != before


def test_writing_a_document_anew_changes_nothing(tmp_path: Path, before: Any) -> None:
    """The comparison sees values only: otherwise the test above would prove nothing."""
    folder = copy_template(tmp_path, "software_dev")
    for path in (folder / ORG_FILE, folder / ROLE_FILE):
        path.write_text(
            yaml.safe_dump(read_yaml_file(path), sort_keys=False),
            encoding="utf-8",
        )
    assert observe(read(folder)) == before


@pytest.mark.parametrize(("model", "routes"), [(RoleProfile, ROLE_PROFILE), (Organization, ORGANIZATION)])
def test_every_field_of_the_specification_is_a_field_of_the_model(model: Any, routes: dict[str, Any]) -> None:
    """Under its own name: documents written for the specification load unchanged."""
    written = {field.alias or name for name, field in model.model_fields.items()}
    assert {route.split(".")[0] for route in routes} <= written


def leaves(data: Any, route: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(data, dict):
        return [route]
    return [leaf for key, value in data.items() for leaf in leaves(value, (*route, key))]


def read_report(report: dict[str, Any]) -> tuple[str, Any]:
    text = json.dumps(report, indent=2)
    source = SourceText("report.json", "report.json", text, "")
    return text, read_documents(source, named=True, has_orgkernel_siblings=False)


def test_a_report_of_the_specification_is_accepted() -> None:
    """Every field, with the values the specification prints."""
    _, found = read_report(SALUTE)
    assert found.diagnostics == ()
    (document,) = found.documents
    assert document.kind == "salute_report"


def test_the_fields_of_a_report_are_those_of_the_specification() -> None:
    """No more and no fewer, but for what every document carries."""

    def fields(model: Any, route: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        for name, field in model.model_fields.items():
            here = (*route, field.alias or name)
            deeper = field.annotation if hasattr(field.annotation, "model_fields") else None
            found |= fields(deeper, here) if deeper else {here}
        return found

    assert fields(SaluteReport) - {("suppressions",)} == set(leaves(SALUTE))


@pytest.mark.parametrize("route", [pytest.param(route, id=".".join(route)) for route in leaves(SALUTE)])
def test_a_wrong_value_in_a_report_is_found_at_its_place(route: tuple[str, ...]) -> None:
    """One finding, at exactly that value."""
    value: Any = SALUTE
    for step in route:
        value = value[step]
    wrong = "text" if isinstance(value, list) else ["wrong"]
    text, found = read_report(with_value(SALUTE, ".".join(route), wrong))
    assert found.documents == ()
    (diagnostic,) = found.diagnostics
    line, column = unpack_mark(find_mark(parse_json(text).documents[0].marks, route))
    assert (diagnostic.place.line, diagnostic.place.column) == (line, column)
    assert text.split("\n")[line - 1][: column - 1].strip() == f'"{route[-1]}":'
    assert diagnostic.code in {"ORG019", "ORG022", "ORG103", "ORG104"}
    assert diagnostic.severity.value == "error"
