"""Every field of every kind of document changes an answer, is told to people or to the runtime, or is marked "not yet".

An answer is a finding, a decision about access, dispatch or a hand-off, or what the bundle tells a host about PACE, doctrine and
domains; a manifest is not an effect. So no field that a reader takes for protection can be without effect: it is
among those whose
other value changes an answer here or in the two files beside this one, or its description says that nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.crew.promotion import decide_promotion
from orgkernel.decisions.crew.skill_profile import build_skill_profile
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.by_intent import decide_by_intent
from orgkernel.decisions.dispatch.by_text import decide_by_text
from orgkernel.decisions.evidence.crew_records import OutcomeCount
from orgkernel.decisions.evidence.qualifications import build_qualification_record
from orgkernel.decisions.evidence.state_view import (
    EMPTY_STATE,
    AgentState,
    QualificationResult,
    SkillRecord,
    StateView,
)
from orgkernel.decisions.work.capability.handling import HandlingRequest, decide_handling
from orgkernel.decisions.work.capability.proposals import decide_proposals
from orgkernel.diagnostics import Severity
from orgkernel.documents.model.json_schema import build_json_schema
from orgkernel.documents.model.kinds import KINDS
from orgkernel.documents.model.role_profile import RoleProfile
from orgkernel.documents.role_fields import ROLE_FIELDS
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.graph.questions import OrgView
from orgkernel.snapshots.snapshot import Snapshot
from tests.meta.test_access_fields_have_readers import FIELDS as OF_ACCESS
from tests.meta.test_bill_fields_have_readers import FIELDS as OF_BILLS
from tests.meta.test_command_fields_have_readers import FIELDS as OF_COMMANDS
from tests.meta.test_command_fields_have_readers import TOLD_ONLY as OF_COMMANDS_TOLD
from tests.meta.test_governance_fields_have_readers import FIELDS as OF_GOVERNANCE
from tests.support.trees import read, write_tree

TREE = """
_schema: orgkernel:organization
org_id: yard
hierarchy: {chief: {subordinates: [mason, guard]}}
layers: [top, bottom]
dispatch_edges: [{from: top, to: bottom}]
departments: {works: {}}
workspace_root: /repo
domains: [build]
external: [board]
domain_routing: {build: [mason]}
rank_matrix: usual
communication_channels: {lateral: {allowed_pairs: [[mason, guard]]}}
separations: {apart: {roles: [mason, chief], tools: [saw, horn]}}
overrides:
  mason:
    doctrine: {salute_interval_turns: 3}
    pace_plan: {alternate: {action: fallback_chain, trigger: consecutive_tool_failures >= 2}}
    department: works
    layer: bottom
---
_schema: orgkernel:domain_catalog
domains:
  build: {examples: [build a wall], triggers: [brick]}
  wall: {broader: build}
  small_talk: {passthrough: true}
aliases: {masonry: build}
unmapped: [other]
---
_schema: orgkernel:plan_catalog
plans:
  raise_wall: {domains: [build], steps: [{step: cut, tools: [saw]}], tools: [notes]}
---
_schema: orgkernel:tool_catalog
tools:
  saw:
    type: deterministic_function
    side_effects: destructive
    actions: {look: read, cut: {level: write}}
    falls_back_to: [notes]
    path_arguments: [path]
    names: {agent_zero: saw_tool}
    input_schema: {type: object, required: [path]}
  notes: {type: infra_service, side_effects: write, path_arguments: [], departments: [works]}
  horn: {type: communication, side_effects: write, essential: {with_tools: [saw]}, intents: [greet]}
  hands: {type: utility_agent, side_effects: write, essential: {delegating: true}}
---
_schema: orgkernel:skill_catalog
categories: {craft: {}}
skills:
  laying: {category: craft, domain: build, prerequisites: [{skill: mixing}], preferred_tools: [saw]}
  mixing: {}
---
_schema: orgkernel:qualification_catalog
qualifications: {basics: {unlocks: [notes]}, more: {prerequisites: [basics], unlocks: [horn]}}
---
_schema: orgkernel:rank_ladder
ranks: [{id: apprentice, agency: autonomous}, {id: master, trust_from: 0.9}]
promotions: {master: {requirements: [{skills: universal, min_proficiency: 2, min_count: 2}]}}
matrices: {usual: [{name: all, types: [deterministic_function], side_effects: [destructive], levels: {apprentice: write}}]}
---
_schema: orgkernel:procedure_catalog
procedures:
  cut_stone:
    intents: [cut]
    skill: laying
    compilation_level: 4
    falls_back_to: carve
    steps: [{id: one, required_tools: [{tool: saw, action: cut}]}]
  polish: {intents: [shine], compilation_level: 3}
---
_schema: orgkernel:crew_roster
agents: {ann: {assignments: [{role: mason}, {role: guard}]}}
---
_schema: orgkernel:role_profile
role_id: chief
role_type: commander
description: Leads.
layer: top
chain_of_command: {reports_to: board}
capabilities: {tools_primary: [hands], bst_domains: [build]}
may_grant: [{tool: saw, level: read}]
---
_schema: orgkernel:role_profile
role_id: mason
description: Builds walls.
chain_of_command: {reports_to: chief}
position: unified
entry_rank: apprentice
capabilities:
  bst_domains: [build]
  htn_plans: [raise_wall]
  tools: [{tool: saw, level: full}]
  tools_secondary: [notes]
  skills: [{skill: laying}]
  procedures: [polish]
  intents: [whistle]
pace_plan:
  contingent: {action: escalate, trigger: consecutive_tool_failures >= 5, escalate_to: chief}
handoff: {may_to: [guard]}
credentials: [key]
data: [drawings]
file_scope: ["walls/**"]
suppressions: [{rule: ORG606, reason: known}]
---
_schema: orgkernel:role_profile
role_id: guard
description: Guards.
capabilities: {bst_domains: [build]}
---
_schema: orgkernel:role_profile
role_id: visitor
description: Visits.
"""
SKILL = "---\nname: {0}\ndescription: Does it.\n---\nDo it.\n"
PLANNED = StateView(outcomes={"ann": (OutcomeCount("ann", "yard", "cognitive_skill", "plan", 8, 0, 0.0),)})
OFTEN_PLANNED = StateView(
    outcomes={"ann": (OutcomeCount("ann", "yard", "cognitive_skill", "plan", 18, 2, 0.0),)}
)
NEW = StateView(agents={"ann": AgentState("ann", lifecycle="probationary")})
TESTED = StateView(results={"ann": (QualificationResult("ann", "basics", 0.6, True, 0.0),)})
DAY = 86_400.0
LAYING, MIXING = (
    SkillRecord("ann", "guild", skill, 3, 0.0, decays_from=0.0) for skill in ("laying", "mixing")
)
ASKED_OF_ANN = (
    NEW,
    StateView(agents={"ann": AgentState("ann", trust=0.5, successes=9)}, results=TESTED.results, skills={"ann": (LAYING,)}),
    StateView(agents={"ann": AgentState("ann", rank="master", trust=0.88)}, skills={"ann": (MIXING,)}),
)  # fmt: skip
# Document (its kind, or for a role its id) and route to another valid value.
CHANGES: dict[str, Any] = {
    "organization:limits.max_spawn_depth": 1,
    "organization:limits.max_children": 1,
    "organization:limits.max_concurrent": 1,
    "organization:limits.delegation": "strict",
    "organization:limits.span_of_control": 1,
    "organization:workspace_root": "/srv",
    "organization:domains": ["build", "wall", "small_talk"],
    "organization:external": ["guild"],
    "organization:domain_routing.build": ["guard"],
    "organization:layers": ["bottom"],
    "organization:dispatch_edges.0.from": "bottom",
    "organization:dispatch_edges.0.to": "top",
    "organization:departments": {"hall": {}},
    "organization:org_id": "court",
    "organization:hierarchy.chief.subordinates": ["mason"],
    "organization:hierarchy.visitor": {},
    "organization:rank_matrix": None,
    "organization:communication_channels.lateral.allowed_pairs": [["mason", "nobody"]],
    "organization:separations.apart.roles": ["mason", "guard"],
    "organization:separations.apart.tools": ["saw", "notes"],
    "organization:overrides.mason.department": "attic",
    "organization:overrides.mason.layer": "top",
    "organization:overrides.mason.doctrine": {"max_turns_without_progress": 2},
    "organization:overrides.mason.pace_plan.alternate": {
        "action": "escalate",
        "trigger": "unrecoverable_error",
    },
    "organization:overrides.mason.pace_plan": {"contingent": {"action": "abort_and_report"}},
    "organization:overrides.mason.pace_plan.emergency": {
        "action": "abort_and_report",
        "trigger": "unrecoverable_error",
    },
    "organization:overrides.mason.pace_plan.primary": {"action": "escalate"},
    "organization:suppressions": [{"rule": "ORG601", "reason": "no crew yet"}],
    "organization:defaults": {"anything": 1},
    "domain_catalog:domains.wall.broader": None,
    "domain_catalog:domains.small_talk.passthrough": False,
    "domain_catalog:domains.build.examples": ["build a house"],
    "domain_catalog:domains.build.triggers": ["mortar"],
    "domain_catalog:aliases.masonry": "wall",
    "domain_catalog:unmapped": [],
    "plan_catalog:plans.raise_wall.domains": ["wall"],
    "plan_catalog:plans.raise_wall.steps.0.tools": ["horn", "drill"],
    "plan_catalog:plans.raise_wall.tools": ["drill"],
    "tool_catalog:tools.saw.type": "communication",
    "tool_catalog:tools.saw.actions.cut.level": "full",
    "tool_catalog:tools.notes.side_effects": "destructive",
    "tool_catalog:tools.saw.falls_back_to": ["drill"],
    "tool_catalog:tools.saw.path_arguments": ["other"],
    "tool_catalog:tools.saw.names": {"agent_zero": "cutter"},
    "tool_catalog:tools.saw.input_schema": {"type": "object", "required": ["speed"]},
    "tool_catalog:tools.horn.essential.with_tools": ["hands"],
    "tool_catalog:tools.hands.essential.delegating": False,
    "skill_catalog:categories": {"art": {}},
    "skill_catalog:skills.laying.category": "art",
    "skill_catalog:skills.laying.domain": "attic",
    "skill_catalog:skills.laying.prerequisites": ["laying"],
    "skill_catalog:skills.laying.preferred_tools": ["drill"],
    "skill_catalog:skills.laying.decay_rate_days": 30,
    "skill_catalog:skills.laying.prerequisites.0.min_proficiency": 1,
    "skill_catalog:skills.laying.prerequisites.0.skill": "laying",
    "skill_catalog:skills.laying.external": {"esco": "nowhere"},
    "crew_roster:agents.ann.trust_weight": 40,
    "qualification_catalog:qualifications.basics.threshold": 0.75,
    "qualification_catalog:qualifications.basics.min_sample_size": 5,
    "qualification_catalog:qualifications.basics.digests": {"model": "m1"},
    "qualification_catalog:qualifications.more.prerequisites": ["more"],
    "qualification_catalog:qualifications.more.raises": ["nothing"],
    "rank_ladder:promotions.master.requirements.0.skills": "role",
    "rank_ladder:promotions.master.requirements.0.min_count": 9,
    "rank_ladder:promotions.master.requirements.0.min_proficiency": 3,
    "rank_ladder:trust_margin": 0.01,
    "rank_ladder:promotions.master.qualifications": ["nothing"],
    "procedure_catalog:procedures.cut_stone.intents": ["whistle"],
    "procedure_catalog:procedures.cut_stone.skill": "mixing",
    "procedure_catalog:procedures.cut_stone.compilation_level": 3,
    "procedure_catalog:procedures.cut_stone.falls_back_to": None,
    "procedure_catalog:procedures.cut_stone.steps.0.id": "two",
    "procedure_catalog:procedures.cut_stone.steps.0.required_tools.0.tool": "notes",
    "procedure_catalog:procedures.cut_stone.steps.0.required_tools.0.action": "look",
    "tool_catalog:tools.horn.intents": ["whistle"],
    "rank_ladder:ranks.0.agency": "suggestive",
    "organization:procedure_proposals.min_successes": 9,
    "organization:procedure_proposals.min_success_rate": 0.95,
    "mason:capabilities.procedures": [],
    "mason:capabilities.intents": ["shine"],
    "mason:role_id": "stranger",
    "mason:role_type": "executive",
    "mason:chain_of_command.reports_to": "guard",
    "mason:chain_of_command.authority_level": 3,
    "chief:chain_of_command.can_delegate": False,
    "mason:capabilities.bst_domains": ["wall"],
    "mason:capabilities.htn_plans": [],
    "mason:capabilities.tools_primary": ["horn"],
    "mason:capabilities.tools_secondary": [],
    "mason:capabilities.tools.0.tool": "notes",
    "mason:capabilities.tools.0.level": "read",
    "mason:capabilities.skills.0.skill": "flying",
    "mason:capabilities.skills.0.min_proficiency": 2,
    "mason:capabilities.skills.0.optional": True,
    "mason:pace_plan.contingent.action": "abort_and_report",
    "mason:pace_plan.contingent.trigger": "consecutive_tool_failures >= 3",
    "mason:pace_plan.contingent.escalate_to": "board",
    "mason:pace_plan.alternate": {"action": "fallback_chain"},
    "mason:pace_plan.emergency": {"action": "abort_and_report", "trigger": "unrecoverable_error"},
    "mason:pace_plan.primary": {"action": "escalate", "trigger": "unrecoverable_error"},
    "mason:doctrine.salute_interval_turns": 9,
    "mason:doctrine.max_turns_without_progress": 3,
    "mason:doctrine.report_on_completion": False,
    "mason:doctrine.report_on_failure": False,
    "mason:handoff.may_to": [],
    "mason:handoff.may_from": ["guard"],
    "mason:department": "works",
    "chief:crew_tier": "external",
    "guard:layer": "bottom",
    "mason:position": "worker",
    "mason:entry_rank": "nobody",
    "chief:may_grant.0.tool": "drill",
    "chief:may_grant.0.level": "full",
    "mason:credentials": [],
    "mason:data": [],
    "mason:file_scope": ["**"],
    "mason:open_to_probation": True,
    "mason:description": "",
    "mason:examples": ["Juggle five torches"],
    "mason:not_examples": ["Build walls"],
    "mason:suppressions.0.rule": "ORG701",
    "mason:suppressions.0.subject": "role:guard",
    "mason:overlay": True,
    "organization:sources": [{"format": "claude-code", "path": "crew"}],
    "organization:sources.0.format": "crewai",
    "organization:sources.0.path": "gone",
    "mason:_version": "1.9",
    "mason:_schema": "orgkernel:plan_catalog",
}
# Shown elsewhere: how work is led, by tests/decisions/test_contract_terms.py.
ELSEWHERE = {"lmc_mode"}
# A field of a role that the changes above do not write takes the value that its row in the table has for it.
CHANGES |= {
    f"mason:{route}": field.another
    for field in ROLE_FIELDS
    for route in [".".join(field.route)]
    if field.decides not in ("nothing", "not yet")
    and not any(each.partition(":")[2].startswith(route) for each in CHANGES)
    and route not in ELSEWHERE
}
# Changes of the organization for which a field has no effect by itself: with them another field is looked at.
TOGETHER = {
    "organization:sources.0.format": {"organization:sources": [{"format": "claude-code", "path": "crew"}]},
    "organization:sources.0.path": {"organization:sources": [{"format": "claude-code", "path": "crew"}]},
    "mason:open_to_probation": {"guard:open_to_probation": True},
    "mason:department": {"organization:overrides.mason.department": None},
    "mason:capabilities.skills.0.optional": {
        "rank_ladder:promotions.master.requirements": [
            {"skills": "required_role", "min_proficiency": 2, "min_count": 1}
        ]
    },
    "mason:doctrine.salute_interval_turns": {"organization:overrides.mason.doctrine": None},
    "mason:pace_plan.alternate": {"organization:overrides.mason.pace_plan": None},
    "organization:limits.delegation": {"chief:capabilities.tools_primary": ["hands", "notes"]},
}


def _rows_that_decide(decides: str) -> dict[str, set[str]]:
    """By its record, each field of a role of which the table says so; and a part of a profile if all its fields are such."""
    found: dict[str, set[str]] = {}
    for name, declared in RoleProfile.model_fields.items():
        rows = [field for field in ROLE_FIELDS if field.route[0] == name]
        quiet = [field for field in rows if field.decides == decides]
        for field in quiet:
            record = RoleProfile if len(field.route) == 1 else declared.annotation
            found.setdefault(getattr(record, "__name__", ""), set()).add(field.route[-1])
        if rows and quiet == rows:
            found.setdefault("RoleProfile", set()).add(name)
    return found


# What is told to people, to agents or to the runtime: the manifest, a brief or a comparison shows it, and no answer depends on it.
TOLD_ONLY: dict[str, set[str]] = {
    **OF_COMMANDS_TOLD,
    "Suppression": {"reason"},
    **_rows_that_decide("nothing"),
    "PaceTier": {"description"},
    "Organization": {"org_name", "description", "mission", "mode", "microcosm_config", "macrocosm_config"},
    "CallLimit": {"unit"},
    "Mission": {"objective", "success_criteria", "constraints"},
    "HierarchyEntry": {"role_id", "role_name"},
    "Channel": {"description", "direction", "protocol"},
    "MicrocosmConfig": {"execution_model", "role_activation", "state_sharing", "salute_storage"},
    "MacrocosmConfig": {"execution_model", "role_activation", "state_sharing", "salute_storage", "network"},
    "Network": {"protocol", "discovery", "heartbeat_interval_seconds"},
    "Department": {"name", "description"},
    "Separation": {"description"},
    "RoleOverride": {"requirements"},
    "DomainCatalog": {"description"},
    "Domain": {"description"},
    "PlanCatalog": {"description"},
    "Plan": {"name", "description", "stale_after_turns"},
    "PlanStep": {"step"},
    "ProcedureCatalog": {"description"},
    "Procedure": {"name", "description"},
    "ProcedureStep": {"name"},
    "ToolCatalog": {"description"},
    "Tool": {"name", "description", "provider"},
    "Action": {"description"},
    "SkillCatalog": {"description", "proficiency_scale"},
    "SkillCategory": {"name", "description"},
    "Skill": {"name", "description"},
    "RankLadder": {"description"},
    "Rank": {"name", "description"},
    "QualificationCatalog": {"description"},
    "Qualification": {"name", "description", "tier"},
    "Directory": {"description"},
    "Person": {"name"},
    "SystemOrigin": {"description"},
    "Webhook": {"description"},
    "AccessPolicies": {"description"},
    "Policy": {"description"},
    "CrewRoster": {"description"},
    "RosterMember": {"callsign", "description"},
    "Bill": {"version", "title", "description", "author", "expected_results", "constraints"},
    "BillRole": {"description"},
    "Governance": {"description"},
    "GovernedLayer": {"name"},
    "SacredScope": {"description"},
    "QualityGate": {"description"},
}  # fmt: skip
# What a later part of the kernel reads; an answer may still depend on whether its names are declared.
NOT_YET: dict[str, set[str]] = {
    **_rows_that_decide("not yet"),
    "Rank": {"recall_tier"},
    "Location": {"resources_claimed"},
}
# What puts foreign questions into our words: tests/api asks them over HTTP, where alone they can be asked.
FOREIGN = ("Authzen", "AuthzenTypes", "ForeignSubject", "ForeignResource", "ActionMeaning")
# Kinds that are questions or reports, not declarations: each case has an answer, and a report is read as a whole.
CONTRACTS = (
    "brief",
    "result",
    "blocker",
    "correction",
    "decision_entry",
    "lmc_record",
    "mission_close",
    "preflight",
    "subtask_plan",
)
NO_DECLARATIONS = ("decision_cases", "salute_report", *CONTRACTS)


def write(folder: Path, changes: dict[str, Any]) -> Path:
    """The tree with some values changed; None takes a field away."""
    documents = list(yaml.safe_load_all(TREE))
    for change, value in changes.items():
        kind, _, route = change.partition(":")
        document = next(
            each for each in documents if kind in (each["_schema"].partition(":")[2], each.get("role_id"))
        )
        *above, last = route.split(".")
        inner: Any = document
        for step in above:
            inner = inner[int(step)] if isinstance(inner, list) else inner.setdefault(step, {})
        if value is None:
            inner.pop(last)
        else:
            inner[last] = value
    texts = {f"{number}.yaml": yaml.safe_dump(each, sort_keys=False) for number, each in enumerate(documents)}
    texts["crew/agents/helper.md"] = "---\nname: helper\ndescription: Helps.\ntools: Read\n---\n"
    return write_tree(
        folder, texts | {f"skills/{name}/SKILL.md": SKILL.format(name) for name in ("carve", "plan")}
    )


def observe(snapshot: Snapshot) -> Iterator[Any]:
    """Findings, decisions, and what the bundle tells a host; no texts of manifests. What is quickly seen comes first."""
    yield sorted((found.code, found.message) for found in snapshot.diagnostics)
    for organization in snapshot.organizations.values():
        view = organization.index
        for domain in (*view.records.domains, *view.records.aliases, "other"):
            decision = decide_dispatch(view, domain)
            yield domain, decision.outcome, decision.role_id, str(decision.tools), str(decision.plans)
        yield decide_by_intent(view, "lay").role_id
        for subject in (f"role:{role}" for role in view.roles):
            for intent in ("cut", "shine", "greet", "whistle"):
                way = decide_handling(view, EMPTY_STATE, HandlingRequest(subject, intent))
                yield subject, intent, way.tier, way.name, way.level, way.tools, [each.name for each in way.fallbacks]  # fmt: skip
        yield [len(decide_proposals(view, state).proposals) for state in (PLANNED, OFTEN_PLANNED)]
        for state in (NEW, TESTED):
            for tool in ("saw", "notes"):
                decided = decide_access(view, AccessRequest("agent:ann", "use", f"tool:{tool}"), state)
                yield tool, decided.outcome, decided.codes
        for state in ASKED_OF_ANN if "ann" in view.records.agents else ():
            yield from asked_of_ann(view, state)
        yield from _told_to_a_host(view)
        yield [decide_by_text(view, text).role_id for text in ("Juggle five torches", "Build walls")]
        for request in requests(list(view.roles)):
            decided = decide_access(view, request)
            yield request, decided.outcome, decided.codes, decided.level_required, decided.level_effective, decided.obligations  # fmt: skip


def _told_to_a_host(view: OrgView) -> Iterator[Any]:
    try:
        bundle = compile_bundle(view, "tests")
    except Exception:
        return
    roles = bundle["roles"].values()
    yield [(role["pace"], role["max_turns"], _kept(role["doctrine"]), role["tools"], role["host_tools"]) for role in roles]  # fmt: skip
    yield [(name, each["examples"], each["triggers"]) for name, each in bundle["domains"].items()]
    yield bundle["aliases"], bundle["dispatch"], list(bundle["tools"])


def asked_of_ann(view: OrgView, state: StateView) -> Iterator[Any]:
    """Her skills, her tests and her ranks, after twenty days."""
    now = 20 * DAY
    profile, record = (
        build_skill_profile(view, state, "ann", now),
        build_qualification_record(view, state, "ann", now),
    )
    decision = decide_promotion(view, state, "ann", now)
    yield profile.depth, [(gap.skill, gap.required, gap.level, gap.blocked_by) for gap in profile.gaps]
    yield [(each.qualification, each.code) for each in record.qualifications]
    yield decision.rank, decision.trust.mean
    for path in decision.paths:
        yield path.rank, path.outcome, [(each.kind, each.met, each.missing) for each in path.requirements]


def _kept(doctrine: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in doctrine.items() if name in ("salute_interval_turns", "report_on_completion", "report_on_failure")}  # fmt: skip


def requests(roles: list[str]) -> Iterator[AccessRequest]:
    """Everything that can be asked about the tree."""
    runs: list[dict[str, Any]] = [
        {},
        {"context": AccessContext(depth=2)},
        {"context": AccessContext(children=2, concurrent=2)},
        {"via": ("role:chief",)},
        {"context": AccessContext(input={"path": "/repo/walls/a"})},
    ]
    resources = [
        *((f"tool:{tool}", action) for tool in ("notes", "horn", "hands", "drill") for action in ("use", "look")),
        *((f"tool:saw{path}", action) for path in ("", ":walls/a", ":/srv/walls/a", ":gate") for action in ("look", "cut")),
        ("credential:key", "use"), ("data:drawings", "read"), ("data:full", "read"),
        *((f"role:{role}", action) for role in ("chief", "mason", "guard") for action in ("handoff", "escalate")),
    ]  # fmt: skip
    for subject in (*(f"role:{role}" for role in roles), "agent:ann", "person:user"):
        for resource, action in resources:
            for run in runs:
                yield AccessRequest(subject, action, resource, **run)


# Two roles of the tree have errors, and would be out of service.
MILDER = {"ORG208": Severity.WARNING, "ORG418": Severity.WARNING}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return list(observe(read(write(tmp_path_factory.mktemp("before"), {}), MILDER)))


@pytest.mark.parametrize(("field", "value"), [pytest.param(*each, id=each[0]) for each in CHANGES.items()])
def test_another_value_changes_an_answer(field: str, value: Any, tmp_path: Path, before: Any) -> None:
    """A finding, a decision or what a host is told to do."""
    together = TOGETHER.get(field, {})
    if together:
        before = list(observe(read(write(tmp_path / "before", together), MILDER)))
    snapshot = read(write(tmp_path / "after", {**together, field: value}), MILDER)
    invalid = [found for found in snapshot.diagnostics if found.code.startswith("ORG1")]
    assert field.endswith("_schema") or not invalid, "not a valid value"
    assert any(now != then for now, then in zip_longest(observe(snapshot), before))


def models() -> Iterator[type[BaseModel]]:
    """Every record that a kind of declarations is made of, each once."""

    def within(kind: Any) -> Iterator[type[BaseModel]]:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
        for argument in get_args(kind):
            yield from within(argument)

    pending: list[type[BaseModel]] = [KINDS[kind] for kind in KINDS if kind not in NO_DECLARATIONS]
    seen: set[type[BaseModel]] = set()
    while pending:
        model = pending.pop(0)
        if model not in seen and model.__name__ not in FOREIGN:
            seen.add(model)
            yield model
            pending += [each for field in model.model_fields.values() for each in within(field.annotation)]


def fields() -> set[tuple[str, str]]:
    """Every field by its record."""
    common = {"_schema", "_version", "suppressions"}
    return {
        ("Document" if (field.alias or name) in common else model.__name__, field.alias or name)
        for model in models()
        for name, field in model.model_fields.items()
    }


def _listed(table: dict[str, set[str]]) -> set[tuple[str, str]]:
    return {(model, name) for model, names in table.items() for name in names}


def test_every_field_is_accounted_for() -> None:
    """None is forgotten, and none is said to be without effect that a change here or beside this file shows to have one."""
    shown = {
        step
        for field in (*CHANGES, *OF_ACCESS, *OF_BILLS, *OF_GOVERNANCE)
        for step in field.partition(":")[2].split(".")
    }
    # Written as values of conditions.
    shown |= {"time", "authzen"}
    shown |= ELSEWHERE | OF_COMMANDS
    # Shown by tests/gateway/test_bindings.py: which action a call is.
    shown |= {"action_argument"}
    # Shown by tests/decisions/access_corpus/command_lists.yaml: how a list is read.
    shown |= {"command_lists"}
    # Shown by tests/decisions/access_corpus/approvals.yaml: whose approvals a grant needs.
    shown |= {"approvals", "by"}
    quiet = _listed(TOLD_ONLY) | _listed(NOT_YET)
    assert {each for each in fields() - quiet if each[1] not in shown} == set()
    also = {("Location", "resources_claimed")}
    assert quiet - fields() == also, "no such field"
    assert not _listed(TOLD_ONLY) & _listed(NOT_YET)


def test_what_is_not_yet_read_says_so() -> None:
    """In its description, which the JSON Schema and the reference page show; and nothing else does."""
    marked: set[tuple[str, str]] = set()
    for kind in KINDS:
        schema = build_json_schema(kind)
        for name, part in {KINDS[kind].__name__: schema, **schema.get("$defs", {})}.items():
            for field, about in part.get("properties", {}).items():
                if "Not yet" in about.get("description", ""):
                    marked.add((name, field))
    assert marked == _listed(NOT_YET)
