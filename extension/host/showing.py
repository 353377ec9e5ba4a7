"""The layer's state for one agent as plain data, for the plugin's page and other readers."""

from __future__ import annotations

import os
from typing import Any

from . import places
from .memory import KEY, AgentMemory
from .organization import find_active
from .runtime import report_files, signals


def describe(agent: Any) -> dict[str, Any]:
    """Whether the layer is on and why not, the role with its tier and reasons, its last report, and who warned."""
    active, error = find_active()
    shown: dict[str, Any] = {"on": active is not None, "error": error}
    if active is None:
        shown["why"] = error or "no organization is active: usr/organizations/active.json does not exist"
        return shown
    shown |= {
        "organization": active.bundle.org_id,
        "organization_name": str(active.bundle.organization.get("org_name", "")),
        "enforcement": active.settings.enforcement,
        "remarks": list(active.remarks),
    }
    memory = agent.data.get(KEY) if agent is not None else None
    role = active.bundle.roles.get(memory.role_id or "") if isinstance(memory, AgentMemory) else None
    if role is None or not isinstance(memory, AgentMemory):
        return shown | {"role": None, "why": "no role is active in this chat"}
    own = memory.roles.get(role.role_id)
    report, problem = report_files.read_latest(
        os.path.join(places.ORGANIZATIONS, places.REPORTS), role.role_id
    )
    return shown | {
        "role": role.role_id,
        "role_name": role.role_name,
        "domain": memory.domain,
        "reports_to": role.reports_to,
        "tools": sorted(role.host_tools),
        "plans": list(role.plans),
        "tier": own.tier if own is not None else "primary",
        "reasons": [tripped.text for tripped in own.decision.reasons]
        if own is not None and own.decision
        else [],
        "unknown": list(own.decision.unknown) if own is not None and own.decision else [],
        "trouble": memory.trouble,
        "report": report,
        "report_problem": problem,
        "signals": dict(signals.read_counts(agent.data)),
    }
