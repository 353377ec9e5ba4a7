"""The manifest of an agent as the capability profile of the crew specification (§10), with its field names and order.

`losses` names what the specification has a field for and this registry does not know.
"""

from __future__ import annotations

from typing import Any, Final

from orgkernel.decisions.crew.skill_profile import HeldSkill
from orgkernel.diagnostics.wording import listing
from orgkernel.manifest.v1 import AgentManifest, ToolItem

LOSSES: Final = (
    "agent_type: the id of the agent in the roster, because an agent has no type of its own",
    "current_duty.pool: not known, because a host forms its pools",
    "handled_intents.tier: not known, because model tiers are not declared",
)
_SEVERAL: Final = "{}: only the first one; {} left out"


def build_seed004_profile(manifest: AgentManifest) -> dict[str, Any]:
    """The profile as plain data, for YAML or JSON. What is not known is null or left empty."""
    work, status, skills = manifest.service_record, manifest.qualification_status, manifest.skill_profile
    orders: dict[str, list[str]] = {"federation": [], "ship": [], "department": [], "personal": []}
    names = {"organization": "ship", "role": "personal", "profile": "personal"}
    for order in manifest.standing_orders:
        orders[names.get(order.source, order.source)].append(order.file)
    personality = manifest.personality
    values = personality.observed or personality.seed
    posts = [post.id for post in manifest.roles]
    departments = [department.id for department in manifest.departments]
    several = (("post", posts), ("department", departments))
    losses = [_SEVERAL.format(name, listing(each[1:])) for name, each in several if each[1:]]
    return {
        "agent_id": manifest.did or manifest.agent_id,
        "callsign": manifest.callsign,
        "agent_type": manifest.agent_id,
        "post": next(iter(posts), None),
        "department": next(iter(departments), None),
        "rank": None if manifest.rank is None else manifest.rank.id,
        "trust_score": manifest.trust,
        "lifecycle_state": manifest.lifecycle,
        "personality": {
            **{name: getattr(values, name) for name in values.__struct_fields__},
            "drift_from_seed": personality.drift_from_seed,
        },
        "standing_orders": {name: list(dict.fromkeys(files)) for name, files in orders.items()},
        "cognitive_skills": [
            {
                "name": skill.name,
                "origin": skill.origin,
                "description": skill.description,
                "department": list(skill.departments),
                "min_rank": skill.min_rank or None,
                "skill_id": skill.skill_id or None,
                "proficiency": skill.proficiency,
            }
            for skill in manifest.cognitive_skills
        ],
        "handled_intents": [
            {
                "name": intent.id,
                "source": intent.tier,
                "by": intent.by or None,
                "tier": None,
                "description": intent.description,
            }
            for intent in manifest.handled_intents
        ],
        "recall_tier": None if manifest.recall_tier is None else manifest.recall_tier.tier,
        "tools": [_build_tool(tool) for tool in manifest.tools],
        "executable_skills": [
            {"name": each.id, "origin": each.origin, "compilation_level": each.compilation_level}
            for each in manifest.executable_skills
        ],
        "skill_profile": {
            "pccs": [_build_skill(skill) for skill in skills.universal],
            "role_skills": [_build_skill(skill) for skill in skills.role],
            "acquired_skills": [_build_skill(skill) for skill in skills.acquired],
        },
        "qualifications": {
            "baseline_set": status.baseline_set,
            "latest_battery": {
                test.qualification: {
                    "score": None if test.latest is None else test.latest.score,
                    "passed": test.passed,
                }
                for test in status.tests
            },
            "qualification_path": status.path,
            "path_progress": None
            if status.path is None
            else f"{status.met}/{status.required} requirements met",
        },
        "procedures": {"total": manifest.procedures.total, "by_level": dict(manifest.procedures.by_level)},
        "current_duty": {
            "pool": None,
            "watch": manifest.current_duty.current_watch,
            "watches": list(manifest.current_duty.watches),
            "intent_subscriptions": list(manifest.current_duty.intents),
        },
        "service_record": {
            "birth_date": work.born_at,
            "total_episodes": work.total_episodes,
            "success_rate": work.success_rate,
            "trust_trajectory": work.trust_trajectory,
            "promotions": [
                f"{move.before or 'none'}→{move.after or 'none'} ({move.at[:10]})" for move in work.promotions
            ],
        },
        "losses": [*losses, *LOSSES],
    }


def _build_tool(tool: ToolItem) -> dict[str, Any]:
    return {
        "tool_id": tool.id,
        "provider": tool.provider or None,
        "permission": tool.letters,
        "gated_by": list(tool.gated_by),
        "scope": tool.conditional,
        "qualified": tool.qualified,
        "qualification_date": tool.qualified_at,
    }


def _build_skill(skill: HeldSkill) -> dict[str, Any]:
    return {"skill_id": skill.skill, "proficiency": skill.level}
