"""The kinds of documents: one row each, with its model and its JSON Schema."""

from __future__ import annotations

from typing import Any

from orgkernel.model.access_policies import AccessPolicies
from orgkernel.model.crew_roster import CrewRoster
from orgkernel.model.decision_cases import DecisionCases
from orgkernel.model.directory import Directory
from orgkernel.model.domain_catalog import DomainCatalog
from orgkernel.model.organization import Organization
from orgkernel.model.plan_catalog import PlanCatalog
from orgkernel.model.qualification_catalog import QualificationCatalog
from orgkernel.model.rank_ladder import RankLadder
from orgkernel.model.record import Document
from orgkernel.model.role_profile import RoleProfile
from orgkernel.model.salute_report import SaluteReport
from orgkernel.model.skill_catalog import SkillCatalog
from orgkernel.model.tool_catalog import ToolCatalog

VERSION = (1, 0)

KINDS: dict[str, type[Document]] = {
    "role_profile": RoleProfile,
    "organization": Organization,
    "domain_catalog": DomainCatalog,
    "plan_catalog": PlanCatalog,
    "tool_catalog": ToolCatalog,
    "skill_catalog": SkillCatalog,
    "rank_ladder": RankLadder,
    "qualification_catalog": QualificationCatalog,
    "directory": Directory,
    "access_policies": AccessPolicies,
    "crew_roster": CrewRoster,
    "decision_cases": DecisionCases,
    "salute_report": SaluteReport,
}

# Kinds that this version does not read yet or only emits. They are known names, so that they are not reported as
# spelling mistakes.
LATER_KINDS = ("crew_manifest", "governance")


def build_json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of a document of this kind, for editors. Names starting with `x_` belong to the user."""
    schema = KINDS[kind].model_json_schema(by_alias=True)
    opened: dict[str, Any] = _accept_user_fields(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **opened,
        "title": f"orgkernel {kind}",
        "required": ["_schema", *schema.get("required", [])],
    }


def _accept_user_fields(schema: Any) -> Any:
    if isinstance(schema, dict):
        opened = {key: _accept_user_fields(value) for key, value in schema.items()}
        if schema.get("additionalProperties") is False:
            opened["patternProperties"] = {**schema.get("patternProperties", {}), "^x_": {}}
        return opened
    if isinstance(schema, list):
        return [_accept_user_fields(value) for value in schema]
    return schema
