"""Files in the forms of the kernel specification load unchanged, from the folder the specification lays out.

The complete files are made from the shipped templates without what this project adds to the specification's fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.documents.records import RoleProfile
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.trees import TEMPLATES, read, write_tree
from tests.support.yaml_text import read_yaml_file

# Specification, "Schema 1: Role Profile"; where it lists alternatives, the one its example is about.
ROLE = """{
  "_schema": "orgkernel:role_profile",
  "_version": "1.0",

  "role_id": "sigint_specialist",
  "role_name": "SIGINT Specialist",
  "role_type": "specialist",

  "chain_of_command": {
    "reports_to": "s2_xo",
    "authority_level": 1,
    "can_delegate": false
  },

  "capabilities": {
    "bst_domains": ["osint", "log_analysis", "data_transform", "analysis"],
    "htn_plans": ["log_investigation", "data_transform"],
    "tools_primary": ["search_engine", "browser_agent", "code_execution_tool"],
    "tools_secondary": ["memory_load", "memory_save"],
    "skills": []
  },

  "requirements": {
    "min_context_tokens": 8192,
    "preferred_model": null,
    "required_extensions": ["belief_state_tracker", "htn_plan_selector", "working_memory"]
  },

  "pace_plan": {
    "primary": {
      "description": "Execute task using preferred tools and HTN plan",
      "action": "normal_execution"
    },
    "alternate": {
      "description": "Self-recovery via tool fallback chain",
      "action": "fallback_chain",
      "trigger": "consecutive_tool_failures >= 3"
    },
    "contingent": {
      "description": "Report inability to supervisor for reassignment",
      "action": "escalate",
      "trigger": "consecutive_tool_failures >= 5 OR context_fill > 0.85",
      "escalate_to": "s2_xo"
    },
    "emergency": {
      "description": "Abort task, preserve state, report up",
      "action": "abort_and_report",
      "trigger": "unrecoverable_error OR turns_without_progress > max * 1.5",
      "escalate_to": "s2_xo"
    }
  },

  "doctrine": {
    "salute_interval_turns": 5,
    "max_turns_without_progress": 12,
    "report_on_completion": true,
    "report_on_failure": true,
    "autonomous_retry_limit": 2
  }
}
"""

# Specification, "Schema 3: Organization Definition", with a hierarchy of one and its empty texts left empty.
ORGANIZATION = """{
  "_schema": "orgkernel:organization",
  "_version": "1.0",

  "org_id": "software_dev",
  "org_name": "Software Development Organization",
  "description": "",

  "mission": {
    "objective": "",
    "success_criteria": "",
    "constraints": []
  },

  "hierarchy": {
    "co": {
      "role_id": "co",
      "role_name": "",
      "subordinates": []
    }
  },

  "communication_channels": {
    "command": {
      "description": "Orders flow down, reports flow up",
      "direction": "bidirectional_hierarchical",
      "protocol": "salute_reports"
    },
    "lateral": {
      "description": "Peer coordination within same branch",
      "direction": "bidirectional_peer",
      "protocol": "direct_message",
      "allowed_pairs": []
    }
  },

  "mode": "microcosm",

  "microcosm_config": {
    "execution_model": "sequential_role_switching",
    "role_activation": "bst_domain_routing",
    "state_sharing": "shared_agent_object",
    "salute_storage": "filesystem"
  },

  "macrocosm_config": {
    "execution_model": "concurrent_containers",
    "role_activation": "announce_volunteer",
    "state_sharing": "shared_volume",
    "salute_storage": "shared_volume",
    "network": {
      "protocol": "ssh",
      "discovery": "static_manifest",
      "heartbeat_interval_seconds": 30
    }
  }
}
"""

REPORT = {
    "_schema": "orgkernel:salute_report",
    "_version": "1.0",
    "status": {"state": "active", "progress": 0.5, "pace_level": "primary", "health": "nominal"},
    "activity": {
        "current_task": "Human-readable description of current work",
        "bst_domain": "bugfix",
        "htn_plan": "bugfix_workflow",
        "htn_step": 2,
        "htn_total_steps": 4,
        "current_tool": "",
        "iterations_on_current_step": 0,
    },
    "location": {
        "working_directory": "/a0",
        "files_modified": [],
        "files_read": ["a.py"],
        "resources_claimed": [],
    },
    "unit": {
        "role_id": "bugfix_specialist",
        "role_name": "Bugfix Specialist",
        "agent_number": 0,
        "reports_to": "engineering_xo",
        "organization": "software_dev",
    },
    "time": {
        "timestamp": "2026-01-01T00:00:00Z",
        "task_started": None,
        "elapsed_seconds": 0,
        "turns_elapsed": 0,
        "turns_since_progress": 0,
        "context_turns_remaining": None,
    },
    "environment": {
        "model": "",
        "context_fill_pct": 0.0,
        "context_tokens_used": 0,
        "context_tokens_max": 0,
        "gpu_available": True,
        "tool_failures_consecutive": 0,
        "tool_failures_total": 0,
        "memory_fragments_stored": 0,
    },
}


def only(template: Any, value: Any) -> Any:
    """The part of a value that has the fields of a template; `{}` in the template stands for anything."""
    if not isinstance(template, dict) or not template or not isinstance(value, dict):
        return value
    return {key: only(template[key], value[key]) for key in template if key in value}


def published_role(path: Path) -> dict[str, Any]:
    """A shipped profile with the specification's fields alone."""
    shipped = read_yaml_file(path)
    tier = {"description": "", "action": "", "trigger": "", "escalate_to": ""}
    form = json.loads(ROLE)
    form["pace_plan"] = dict.fromkeys(form["pace_plan"], tier)
    role = only(form, shipped)
    role["capabilities"]["skills"] = []
    return role


def published_organization(template: str) -> dict[str, Any]:
    """A shipped organization with the specification's fields alone, every field of a post written."""
    shipped = read_yaml_file(TEMPLATES / template / "org.yaml")
    organization = only({**json.loads(ORGANIZATION), "hierarchy": {}}, shipped)
    organization["hierarchy"] = {
        role_id: {
            "role_id": role_id,
            "role_name": post["role_name"],
            "subordinates": post.get("subordinates", []),
        }
        for role_id, post in shipped["hierarchy"].items()
    }
    organization["mission"]["success_criteria"] = " ".join(shipped["mission"]["success_criteria"])
    return organization


def published_folder() -> dict[str, Any]:
    """The folder of the specification: name of each file to its document; both organizations share `roles/`."""
    files: dict[str, Any] = {}
    for template in ("sigint_alpha", "software_dev"):
        files[f"{template}.json"] = published_organization(template)
        for path in sorted((TEMPLATES / template / "roles").glob("*.yaml")):
            files[f"roles/{path.stem}.json"] = published_role(path)
    # One file for both, as published: it has the domains of both, and escalates to whom both have.
    shared = files["roles/codegen_specialist.json"]
    shared["capabilities"]["bst_domains"] = ["codegen", "refactor", "skill_building"]
    for tier in ("contingent", "emergency"):
        shared["pace_plan"][tier]["escalate_to"] = "co"
    files["active.json"] = files["software_dev.json"]
    files["reports/bugfix_specialist_latest.json"] = REPORT
    files["reports/archive/bugfix_specialist_20260101.json"] = REPORT
    return files


def lay_out(folder: Path, files: Mapping[str, Any]) -> Snapshot:
    """Write documents as JSON and read them."""
    return read(
        write_tree(folder, {name: json.dumps(document, indent=2) for name, document in files.items()})
    )


def written_again(value: Any, like: Any) -> Any:
    """A record as a document that writes what `like` writes, and whatever else is not as by default."""
    if isinstance(value, msgspec.Struct):
        names = dict(zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True))
        present = [name for name in names if name in like or name in msgspec.to_builtins(value)]
        return {name: written_again(getattr(value, names[name]), like.get(name, {})) for name in present}
    if isinstance(value, dict):
        return {key: written_again(item, like.get(key, {})) for key, item in value.items()}
    if isinstance(value, tuple):
        return [written_again(item, other) for item, other in zip(value, like, strict=True)]
    return value


def found_in(snapshot: Snapshot) -> list[Diagnostic]:
    """The findings, without the hint that a role has no description: the specification has no field for one."""
    return [found for found in snapshot.diagnostics if found.code != "ORG702"]


@pytest.mark.parametrize("name", ["sigint_specialist.json", "sigint_specialist.yaml"])
def test_the_role_of_the_specification_loads_unchanged(name: str, tmp_path: Path) -> None:
    """Nothing is found in the example, every value arrives, and written again it is the same document."""
    tree = read_tree([Root(str(write_tree(tmp_path, {name: ROLE})), "")])
    assert tree.diagnostics == ()
    (document,) = tree.documents
    assert isinstance(document.record, RoleProfile)
    assert written_again(document.record, json.loads(ROLE)) == json.loads(ROLE)


@pytest.mark.parametrize("name", ["software_dev.json", "software_dev.yaml"])
def test_the_organization_of_the_specification_loads_unchanged(name: str, tmp_path: Path) -> None:
    """Nothing is found in the schema's own text, and written again it is the same document."""
    tree = read_tree([Root(str(write_tree(tmp_path, {name: ORGANIZATION})), "")])
    assert tree.diagnostics == ()
    (document,) = tree.documents
    assert written_again(document.record, json.loads(ORGANIZATION)) == json.loads(ORGANIZATION)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_every_published_document_loads_unchanged(suffix: str, indent: int | None, tmp_path: Path) -> None:
    """Minified or not, called `.json` or `.yaml`: the records are those of the documents."""
    for number, document in enumerate(published_folder().values()):
        path = tmp_path / f"{number}.{suffix}"
        path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
        tree = read_tree([Root(str(path), path.name)])
        assert tree.diagnostics == ()
        assert written_again(tree.documents[0].record, document) == document


def test_the_published_folder(tmp_path: Path) -> None:
    """Two organizations that share one `roles/`, the active copy and the reports: nothing is found."""
    snapshot = lay_out(tmp_path, published_folder())
    assert found_in(snapshot) == []
    assert list(snapshot.organizations) == ["sigint_alpha", "software_dev"]
    sigint, software = (snapshot.organizations[org].records for org in ("sigint_alpha", "software_dev"))
    assert {role for role, post in sigint.posts.items() if post.shared_profile} == {
        "co",
        "codegen_specialist",
    }
    assert sigint.posts["co"].document is software.posts["co"].document
    assert len(sigint.posts) == len(software.posts) == 8
    assert sigint.without_profile == software.without_profile == {}
    assert not any(name.startswith(("active", "reports")) for name in sigint.files | software.files)


def test_the_role_of_the_specification_works_in_its_organization(tmp_path: Path) -> None:
    """Its example profile, unchanged: what it names is declared by the shared catalogs."""
    folder = published_folder()
    (name,) = [each for each in folder if each.endswith("/sigint_specialist.json")]
    snapshot = lay_out(tmp_path, folder | {name: json.loads(ROLE)})
    assert [found.code for found in snapshot.diagnostics if found.subject == "role:sigint_specialist"] == [
        "ORG702"
    ]
    assert decide_dispatch(snapshot.organizations["sigint_alpha"].index, "log_analysis").allowed_plans == (
        "log_investigation",
        "data_transform",
    )


def test_the_published_folder_dispatches(tmp_path: Path) -> None:
    """The roles of the specification's tests are chosen, and small talk activates no role in software_dev."""
    snapshot = lay_out(tmp_path, published_folder())
    software, sigint = (snapshot.organizations[org].index for org in ("software_dev", "sigint_alpha"))
    assert decide_dispatch(software, "bugfix").role_id == "bugfix_specialist"
    assert decide_dispatch(software, "git_ops").role_id == "devops_specialist"
    assert decide_dispatch(software, "conversational").outcome == "not_applicable"
    assert decide_dispatch(sigint, "conversational").role_id == "humint_specialist"
    assert decide_dispatch(sigint, "codegen").escalation == ("ops_xo", "co", "user")


def test_the_active_copy_alone_is_the_organization(tmp_path: Path) -> None:
    """Where the copy is all there is, it answers."""
    files = published_folder()
    del files["software_dev.json"], files["sigint_alpha.json"]
    snapshot = lay_out(tmp_path, files)
    assert list(snapshot.organizations) == ["software_dev"]
    assert snapshot.organizations["software_dev"].records.document.name == "active.json"


def test_a_link_to_the_active_organization_is_not_another_one(tmp_path: Path) -> None:
    """`active.json` may be a link: the organization is called by its own file."""
    files = published_folder()
    del files["active.json"]
    lay_out(tmp_path, files)
    (tmp_path / "active.json").symlink_to("software_dev.json")
    snapshot = read(tmp_path)
    assert found_in(snapshot) == []
    assert snapshot.organizations["software_dev"].records.document.name == "software_dev.json"


def test_fields_of_the_published_variant(tmp_path: Path) -> None:
    """`domain_routing` orders, `defaults`, and commanders with the superior `user` or none are accepted."""
    files = published_folder()
    files["software_dev.json"] |= {
        "domain_routing": {"bugfix": ["bugfix_specialist"], "codegen": ["codegen_specialist"]},
        "defaults": {"mode": "microcosm", "doctrine": {"salute_interval_turns": 5}, "anything": [1, None]},
    }
    for superior in ("user", None):
        files["roles/co.json"]["chain_of_command"]["reports_to"] = superior
        snapshot = lay_out(tmp_path, files)
        assert [found for found in snapshot.diagnostics if found.code < "ORG200"] == []
        assert not any(found.severity is Severity.ERROR for found in snapshot.diagnostics)
        assert snapshot.organizations["software_dev"].index.list_roots() == ("co",)


@pytest.mark.parametrize(
    "trigger",
    ["failures >= 3", "critical_failure", "consecutive_failures >= 3 OR critical_failure", "context > 0.9"],
)
def test_words_of_published_triggers_never_break_a_file(trigger: str, tmp_path: Path) -> None:
    """A trigger in other words is not refused while reading; the aliases that are known only warn."""
    files = published_folder()
    files["roles/bugfix_specialist.json"]["pace_plan"]["alternate"]["trigger"] = trigger
    snapshot = lay_out(tmp_path, files)
    assert [found for found in snapshot.diagnostics if found.code < "ORG200"] == []
    records = snapshot.organizations["software_dev"].records
    is_unknown = trigger == "context > 0.9"  # an error, which takes only this role out of service
    assert set(records.withheld) == ({"bugfix_specialist"} if is_unknown else set())
    assert ("bugfix_specialist" in records.posts) is not is_unknown
    if trigger in ("failures >= 3", "critical_failure"):
        assert {found.severity for found in found_in(snapshot)} == {Severity.WARNING}


def test_a_report_cut_short_is_no_fault_of_the_organization(tmp_path: Path) -> None:
    """A running agent writes reports: a partial one is a finding, and the other files are not affected."""
    lay_out(tmp_path, published_folder())
    path = tmp_path / "reports/bugfix_specialist_latest.json"
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    snapshot = read(tmp_path)
    assert [found.code for found in found_in(snapshot)] == ["ORG014"]
    assert not any(organization.has_errors for organization in snapshot.organizations.values())


def test_a_broken_organization_is_no_fault_of_its_neighbor(tmp_path: Path) -> None:
    """The broken file names roles that both share; the other organization is read, checked and served."""
    lay_out(tmp_path, published_folder())
    path = tmp_path / "sigint_alpha.json"
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    snapshot = read(tmp_path)
    assert [found.code for found in found_in(snapshot)] == ["ORG014"]
    assert list(snapshot.organizations) == ["software_dev"]
    assert not snapshot.organizations["software_dev"].has_errors
    assert snapshot.organizations["software_dev"].records.unread == frozenset()


def test_the_copy_does_not_answer_for_a_broken_original(tmp_path: Path) -> None:
    """A stale copy must not be presented as the organization whose own file cannot be read."""
    lay_out(tmp_path, published_folder())
    (tmp_path / "software_dev.json").write_text(
        '{"_schema": "orgkernel:organization", "org_id": "software_dev",'
    )
    snapshot = read(tmp_path)
    assert list(snapshot.organizations) == ["sigint_alpha"]
