"""The kinds of documents, each with its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orgkernel.documents.model.record import Document

VERSION = (1, 0)

_MODELS = {
    "role_profile": "RoleProfile",
    "organization": "Organization",
    "domain_catalog": "DomainCatalog",
    "plan_catalog": "PlanCatalog",
    "tool_catalog": "ToolCatalog",
    "skill_catalog": "SkillCatalog",
    "rank_ladder": "RankLadder",
    "qualification_catalog": "QualificationCatalog",
    "command_catalog": "CommandCatalog",
    "procedure_catalog": "ProcedureCatalog",
    "directory": "Directory",
    "access_policies": "AccessPolicies",
    "crew_roster": "CrewRoster",
    "bill": "Bill",
    "governance": "Governance",
    "decision_cases": "DecisionCases",
    "salute_report": "SaluteReport",
    "brief": "Brief",
    "result": "Result",
    "blocker": "Blocker",
    "correction": "Correction",
    "decision_entry": "DecisionEntry",
    "lmc_record": "LmcRecord",
    "mission_close": "MissionClose",
    "preflight": "Preflight",
    "subtask_plan": "SubtaskPlan",
}


# Kinds in Markdown. The place of a file determines its kind, so it has no `_schema`.
_MARKDOWN_MODELS = {
    "cognitive_skill": "CognitiveSkill",
    "standing_order": "StandingOrder",
}


class _Kinds(Mapping[str, "type[Document]"]):
    """Maps a kind to its model. A model, and pydantic with it, is imported on first access."""

    def __init__(self, models: Mapping[str, str]) -> None:
        self._models = models

    def __getitem__(self, kind: str) -> type[Document]:
        model: type[Document] = getattr(
            import_module(f"orgkernel.documents.model.{kind}"), self._models[kind]
        )
        return model

    def __contains__(self, kind: object) -> bool:
        return kind in self._models

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


KINDS: Mapping[str, type[Document]] = _Kinds(_MODELS)
MARKDOWN_KINDS: Mapping[str, type[Document]] = _Kinds(_MARKDOWN_MODELS)

# Kinds that this version does not read yet or only emits. They are known names, so they are not reported as spelling
# mistakes.
LATER_KINDS = ("crew_manifest",)

RENAMED_FIELDS: Final[Mapping[str, tuple[tuple[tuple[str | None, ...], str], ...]]] = MappingProxyType(
    {
        "role_profile": ((("tier",), "crew_tier"), (("dispatch",), "handoff")),
        "crew_roster": ((("agents", None, "tier"), "crew_tier"),),
        "rank_ladder": ((("promotions", None, "requirements", None, "scope"), "skills"),),
    }
)
"""Fields whose name has changed: the old route (None for every entry of a mapping or a list) and the new name.

The old name is an unknown field whose help states the new one, and `orgkernel upgrade` writes the new one.
"""
