"""The state of the extension for one agent as plain data, for the plugin's page and other readers."""

from __future__ import annotations

import os
from typing import Any

from . import effect, pinning, places, switching
from .memory import KEY, AgentMemory
from .organization import Active, find_active
from .runtime import effect_counts, report_files, signals

_DISABLED = ("usr", "plugins", "orgkernel", ".toggle-0")


def describe(agent: Any) -> dict[str, Any]:
    """Whether the activation is on or why it is off, the role with its PACE tier and reasons, its last report, and the effect:
    the counts of calls refused and tokens saved.
    """
    active, error = find_active()
    shown: dict[str, Any] = {"on": active is not None, "error": error, "effect": _read_effect(active, agent)}
    if active is None:
        problem = switching.find_problem() if error is None else None
        shown["can_switch_on"] = error is None and problem is None
        shown["why"] = error or (
            "it was switched off" if problem is None else "no organization is active: there is no active.json"
        )
        return shown
    shown |= {
        "organization": active.bundle.org_id,
        "organization_name": str(active.bundle.organization.get("org_name", "")),
        "enforcement": active.settings.enforcement,
        "remarks": [*active.remarks, *_find_disabled_plugin()],
        "roles": [{"id": role.role_id, "name": role.role_name} for role in active.bundle.roles.values()],
        "pinned": pinning.get_pinned_role(agent.context) if agent is not None else None,
    }
    memory = agent.data.get(KEY) if agent is not None else None
    role = active.bundle.roles.get(memory.role_id or "") if isinstance(memory, AgentMemory) else None
    if role is None or not isinstance(memory, AgentMemory):
        return shown | {"role": None, "why": _explain_no_role(agent, memory)}
    role_memory = memory.roles.get(role.role_id)
    report, problem = report_files.read_latest(
        os.path.join(places.ORGANIZATIONS, places.REPORTS), role.role_id
    )
    decision = role_memory.decision if role_memory is not None else None
    return shown | {
        "role": role.role_id,
        "role_name": role.role_name,
        "agent": agent.number,
        "chosen": _explain_choice(agent, memory),
        "domain": memory.domain,
        "reports_to": role.reports_to,
        "tools": sorted(role.host_tools),
        "plans": list(role.plans),
        "tier": role_memory.tier if role_memory is not None else "primary",
        "reasons": [tripped.text for tripped in decision.reasons] if decision else [],
        "unknown": list(decision.unknown) if decision else [],
        "trouble": memory.trouble,
        "report": report,
        "report_problem": problem,
        "signals": dict(signals.read_counts(agent.data)),
    }


def _find_disabled_plugin() -> list[str]:
    """A message if the host's settings disable the plugin, and with it the whole extension; else an empty list."""
    root = os.path.dirname(os.path.dirname(places.ORGANIZATIONS))
    if not os.path.lexists(os.path.join(root, *_DISABLED)):
        return []
    return ["The plugin is disabled in the host's list of plugins, so the organization has no effect."]


def _explain_choice(agent: Any, memory: AgentMemory) -> str:
    if memory.reason == pinning.PINNED and pinning.get_pinned_role(agent.context) is None:
        return "it was pinned until now, and the next message chooses a role again"
    return memory.reason


def _explain_no_role(agent: Any, memory: object) -> str:
    if agent is None:
        return "no chat is open"
    reason = memory.reason if isinstance(memory, AgentMemory) else ""
    return f"no role is active in this chat{f': {reason}' if reason else ''}"


def _read_effect(active: Active | None, agent: Any) -> dict[str, Any]:
    """The effect in this chat and in all chats, as counts and as sentences."""
    names = (
        {role.role_id: role.role_name for role in active.bundle.roles.values()} if active is not None else {}
    )
    effects: dict[str, Any] = {"chat": None}
    if agent is not None:
        effects["chat"] = _render_effect(effect.get_chat_effect(agent), names)
    every, problem = effect.read_total_effect(agent)
    return effects | {"all": _render_effect(every, names) if every is not None else None, "problem": problem}


def _render_effect(counted: effect_counts.HostEffect, names: dict[str, str]) -> dict[str, Any]:
    return counted.as_json() | {"lines": effect_counts.lines(counted, names)}
