"""Organizations and roles in the JSON form of the kernel specification, which hosts and their other layers read.

What the specification names is always written, defaults included; what this project adds only where it says something.
What a role is here – its superior, its subordinates, what the organization overrides – is written out, so that the form
means the same without the organization beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.graph.questions import OrgView
from orgkernel.records.record import Record
from orgkernel.runtime.tiers import TIERS

JsonObject = dict[str, Any]

# The fields of the specification, in its order. Everything else is ours.
_ROLE = ("role_id", "role_name", "role_type", "chain_of_command", "capabilities", "requirements", "pace_plan", "doctrine")  # fmt: skip
_CAPABILITIES = ("bst_domains", "htn_plans", "tools_primary", "tools_secondary", "skills")
_TIER = ("description", "action")
_ORGANIZATION = (
    "org_id", "org_name", "description", "mission", "hierarchy", "communication_channels", "mode", "microcosm_config",
    "macrocosm_config",
)  # fmt: skip


def role_form(view: OrgView, role_id: str) -> JsonObject:
    """A role as the specification's `role_profile`, at its place in the organization. Raises KeyError for no role."""
    profile = view.records.posts[role_id].profile
    form = _head(profile.kind, profile.version) | _written(profile, _ROLE)
    form["role_name"] = profile.name
    form["chain_of_command"] = {
        "reports_to": view.superiors.get(role_id),
        "authority_level": profile.authority_level,
        "can_delegate": profile.can_delegate,
    }
    form["capabilities"] = _written(profile.capabilities, _CAPABILITIES)
    form["requirements"] = _whole(profile.requirements)
    form["doctrine"] = _whole(profile.doctrine)
    plan = profile.pace_plan
    tiers = {name: getattr(plan, name, None) for name in TIERS}
    form["pace_plan"] = {name: _written(tier, _TIER) for name, tier in tiers.items() if tier is not None}
    return form


def organization_form(view: OrgView) -> JsonObject:
    """The organization as the specification's `organization`, with the chain of command as it is."""
    organization = view.records.organization
    form = _head(organization.kind, organization.version) | _written(organization, _ORGANIZATION)
    form["org_name"] = organization.name
    form["mission"] = _whole(organization.mission)
    form["microcosm_config"] = _whole(organization.microcosm_config)
    form["macrocosm_config"] = _whole(organization.macrocosm_config) | {
        "network": _whole(organization.macrocosm_config.network)
    }
    form["hierarchy"] = {
        role_id: {
            "role_id": role_id,
            "role_name": view.records.posts[role_id].profile.name,
            "subordinates": [edge.source for edge in view.subordinates_of(role_id)],
        }
        for role_id in view.roles
    }
    return form


def _head(kind: str, version: str) -> JsonObject:
    return {"_schema": kind, "_version": version}


def _written(record: Record, always: tuple[str, ...]) -> JsonObject:
    """These fields, then those others that differ from their defaults."""
    given: Mapping[str, Any] = _plain(record)
    first = {name: _plain(getattr(record, name)) for name in always}
    rest = {name: value for name, value in given.items() if name not in always and not name.startswith("_")}
    return first | {name: value for name, value in rest.items() if name != "suppressions"}


def _whole(record: Record) -> JsonObject:
    """Every field, defaults included."""
    return {name: _plain(getattr(record, name)) for name in record.__struct_fields__}


def _plain(value: Any) -> Any:
    """A value as decoded JSON has it: what is a tuple in a record is a list there."""
    return msgspec.json.decode(msgspec.json.encode(value))
