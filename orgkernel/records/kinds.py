"""The kinds of documents there are, each with its record and its deprecated fields. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from orgkernel.records.access_policies import AccessPolicies
from orgkernel.records.bill import Bill
from orgkernel.records.blocker import Blocker
from orgkernel.records.brief import Brief
from orgkernel.records.cognitive_skill import CognitiveSkill
from orgkernel.records.correction import Correction
from orgkernel.records.crew_roster import CrewRoster
from orgkernel.records.decision_cases import DecisionCases
from orgkernel.records.decision_entry import DecisionEntry
from orgkernel.records.directory import Directory
from orgkernel.records.domain_catalog import DomainCatalog
from orgkernel.records.governance import Governance
from orgkernel.records.lmc_record import LmcRecord
from orgkernel.records.mission_close import MissionClose
from orgkernel.records.organization import Organization
from orgkernel.records.plan_catalog import PlanCatalog
from orgkernel.records.preflight import Preflight
from orgkernel.records.procedure_catalog import ProcedureCatalog
from orgkernel.records.qualification_catalog import QualificationCatalog
from orgkernel.records.rank_ladder import RankLadder
from orgkernel.records.record import Document
from orgkernel.records.result import Result
from orgkernel.records.role_profile import RoleProfile
from orgkernel.records.salute_report import SaluteReport
from orgkernel.records.skill_catalog import SkillCatalog
from orgkernel.records.standing_order import StandingOrder
from orgkernel.records.tool_catalog import ToolCatalog

RECORDS: dict[str, type[Document]] = {
    "role_profile": RoleProfile,
    "organization": Organization,
    "domain_catalog": DomainCatalog,
    "plan_catalog": PlanCatalog,
    "tool_catalog": ToolCatalog,
    "skill_catalog": SkillCatalog,
    "rank_ladder": RankLadder,
    "qualification_catalog": QualificationCatalog,
    "procedure_catalog": ProcedureCatalog,
    "directory": Directory,
    "access_policies": AccessPolicies,
    "crew_roster": CrewRoster,
    "bill": Bill,
    "governance": Governance,
    "decision_cases": DecisionCases,
    "salute_report": SaluteReport,
    "brief": Brief,
    "result": Result,
    "blocker": Blocker,
    "correction": Correction,
    "decision_entry": DecisionEntry,
    "lmc_record": LmcRecord,
    "mission_close": MissionClose,
    "preflight": Preflight,
    "cognitive_skill": CognitiveSkill,
    "standing_order": StandingOrder,
}

# In a route, every item of a list or a mapping.
EACH = None
# The route of each deprecated field, and what to write instead.
DEPRECATED: dict[str, tuple[tuple[tuple[str | None, ...], str], ...]] = {'organization': ((('defaults',), 'write the values in each profile or under `overrides`; nothing reads this field'),)}
