"""Use an organization file that was copied by hand and has no compiled bundle.

It provides who takes which domain, the plans of each role, chains of command and SALUTE; the specification's own files
hold nothing else that is reliable. Tools are neither trimmed nor refused, triggers are text that was never parsed, and
messages cannot be classified without a belief state tracker. `orgkernel org activate` provides all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .runtime import bundle as bundles
from .runtime import pace, tiers

_RANK = {"specialist": 0, "executive": 1, "commander": 2}
_MOST_ROLES = 1_000
REMARK = (
    "no compiled bundle: roles come from the agent's profile or the host's belief state tracker, never from the message; "
    "tools are not limited and PACE triggers are not evaluated. To compile one: `orgkernel org activate`"
)


def role_files(document: Mapping[str, Any]) -> list[str]:
    """Names of the role files of an organization, in the order of its hierarchy."""
    hierarchy = document.get("hierarchy")
    ids = list(hierarchy) if isinstance(hierarchy, dict) else []
    return [
        f"{role_id}.json" for role_id in ids[:_MOST_ROLES] if isinstance(role_id, str) and _is_plain(role_id)
    ]


def build_bundle(
    document: Mapping[str, Any], files: Mapping[str, object]
) -> tuple[bundles.Bundle, tuple[str, ...]]:
    """A bundle from the files, and remarks about files that cannot be used. Raises `BundleError`."""
    remarks = [REMARK]
    roles: dict[str, Any] = {}
    for name, profile in files.items():
        role_id = name.removesuffix(".json")
        if not isinstance(profile, dict) or profile.get("role_id") != role_id:
            remarks.append(
                str(profile)
                if isinstance(profile, Exception)
                else f"{name} is not the profile of role {role_id}"
            )
            continue
        roles[role_id] = _role(role_id, profile, document)
    for role in roles.values():
        role["subordinates"] = [each for each in role["subordinates"] if each in roles]
        role["delegates_to"] = role["subordinates"] if role["can_delegate"] else []
    domains = dict.fromkeys(domain for role in roles.values() for domain in role["domains"])
    nothing: dict[str, Any] = {
        "aliases": [],
        "broader": [],
        "passthrough": False,
        "examples": [],
        "triggers": [],
    }
    data: dict[str, Any] = {
        "_schema": bundles.SCHEMA,
        "_version": bundles.VERSION,
        "digest": "by hand",
        "compiled_by": "nobody",
        "organization": {
            "org_id": document["org_id"],
            "org_name": _text(document.get("org_name")) or document["org_id"],
            "document": dict(document),
        },
        "domains": dict.fromkeys(domains, nothing),
        "aliases": {},
        "dispatch": {domain: _taker(roles, domain, _routed(document, domain)) for domain in domains},
        "roles": roles,
        "tools": {},
        "signals": {},
    }
    return bundles.read_bundle(data | {"checksum": bundles.checksum_of(data)}), tuple(remarks)


def _role(role_id: str, profile: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    command, capabilities = _mapping(profile.get("chain_of_command")), _mapping(profile.get("capabilities"))
    doctrine, plan = _mapping(profile.get("doctrine")), _mapping(profile.get("pace_plan"))
    limit = doctrine.get("max_turns_without_progress")
    delegates = command.get("can_delegate") is True
    essential = ["response", *(["call_subordinate"] if delegates else [])]
    tools = [*_texts(capabilities.get("tools_primary")), *_texts(capabilities.get("tools_secondary"))]
    entry = _mapping(_mapping(document.get("hierarchy")).get(role_id))
    superior = command.get("reports_to")
    return {
        "role_id": role_id,
        "role_name": _text(profile.get("role_name")) or role_id,
        "role_type": _text(profile.get("role_type")),
        "description": _text(profile.get("description")),
        "brief": "",
        "reports_to": superior if isinstance(superior, str) else None,
        "chain": [superior] if isinstance(superior, str) else [],
        "subordinates": _texts(entry.get("subordinates")),
        "can_delegate": delegates,
        "delegates_to": [],
        "domains": _texts(capabilities.get("bst_domains")),
        "plans": _texts(capabilities.get("htn_plans")),
        "tools": {},
        "host_tools": list(dict.fromkeys([*tools, *essential])),
        "essential": essential,
        "pace": {name: _tier(tier) for name, tier in plan.items() if name in tiers.TIERS},
        "max_turns": limit if type(limit) is int and limit > 0 else pace.DEFAULT_MAX_TURNS,
        "doctrine": dict(doctrine),
        "profile": dict(profile),
    }


def _tier(tier: object) -> dict[str, Any]:
    given = _mapping(tier)
    to = given.get("escalate_to")
    return {
        "action": _text(given.get("action")),
        "description": _text(given.get("description")),
        "escalate_to": to if isinstance(to, str) else None,
        "trigger": None,
        "text": _text(given.get("trigger")),
    }


def _routed(document: Mapping[str, Any], domain: str) -> list[str]:
    """The roles that the organization prefers for a domain, best first."""
    return _texts(_mapping(document.get("domain_routing")).get(domain))


def _taker(roles: Mapping[str, Any], domain: str, routed: list[str]) -> str | None:
    """The role for a domain: specialist before executive before commander, then by routing, then with fewest domains."""
    takers = [role_id for role_id, role in roles.items() if domain in role["domains"]]
    return min(
        takers,
        key=lambda each: (
            _RANK.get(roles[each]["role_type"], 3),
            routed.index(each) if each in routed else len(routed),
            len(roles[each]["domains"]),
        ),
        default=None,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_plain(role_id: str) -> bool:
    return not any(mark in role_id for mark in "/\\\0") and not role_id.startswith(".")
