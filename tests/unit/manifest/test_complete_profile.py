"""The profile that the crew capability specification, section 10, promises, rendered from configuration and stored state, field by field."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.decisions.evidence.crew_records import (
    AgentIdentity,
    Commission,
    OrgStatus,
    OutcomeCount,
    Personality,
    PersonalityObservation,
    RankMove,
    ServiceCounts,
)
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult, SkillRecord, StateView
from orgkernel.manifest.v1 import AgentManifest
from tests.support.trees import TEMPLATES
from tests.support.yaml_text import read_yaml

DID = "did:key:z6MkfAXdXQBpHNULRinSGXekGVJwwCuD2AbnMY9coVzH8cDu"
BORN = 1_773_561_600.0  # 2026-03-15T08:00:00Z
NOW = BORN + 30 * 86_400.0
MOVES = (
    RankMove("2026-03-18T08:00:00Z", "ensign", "lieutenant", "person:captain", "a board"),
    RankMove("2026-03-25T08:00:00Z", "lieutenant", "commander", "person:captain", "a board"),
)
EXTERNAL = """---
name: code-review
description: Review code changes for correctness, style, and security
---
Read the change twice.
"""
FILES = {
    "standing_orders/federation.md": "Do no harm.\n",
    "starship/standing_orders/departments/bridge.md": "The captain decides.\n",
    "starship/standing_orders/roles/first_officer.md": "Ask the chiefs before you decide for them.\n",
    "starship/skills/code-review/SKILL.md": EXTERNAL,
    "starship/learned.yaml": """
_schema: orgkernel:procedure_catalog
_version: "1.0"
procedures:
  codebase_knowledge:
    name: Codebase knowledge
    skill: architecture_review
    compilation_level: 3
    steps: [{id: look, required_tools: [codebase_query]}]
  settle_a_dispute:
    skill: ship_command
    compilation_level: 2
    steps: [{id: hear}]
""",
}
# Section 10, in the words of this organization: what is the same for another ship has the same value.
EXPECTED = f"""
agent_id: {DID}
callsign: Meridian
agent_type: number_one
post: first_officer
department: bridge
rank: commander
trust_score: 0.83
lifecycle_state: active
personality:
  openness: 0.9
  conscientiousness: 0.8
  extraversion: 0.5
  agreeableness: 0.7
  neuroticism: 0.2
  drift_from_seed: 0.08
standing_orders:
  federation: standing_orders/federation.md
  organization: starship/standing_orders/organization.md
  department: starship/standing_orders/departments/bridge.md
  role: starship/standing_orders/roles/first_officer.md
cognitive_skills:
  - name: architecture-review
    origin: internal
    departments: [bridge, engineering]
    min_rank: lieutenant
    skill_id: architecture_review
    proficiency: 5
  - name: code-review
    origin: external
    departments: []
    min_rank: ""
    skill_id: ""
    proficiency: null
handled_intents:
  - {{name: design_feature, source: cognitive_skill, by: architecture-review}}
  - {{name: assign_work, source: reasoning, by: ""}}
  - {{name: review_design, source: cognitive_skill, by: architecture-review}}
tools:
  - {{tool_id: codebase_query, provider: codebase_index, permission: OR-, gated_by: [rank], qualified: true}}
  - {{tool_id: ward_room_post, provider: ward_room, permission: ORW, gated_by: [rank], qualified: true}}
  - {{tool_id: ward_room_endorse, provider: ward_room, permission: ORW, gated_by: [rank], qualified: true}}
  - {{tool_id: ward_room_pin, provider: ward_room, permission: ---, gated_by: [department, rank], qualified: true}}
  - {{tool_id: episodic_recall, provider: episodic_memory, permission: OR-, gated_by: [rank], qualified: true}}
  - {{tool_id: knowledge_query, provider: knowledge_store, permission: OR-, gated_by: [rank], qualified: true}}
  - {{tool_id: fleet_query, provider: fleet, permission: OR-, gated_by: [rank], qualified: true}}
  - {{tool_id: vitals_query, provider: vitals_monitor, permission: OR-, gated_by: [department, rank, qualification], qualified: true,
     qualification_date: "2026-04-01T00:00:00Z"}}
executable_skills:
  - {{name: codebase_knowledge, origin: architecture_review, compilation_level: 3}}
  - {{name: settle_a_dispute, origin: ship_command, compilation_level: 2}}
skill_profile:
  pccs:
    - {{skill_id: chain_of_command, proficiency: 5}}
    - {{skill_id: communication, proficiency: 5}}
  role_skills:
    - {{skill_id: architecture_review, proficiency: 5}}
    - {{skill_id: pattern_recognition, proficiency: 4}}
  acquired_skills:
    - {{skill_id: statistics, proficiency: 2}}
qualifications:
  baseline_set: true
  latest_battery:
    abstention: {{score: 0.4, passed: false}}
    compartmentalization: {{score: 0.91, passed: true}}
    confabulation_resistance: {{score: 0.95, passed: true}}
    episodic_recall_accuracy: {{score: 0.92, passed: true}}
    personality_probe: {{score: 0.87, passed: true}}
    temperament_profile: {{score: 0.5, passed: true}}
  qualification_path: commander_to_senior
  path_progress: 2/5 requirements met
procedures:
  total: 2
  by_level: {{novice: 0, guided: 1, validated: 1, autonomous: 0, expert: 0}}
current_duty:
  pool: [first_officer]
  watch: [alpha]
  on_watch: true
  intent_subscriptions: [design_feature, assign_work, review_design]
service_record:
  birth_date: "2026-03-15T08:00:00Z"
  total_episodes: 847
  success_rate: 0.91
  trust_trajectory: improving
  promotions: ["ensign→lieutenant (2026-03-18)", "lieutenant→commander (2026-03-25)"]
recent_activity: [cognitive_skill architecture-review, intent design_feature]
"""


def result(number: int, qualification: str, score: float, *, passed: bool = True) -> QualificationResult:
    at = 1_775_001_600.0 if qualification == "compartmentalization" else BORN + number
    return QualificationResult(
        "number_one",
        qualification,
        score,
        passed,
        at,
        org_id="starship",
        result_id=number,
        sample_size=20,
        digests={"model": "m1"},
    )


def skill(name: str, level: int) -> SkillRecord:
    return SkillRecord("number_one", "starship", name, level, acquired_at=BORN, decays_from=NOW)


STATE = StateView(
    version=9,
    agents={"number_one": AgentState("number_one", "commander", 0.8, "active", "starship", 20, 4)},
    identities={"number_one": AgentIdentity("number_one", "starship", DID, BORN)},
    commissions={
        "number_one": (Commission("number_one", "starship", "first_officer", BORN, "person:captain", "sha256:0"),)
    },
    personalities={
        "number_one": PersonalityObservation(
            "number_one", "starship", Personality(0.9, 0.8, 0.58, 0.7, 0.2), BORN, "person:captain"
        )
    },
    skills={
        "number_one": tuple(
            skill(*each)
            for each in (
                ("architecture_review", 5), ("chain_of_command", 5), ("communication", 5),
                ("pattern_recognition", 4), ("statistics", 2),
            )
        )
    },
    results={
        "number_one": tuple(
            result(number, name, score, passed=score > 0.45)
            for number, (name, score) in enumerate(
                (
                    ("personality_probe", 0.87), ("episodic_recall_accuracy", 0.92),
                    ("confabulation_resistance", 0.95), ("temperament_profile", 0.5), ("abstention", 0.4),
                    ("compartmentalization", 0.91),
                ),
                1,
            )
        )
    },
    service={
        "number_one": ServiceCounts("number_one", "starship", 771, 76, "-+-++-+--+++++++++++", NOW)
    },
    status={"watch": OrgStatus("starship", "watch", "alpha")},
    outcomes={
        "number_one": (
            OutcomeCount("number_one", "starship", "cognitive_skill", "architecture-review", 9, 1, NOW),
            OutcomeCount("number_one", "starship", "intent", "design_feature", 9, 1, NOW - 1),
        )
    },
)  # fmt: skip


class Stored:
    """The state of the example, as a source with a history."""

    def read_view(self, org_id: str | None = None) -> StateView:
        return STATE

    def read_past(self, org_id: str, at: float) -> StateView:
        return STATE

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        return MOVES

    def list_tool_usage(self, agent_ids: Collection[str]) -> tuple[ToolUsage, ...]:
        return ()


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> AgentManifest:
    """The profile of an agent whose organization is the template and a few files."""
    folder = tmp_path_factory.mktemp("fleet")
    shutil.copytree(TEMPLATES / "starship", folder / "starship")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    role = folder / "starship" / "roles" / "first_officer.yaml"
    role.write_text(
        role.read_text().replace("    - {tool: call_subordinate", "    - {tool: vitals_query, level: read}\n    - {tool: call_subordinate")
    )  # fmt: skip
    crew = folder / "starship" / "crew.yaml"
    traits = (
        "{openness: 0.9, conscientiousness: 0.8, extraversion: 0.5, agreeableness: 0.7, neuroticism: 0.2}"
    )
    crew.write_text(
        crew.read_text().replace("callsign: Meridian", f"callsign: Meridian\n    personality: {traits}")
    )
    kernel = Kernel.open(folder).with_store(Stored(), lambda: (NOW, 0))
    assert [str(each) for each in kernel.check()] == []
    return kernel.agent_manifest("starship", "number_one")


def as_section_10(manifest: AgentManifest, folder: Path) -> dict[str, Any]:
    """The manifest in the shape of section 10."""
    drift, status, duty = manifest.personality, manifest.qualification_status, manifest.current_duty
    service, profile = manifest.service_record, manifest.skill_profile
    (role,) = manifest.roles

    def skills(group: Any) -> list[dict[str, Any]]:
        return [{"skill_id": each.skill, "proficiency": each.level} for each in group]

    def tool(item: Any) -> dict[str, Any]:
        found = {
            "tool_id": item.id, "provider": item.provider, "permission": item.letters,
            "gated_by": list(item.gated_by), "qualified": item.qualified,
        }  # fmt: skip
        return found | ({"qualification_date": item.qualified_at} if item.qualified_at else {})

    return {
        "agent_id": manifest.did,
        "callsign": manifest.callsign,
        "agent_type": manifest.agent_id,
        "post": role.id,
        "department": manifest.departments[0].id,
        "rank": manifest.rank.id if manifest.rank else None,
        "trust_score": round(manifest.trust or 0.0, 2),
        "lifecycle_state": manifest.lifecycle,
        "personality": {
            name: getattr(drift.seed, name)
            for name in ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
        }
        | {"drift_from_seed": round(drift.drift_from_seed or 0.0, 2)},
        "standing_orders": {
            each.source: str(Path(each.file).relative_to(folder)) for each in manifest.standing_orders
        },
        "cognitive_skills": [
            {
                "name": each.name, "origin": each.origin, "departments": list(each.departments),
                "min_rank": each.min_rank, "skill_id": each.skill_id, "proficiency": each.proficiency,
            }
            for each in manifest.cognitive_skills
        ],
        "handled_intents": [
            {"name": each.id, "source": each.tier, "by": each.by} for each in manifest.handled_intents
        ],
        "tools": [tool(each) for each in manifest.tools if each.provider not in ("", "agent_zero")],
        "executable_skills": [
            {"name": each.id, "origin": each.skill, "compilation_level": each.compilation_level}
            for each in manifest.executable_skills
        ],
        "skill_profile": {
            "pccs": skills(profile.universal),
            "role_skills": skills(profile.role),
            "acquired_skills": skills(profile.acquired),
        },
        "qualifications": {
            "baseline_set": status.baseline_set,
            "latest_battery": {
                each.qualification: {"score": each.latest.score, "passed": each.passed}
                for each in sorted(status.tests, key=lambda each: each.qualification)
                if each.latest is not None
            },
            "qualification_path": status.path,
            "path_progress": f"{status.met}/{status.required} requirements met",
        },
        "procedures": {"total": manifest.procedures.total, "by_level": dict(manifest.procedures.by_level)},
        "current_duty": {
            "pool": list(duty.roles), "watch": list(duty.watches), "on_watch": duty.on_watch,
            "intent_subscriptions": list(duty.intents),
        },
        "service_record": {
            "birth_date": service.born_at,
            "total_episodes": service.total_episodes,
            "success_rate": round(service.success_rate or 0.0, 2),
            "trust_trajectory": service.trust_trajectory,
            "promotions": [f"{each.before}→{each.after} ({each.at[:10]})" for each in service.promotions],
        },
        "recent_activity": [f"{each.kind} {each.name}" for each in manifest.recent_activity],
    }  # fmt: skip


def test_every_field_of_section_10(manifest: AgentManifest) -> None:
    """One question gives the whole profile, and each field has the value that documents and state say."""
    folder = Path(manifest.why[0].file).parent.parent
    found = as_section_10(manifest, folder)
    expected = read_yaml(EXPECTED)
    assert list(found) == list(expected)
    for field in expected:
        assert found[field] == expected[field], field


def test_every_part_has_its_why(manifest: AgentManifest) -> None:
    """What documents declare is listed with the lines that declare it."""
    listed = (
        *manifest.roles, *manifest.standing_orders, *manifest.cognitive_skills, *manifest.handled_intents,
        *manifest.executable_skills, *manifest.tools, *manifest.skill_profile.universal,
        *manifest.skill_profile.role, *manifest.skill_profile.acquired, *manifest.skill_profile.gaps,
        *manifest.qualification_status.tests, manifest.qualification_status, manifest.personality,
        manifest.current_duty, manifest,
    )  # fmt: skip
    for each in listed:
        assert each.why, each
        assert all(why.file and why.line > 0 for why in each.why), each
