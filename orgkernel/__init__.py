"""orgkernel: an organization of AI agents, declared as code.

The public names, each imported when it is first used:

>>> import orgkernel
>>> kernel = orgkernel.Kernel.open()  # without a path: the organizations that come with the package
>>> kernel.check()
()
>>> kernel.dispatch("software_dev", "bugfix").role_id
'bugfix_specialist'
"""

from __future__ import annotations

from importlib import import_module

from orgkernel.version import __version__

# Checkers of types take it as true. The one of `typing` costs as long as the start of Python.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from orgkernel.client.blocking import Client
    from orgkernel.client.permit import CallPermit, NotAllowed
    from orgkernel.client.waiting import AsyncClient
    from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow
    from orgkernel.decisions.access.envelope import AccessEnvelope
    from orgkernel.decisions.access.request import AccessContext, AccessRequest
    from orgkernel.decisions.crew.promotion import PromotionDecision
    from orgkernel.decisions.crew.skill_profile import SkillProfile
    from orgkernel.decisions.crew.vacancies import VacancyAnswer
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision
    from orgkernel.decisions.evidence.qualifications import QualificationRecord
    from orgkernel.decisions.evidence.state_records import PermissionRequest, ReportReceipt
    from orgkernel.decisions.evidence.state_view import Grant
    from orgkernel.decisions.handoff.permission import HandoffPermission, HandoffQuestion
    from orgkernel.decisions.reasons import Reason
    from orgkernel.decisions.status.pace import RolePace
    from orgkernel.decisions.work.capability.handling import HandlingDecision, HandlingRequest
    from orgkernel.diagnostics import Diagnostic, Place, Severity
    from orgkernel.errors import OrgkernelError
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.registry_state import Reload
    from orgkernel.manifest.crew import AgentFilter, AgentList
    from orgkernel.manifest.filters import RoleFilter
    from orgkernel.manifest.v1 import AgentManifest, OrganizationManifest, RoleManifest, encode
    from orgkernel.runtime.observation import Observation
    from orgkernel.runtime.salute import Situation


_HOMES = {
    "AccessContext": "orgkernel.decisions.access.request",
    "AccessDecision": "orgkernel.decisions.access.decision",
    "AccessEnvelope": "orgkernel.decisions.access.envelope",
    "AccessExplanation": "orgkernel.decisions.access.decision",
    "AccessRequest": "orgkernel.decisions.access.request",
    "AccessRow": "orgkernel.decisions.access.decision",
    "AgentFilter": "orgkernel.manifest.crew",
    "AgentList": "orgkernel.manifest.crew",
    "AgentManifest": "orgkernel.manifest.v1",
    "AsyncClient": "orgkernel.client.waiting",
    "Client": "orgkernel.client.blocking",
    "Diagnostic": "orgkernel.diagnostics",
    "DispatchDecision": "orgkernel.decisions.dispatch.by_domain",
    "HandoffPermission": "orgkernel.decisions.handoff.permission",
    "Grant": "orgkernel.decisions.evidence.state_view",
    "HandlingDecision": "orgkernel.decisions.work.capability.handling",
    "HandlingRequest": "orgkernel.decisions.work.capability.handling",
    "HandoffQuestion": "orgkernel.decisions.handoff.permission",
    "Kernel": "orgkernel.kernel.kernel",
    "NotAllowed": "orgkernel.client.permit",
    "Observation": "orgkernel.runtime.observation",
    "OrganizationManifest": "orgkernel.manifest.v1",
    "OrgkernelError": "orgkernel.errors",
    "PermissionRequest": "orgkernel.decisions.evidence.state_records",
    "CallPermit": "orgkernel.client.permit",
    "Place": "orgkernel.diagnostics",
    "PromotionDecision": "orgkernel.decisions.crew.promotion",
    "QualificationRecord": "orgkernel.decisions.evidence.qualifications",
    "Reason": "orgkernel.decisions.reasons",
    "Reload": "orgkernel.kernel.registry_state",
    "ReportReceipt": "orgkernel.decisions.evidence.state_records",
    "RoleFilter": "orgkernel.manifest.filters",
    "RoleManifest": "orgkernel.manifest.v1",
    "RolePace": "orgkernel.decisions.status.pace",
    "Severity": "orgkernel.diagnostics",
    "Situation": "orgkernel.runtime.salute",
    "SkillProfile": "orgkernel.decisions.crew.skill_profile",
    "VacancyAnswer": "orgkernel.decisions.crew.vacancies",
    "encode": "orgkernel.manifest.v1",
}

__all__ = [
    "AccessContext",
    "AccessDecision",
    "AccessEnvelope",
    "AccessExplanation",
    "AccessRequest",
    "AccessRow",
    "AgentFilter",
    "AgentList",
    "AgentManifest",
    "AsyncClient",
    "CallPermit",
    "Client",
    "Diagnostic",
    "DispatchDecision",
    "Grant",
    "HandlingDecision",
    "HandlingRequest",
    "HandoffPermission",
    "HandoffQuestion",
    "Kernel",
    "NotAllowed",
    "Observation",
    "OrganizationManifest",
    "OrgkernelError",
    "PermissionRequest",
    "Place",
    "PromotionDecision",
    "QualificationRecord",
    "Reason",
    "Reload",
    "ReportReceipt",
    "RoleFilter",
    "RoleManifest",
    "RolePace",
    "Severity",
    "Situation",
    "SkillProfile",
    "VacancyAnswer",
    "__version__",
    "encode",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
