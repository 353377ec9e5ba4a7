"""What the shipped catalogs and templates say, read with the models alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.documents.model.decision_cases import DecisionCases
from orgkernel.documents.model.domain_catalog import DomainCatalog
from orgkernel.documents.model.kinds import KINDS
from orgkernel.documents.model.levels import LEVEL_OF_SIDE_EFFECTS, LEVELS
from orgkernel.documents.model.organization import USER, Organization
from orgkernel.documents.model.plan_catalog import PlanCatalog, PlanStep
from orgkernel.documents.model.record import Document
from orgkernel.documents.model.role_profile import AUTHORITY_OF_TYPE, RoleProfile, SkillUse
from orgkernel.documents.model.skill_catalog import SkillCatalog
from orgkernel.documents.model.tool_catalog import EssentialFor, ToolCatalog

ROOT = Path(__file__).resolve().parents[3]
ONTOLOGY = ROOT / "ontology"
TEMPLATES = ROOT / "templates"
FILES = sorted([*ONTOLOGY.glob("*.yaml"), *TEMPLATES.rglob("*.yaml")])
ORGS = ("software_dev", "sigint_alpha")

# Agent-Zero: "BST taxonomy domains (18)", the other two vocabularies, "HTN plans (10)"
TAXONOMY = [
    "codegen",
    "refactor",
    "bugfix",
    "agentic",
    "file_ops",
    "analysis",
    "osint",
    "skill_building",
    "git_ops",
    "docker_ops",
    "config_edit",
    "prompt_engineering",
    "log_analysis",
    "pdf_ops",
    "data_transform",
    "api_integration",
    "dependency_mgmt",
    "conversational",
]
COMPOUND = [
    "investigation",
    "coding",
    "bugfix",
    "analysis",
    "system_admin",
    "planning",
    "config_edit",
    "prompt_engineering",
    "git_ops",
    "file_ops",
    "conversation",
]
LATER = [
    "coding",
    "bugfix",
    "investigation",
    "analysis",
    "financial",
    "file_ops",
    "system_admin",
    "research",
    "planning",
    "conversation",
    "git_ops",
    "testing",
    "orientation",
    "meta_cognitive",
    "philosophical",
]
PLANS = {
    "bugfix_workflow": "bugfix",
    "git_feature_branch": "git_ops",
    "git_merge_pr": "git_ops",
    "docker_build_deploy": "docker_ops",
    "codegen_module": "codegen",
    "refactor_safe": "refactor",
    "file_backup_restore": "file_ops",
    "api_integration": "api_integration",
    "dependency_update": "dependency_mgmt",
    "log_investigation": "log_analysis",
}
AGENT_ZERO_TOOLS = [
    "code_execution_tool",
    "input",
    "response",
    "call_subordinate",
    "search_engine",
    "browser_agent",
    "document_query",
    "memory_load",
    "memory_save",
    "memory_delete",
    "memory_forget",
    "behaviour_adjustment",
    "scheduler",
    "notify_user",
    "vision_load",
    "a2a_chat",
    "wait",
    "skills_tool",
    "text_editor",
]
PROFICIENCY = ("follow", "assist", "apply", "enable", "advise", "lead", "shape")
UNIVERSAL = [
    "communication",
    "chain_of_command",
    "duty_execution",
    "collaboration",
    "knowledge_stewardship",
    "self_assessment",
    "ethical_reasoning",
]

# The specification, "Organization Templates to Build": role, superior, domains.
CHARTS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "software_dev": {
        "co": ("user", ()),
        "engineering_xo": ("co", ()),
        "codegen_specialist": ("engineering_xo", ("codegen", "refactor")),
        "bugfix_specialist": ("engineering_xo", ("bugfix", "log_analysis")),
        "devops_specialist": ("engineering_xo", ("docker_ops", "git_ops", "dependency_mgmt")),
        "research_xo": ("co", ()),
        "analysis_specialist": ("research_xo", ("analysis", "data_transform")),
        "osint_specialist": ("research_xo", ("osint", "api_integration")),
    },
    "sigint_alpha": {
        "co": ("user", ()),
        "s2_xo": ("co", ()),
        "sigint_specialist": ("s2_xo", ("osint", "log_analysis")),
        "humint_specialist": ("s2_xo", ("analysis", "conversational")),
        "elint_specialist": ("s2_xo", ("data_transform", "api_integration")),
        "ops_xo": ("co", ()),
        "codegen_specialist": ("ops_xo", ("codegen", "skill_building")),
        "infrastructure_specialist": ("ops_xo", ("docker_ops", "config_edit")),
    },
}

TRIGGER_NAMES = {
    "consecutive_tool_failures",
    "total_tool_failures",
    "context_fill",
    "turns_without_progress",
    "turns_elapsed",
    "elapsed_seconds",
}
TRIGGER_FLAGS = {"unrecoverable_error", "context_exhausted"}
TIERS = ("primary", "alternate", "contingent", "emergency")


def read_yaml(path: Path) -> Any:
    return _frozen(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


@cache
def parse(path: Path) -> Document:
    raw = read_yaml(path)
    return KINDS[raw["_schema"].removeprefix("orgkernel:")].model_validate(raw)


def domains() -> DomainCatalog:
    return parse(ONTOLOGY / "domains.yaml")


def plans() -> PlanCatalog:
    return parse(ONTOLOGY / "plans.yaml")


def tools() -> ToolCatalog:
    return parse(ONTOLOGY / "tools.yaml")


def skills() -> SkillCatalog:
    return parse(ONTOLOGY / "skills.yaml")


def organization(org: str) -> Organization:
    return parse(TEMPLATES / org / "org.yaml")


def roles(org: str) -> dict[str, RoleProfile]:
    return {path.stem: parse(path) for path in sorted((TEMPLATES / org / "roles").glob("*.yaml"))}


def tools_of(role: RoleProfile) -> tuple[str, ...]:
    return role.capabilities.tools_primary + role.capabilities.tools_secondary


def needed_tools(plan: str) -> set[str]:
    entry = plans().plans[plan]
    return {tool for step in entry.steps if isinstance(step, PlanStep) for tool in step.tools} | set(
        entry.tools
    )


def thresholds(trigger: str, limit: int) -> dict[str, float]:
    """Names compared in a trigger with the value they must exceed; `max` is the limit, flags are left out."""
    found = {}
    for term in trigger.split(" OR "):
        if term in TRIGGER_FLAGS:
            continue
        match = re.fullmatch(r"(\w+) (?:>=|>) (?:(max)(?: \* ([\d.]+))?|([\d.]+))", term)
        assert match, term
        name, is_max, factor, number = match.groups()
        assert name in TRIGGER_NAMES, name
        found[name] = limit * float(factor or 1) if is_max else float(number)
    return found


def tier_thresholds(role: RoleProfile) -> list[dict[str, float]]:
    limit = role.doctrine.max_turns_without_progress
    triggers = [getattr(role.pace_plan, tier).trigger for tier in TIERS[1:]]
    return [thresholds(trigger, limit) for trigger in triggers]


# --- every file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_fits_its_model_and_begins_with_the_modeline_of_its_kind(path: Path):
    """The first line names, relatively, the JSON Schema of the document's kind, and the model accepts it."""
    document = parse(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    schema = lines[0].removeprefix("# yaml-language-server: $schema=")
    kind = document.kind.removeprefix("orgkernel:")
    assert (path.parent / schema).resolve() == ONTOLOGY / "schemas" / f"{kind}.json"
    assert lines[1].startswith("# ")
    assert list(read_yaml(path))[:2] == ["_schema", "_version"]
    assert document.version == "1.0"
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_writes_a_key_twice(path: Path):
    """Duplicate keys, which the loader of this test would swallow, are absent."""
    pending = [yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), keys
            pending.extend(value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)


# --- catalogs -------------------------------------------------------------------------------------------


def test_the_domains_are_the_taxonomy():
    """Eighteen domains, described with examples, none broader than another, only small talk passing through."""
    catalog = domains().domains
    assert list(catalog) == TAXONOMY
    assert len(catalog) == 18
    assert [name for name, domain in catalog.items() if domain.passthrough] == ["conversational"]
    for domain in catalog.values():
        assert domain.description
        assert domain.broader is None
        assert 4 <= len(domain.examples) <= 50
        assert 5 <= len(domain.triggers) <= 16


def test_every_id_of_the_other_vocabularies_is_accounted_for():
    """Each of the 11 and 15 ids is exactly one of: a domain, an alias, unmapped; and nothing else is listed."""
    catalog = domains()
    assert (len(COMPOUND), len(LATER)) == (11, 15)
    places = Counter([*catalog.domains, *catalog.aliases, *catalog.unmapped])
    assert set(places.values()) == {1}
    assert {*COMPOUND, *LATER} <= set(places)
    assert {*catalog.aliases, *catalog.unmapped} <= {*COMPOUND, *LATER}
    assert catalog.aliases == {
        "coding": "codegen",
        "conversation": "conversational",
        "investigation": "osint",
        "research": "osint",
        "system_admin": "docker_ops",
    }
    assert set(catalog.aliases.values()) <= set(catalog.domains)


def test_no_trigger_points_to_two_domains():
    """Triggers are lower case and no trigger of one domain is, or is a word inside, a trigger of another."""
    owners = [(trigger, name) for name, domain in domains().domains.items() for trigger in domain.triggers]
    assert len({trigger for trigger, _ in owners}) == len(owners)
    assert all(trigger == trigger.lower() for trigger, _ in owners)
    clashes = [
        (trigger, name, longer, other)
        for trigger, name in owners
        for longer, other in owners
        if name != other and f" {trigger} " in f" {longer} "
    ]
    assert clashes == []


def test_the_plans_are_those_of_the_library():
    """Ten plans and the one of the specification's example, each for its one domain, with 4 to 8 steps that need only
    declared tools.
    """
    catalog = plans().plans
    library = PLANS | {"data_transform": "data_transform"}
    assert {name: plan.domains for name, plan in catalog.items()} == {p: (d,) for p, d in library.items()}
    assert len(catalog) == 11
    for name, plan in catalog.items():
        assert plan.name
        assert plan.description
        assert 4 <= len(plan.steps) <= 8
        assert plan.stale_after_turns in {10, 12, 15}
        assert needed_tools(name)
        assert needed_tools(name) <= set(tools().tools)


def test_the_tools_are_those_of_agent_zero():
    """Nineteen described tools, each under its own name in Agent-Zero."""
    catalog = {name: tool for name, tool in tools().tools.items() if tool.provider == "agent_zero"}
    assert list(catalog) == AGENT_ZERO_TOOLS
    assert len(catalog) == 19
    for tool_id, tool in catalog.items():
        assert tool.name
        assert tool.description
        assert tool.provider == "agent_zero"
        assert tool.names["agent_zero"] == tool_id


def test_the_built_in_tools_of_claude_code_are_declared():
    """Each built-in tool is a tool here or another name of one."""
    names = {tool.names.get("claude_code") for tool in tools().tools.values()}
    assert names >= {
        "Bash", "BashOutput", "Edit", "Glob", "Grep", "KillShell", "NotebookEdit", "Read", "Skill", "Task", "TodoWrite",
        "WebFetch", "WebSearch", "Write",
    }  # fmt: skip


def test_names_of_other_runtimes_are_unambiguous():
    """No two tools go by the same name in one runtime."""
    named = Counter(pair for tool in tools().tools.values() for pair in tool.names.items())
    assert set(named.values()) == {1}


def test_a_tool_requires_as_much_as_it_can_do():
    """The highest level among a tool's actions is the one that its side effects call for."""
    for tool_id, tool in tools().tools.items():
        assert tool.actions, tool_id
        highest = max(tool.required_levels.values(), key=LEVELS.index)
        assert highest == LEVEL_OF_SIDE_EFFECTS[tool.side_effects], tool_id


def test_essential_tools_are_the_three_a_host_cannot_do_without():
    """Answering is essential for all roles, typing for roles with a terminal, delegating for roles with subordinates."""
    assert {tool_id: tool.essential for tool_id, tool in tools().tools.items() if tool.essential} == {
        "response": True,
        "input": EssentialFor(with_tools=("code_execution_tool",)),
        "call_subordinate": EssentialFor(delegating=True),
    }


def test_fallbacks_lead_to_declared_tools_and_never_back():
    """Following `falls_back_to` from any tool ends."""
    graph = {tool_id: tool.falls_back_to for tool_id, tool in tools().tools.items()}
    assert set(TopologicalSorter(graph).static_order()) == set(graph)


def test_the_skills_are_the_universal_ones_and_one_per_group_of_roles():
    """Seven steps, three categories, seven universal skills decaying in 30 days, and every role skill in use."""
    catalog = skills()
    assert catalog.proficiency_scale == PROFICIENCY
    assert list(catalog.categories) == ["pcc", "role", "acquired"]
    universal = {skill_id for skill_id, skill in catalog.skills.items() if skill.category == "pcc"}
    assert universal == set(UNIVERSAL)
    assert {catalog.skills[skill_id].decay_rate_days for skill_id in universal} == {30}
    required = {
        use.skill
        for org in ORGS
        for role in roles(org).values()
        for use in role.capabilities.skills
        if isinstance(use, SkillUse)
    }
    assert required <= set(catalog.skills)
    assert set(catalog.skills) - universal <= required
    for skill in catalog.skills.values():
        assert skill.description
        assert set(skill.preferred_tools) <= set(tools().tools)
        assert skill.domain is None or skill.domain in domains().domains


def test_skill_prerequisites_have_no_cycle():
    """Following prerequisites from any skill ends at skills that presuppose nothing."""
    graph = {skill_id: skill.prerequisites for skill_id, skill in skills().skills.items()}
    assert set(TopologicalSorter(graph).static_order()) == set(graph)


# --- templates --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("org", ORGS)
def test_the_chart_is_that_of_the_specification(org: str):
    """Roles, superiors and domains are exactly the chart's, in the hierarchy and in the profiles."""
    document, profiles = organization(org), roles(org)
    superiors = {sub: role_id for role_id, post in document.hierarchy.items() for sub in post.subordinates}
    assert document.org_id == org
    assert set(profiles) == set(document.hierarchy) == set(CHARTS[org])
    for role_id, (superior, handled) in CHARTS[org].items():
        role = profiles[role_id]
        assert role.role_id == role_id
        assert role.role_name == document.hierarchy[role_id].role_name
        assert superiors.get(role_id, USER) == role.chain_of_command.reports_to == superior
        assert role.capabilities.bst_domains == handled
    handled_at_all = [domain for _, handled in CHARTS[org].values() for domain in handled]
    assert list(document.domains) == handled_at_all
    assert set(handled_at_all) <= set(domains().domains)


@pytest.mark.parametrize("org", ORGS)
def test_role_types_follow_from_the_place_in_the_chart(org: str):
    """The top commands, roles with a superior and subordinates are executives, leaves are specialists."""
    document, profiles = organization(org), roles(org)
    for role_id, (superior, _) in CHARTS[org].items():
        role = profiles[role_id]
        leads = bool(document.hierarchy[role_id].subordinates)
        assert role.role_type == ("commander" if superior == USER else "executive" if leads else "specialist")
        assert role.chain_of_command.authority_level == AUTHORITY_OF_TYPE[role.role_type]
        assert role.chain_of_command.can_delegate is leads
        assert ("call_subordinate" in tools_of(role)) is leads


@pytest.mark.parametrize("org", ORGS)
def test_roles_follow_the_plans_of_their_domains_and_have_the_tools(org: str):
    """A role's plans are all plans of the domains it handles, and it lists every tool they need, each once."""
    for role_id, role in roles(org).items():
        handled = set(role.capabilities.bst_domains)
        assert set(role.capabilities.htn_plans) == {
            plan for plan, domain in PLANS.items() if domain in handled
        }
        equipped = tools_of(role)
        assert len(equipped) == len(set(equipped)), role_id
        assert set(equipped) <= set(tools().tools), role_id
        for plan in role.capabilities.htn_plans:
            assert needed_tools(plan) <= set(equipped), (role_id, plan)


@pytest.mark.parametrize("org", ORGS)
def test_every_profile_is_complete(org: str):
    """Nothing a reader would miss is left out, and a plan selector is required only where there are plans."""
    document = organization(org)
    assert set(document.departments) == {role.department for role in roles(org).values()}
    for role_id, role in roles(org).items():
        assert role.description, role_id
        assert role.capabilities.tools_primary, role_id
        assert role.capabilities.tools_secondary, role_id
        assert role.capabilities.skills, role_id
        assert role.requirements.min_context_tokens, role_id
        selects = "htn_plan_selector" in role.requirements.required_extensions
        assert selects is bool(role.capabilities.htn_plans), role_id
        assert 2 <= len(role.does_not_have) <= 4, role_id
        assert role.doctrine.salute_interval_turns < role.doctrine.max_turns_without_progress, role_id


@pytest.mark.parametrize("org", ORGS)
def test_escalation_goes_up(org: str):
    """Contingent and emergency go to a superior, near or far, and from the top to the user."""
    profiles = roles(org)
    for role_id, role in profiles.items():
        above = [role.chain_of_command.reports_to]
        while above[-1] != USER:
            above.append(profiles[above[-1]].chain_of_command.reports_to)
        allowed = above[:-1] or [USER]
        assert role.pace_plan.primary.escalate_to is None
        assert role.pace_plan.alternate.escalate_to is None
        assert role.pace_plan.contingent.escalate_to == above[0], role_id
        assert role.pace_plan.emergency.escalate_to in allowed, role_id


@pytest.mark.parametrize("org", ORGS)
def test_pace_tiers_are_in_order(org: str):
    """All four tiers are described, act as their name says, and need more of the same thing the higher they are."""
    actions = ["normal_execution", "fallback_chain", "escalate", "abort_and_report"]
    for role_id, role in roles(org).items():
        tiers = [getattr(role.pace_plan, tier) for tier in TIERS]
        assert all(tier.description for tier in tiers), role_id
        assert [tier.action for tier in tiers] == actions, role_id
        assert tiers[0].trigger is None, role_id
        reached: dict[str, float] = {}
        for tier in tier_thresholds(role):
            for name, value in tier.items():
                assert value > reached.get(name, 0), (role_id, name)
                reached[name] = value
        assert reached["context_fill"] < 1, role_id


@pytest.mark.parametrize("org", ORGS)
def test_the_leash_is_shortest_for_specialists_and_longest_for_the_commander(org: str):
    """Every role is less patient in failures, turns and context than every role of the next higher type."""

    def patience(role: RoleProfile) -> dict[str, float]:
        alternate, contingent, emergency = tier_thresholds(role)
        limit = role.doctrine.max_turns_without_progress
        return {
            "alternate failures": alternate["consecutive_tool_failures"],
            "contingent failures": contingent["consecutive_tool_failures"],
            "contingent context": contingent["context_fill"],
            "progress limit": limit,
            "emergency multiple": emergency["turns_without_progress"] / limit,
            "salute interval": role.doctrine.salute_interval_turns,
        }

    by_type: dict[str, list[dict[str, float]]] = {}
    for role in roles(org).values():
        by_type.setdefault(role.role_type, []).append(patience(role))
    for lower, higher in (("specialist", "executive"), ("executive", "commander")):
        for measure in by_type[lower][0]:
            longest = max(role[measure] for role in by_type[lower])
            assert longest < min(role[measure] for role in by_type[higher]), (lower, measure)


@pytest.mark.parametrize("org", ORGS)
def test_the_organization_states_its_mission_and_channels(org: str):
    """The mission is complete, and only peers under one superior may speak past the chain of command."""
    document = organization(org)
    assert document.description
    assert document.mission.objective
    assert document.mission.success_criteria
    assert document.mission.constraints
    assert document.mode == "microcosm"
    assert set(document.communication_channels) == {"command", "lateral"}
    for one, other in document.communication_channels["lateral"].allowed_pairs:
        assert one != other
        assert CHARTS[org][one][0] == CHARTS[org][other][0]


@pytest.mark.parametrize("org", ORGS)
def test_the_cases_cover_the_chart_and_say_what_it_says(org: str):
    """Every domain of the chart is asked for, and every expectation follows from the chart and the profiles."""
    document: DecisionCases = parse(TEMPLATES / org / "cases.yaml")
    profiles, catalog = roles(org), domains()
    handler = {domain: role for role, (_, handled) in CHARTS[org].items() for domain in handled}
    asked = []
    for case in document.cases:
        assert case.org == org
        for dispatch in case.dispatch:
            asked.append(dispatch.ask.domain)
            domain = catalog.aliases.get(dispatch.ask.domain, dispatch.ask.domain)
            assert domain in catalog.domains or domain in catalog.unmapped
            assert dispatch.role_id == handler.get(domain)
            assert dispatch.outcome == ("role" if domain in handler else "not_applicable")
            if dispatch.role_id:
                role = profiles[dispatch.role_id]
                follows = role.capabilities.htn_plans
                assert dispatch.plans == tuple(plan for plan in follows if PLANS[plan] == domain)
                assert dispatch.tools in (None, tools_of(role))
                assert set(dispatch.ask.needs) <= set(tools_of(role))
    assert set(handler) | {"coding", "planning"} <= set(asked)
    assert ("conversational" in handler) is (org == "sigint_alpha")
    assert "conversational" in asked


def test_the_blank_organization_is_one_role_in_few_lines():
    """A newcomer's first organization has one commander, described, and all it names is declared."""
    document, profiles = organization("blank"), roles("blank")
    assert set(profiles) == set(document.hierarchy) == {"co"}
    commander = profiles["co"]
    assert commander.role_type == "commander"
    assert commander.description
    assert commander.chain_of_command.reports_to == USER
    assert commander.capabilities.bst_domains == document.domains
    assert set(document.domains) <= set(domains().domains)
    assert set(tools_of(commander)) <= set(tools().tools)
    for path in (TEMPLATES / "blank").rglob("*.yaml"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 25
