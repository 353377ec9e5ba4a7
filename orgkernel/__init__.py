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
from typing import TYPE_CHECKING, Any

from orgkernel.version import __version__

if TYPE_CHECKING:
    from orgkernel.decisions.access.request import AccessContext, AccessRequest
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision
    from orgkernel.diagnostics import Diagnostic, Place, Severity
    from orgkernel.errors import OrgkernelError
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.registry_state import Reload
    from orgkernel.manifest.crew import AgentFilter
    from orgkernel.manifest.filters import RoleFilter
    from orgkernel.manifest.v1 import OrganizationManifest, RoleManifest, encode


_HOMES = {
    "AccessContext": "orgkernel.decisions.access.request",
    "AccessRequest": "orgkernel.decisions.access.request",
    "AgentFilter": "orgkernel.manifest.crew",
    "Diagnostic": "orgkernel.diagnostics",
    "DispatchDecision": "orgkernel.decisions.dispatch.by_domain",
    "Kernel": "orgkernel.kernel.kernel",
    "OrganizationManifest": "orgkernel.manifest.v1",
    "OrgkernelError": "orgkernel.errors",
    "Place": "orgkernel.diagnostics",
    "Reload": "orgkernel.kernel.registry_state",
    "RoleFilter": "orgkernel.manifest.filters",
    "RoleManifest": "orgkernel.manifest.v1",
    "Severity": "orgkernel.diagnostics",
    "encode": "orgkernel.manifest.v1",
}

__all__ = [
    "AccessContext",
    "AccessRequest",
    "AgentFilter",
    "Diagnostic",
    "DispatchDecision",
    "Kernel",
    "OrganizationManifest",
    "OrgkernelError",
    "Place",
    "Reload",
    "RoleFilter",
    "RoleManifest",
    "Severity",
    "__version__",
    "encode",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
