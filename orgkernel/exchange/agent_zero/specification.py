"""Organizations and roles in the JSON form of the kernel specification, which hosts and their layers read.

Fields of the specification are always written, with their defaults. Fields that orgkernel adds are written only if
they are set. Everything about a role that the organization decides (its superior, its subordinates, its overrides)
is written in full, so the form is complete without the organization.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.documents.records import Record
from orgkernel.documents.role_fields import ROLE_FIELDS
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.tiers import TIERS

JsonObject = dict[str, Any]

_OF_SPECIFICATION = [field.route for field in ROLE_FIELDS if field.of_specification]
# The fields of the specification, in its order. orgkernel adds all others.
_ROLE = ("role_id", *dict.fromkeys(route[0] for route in _OF_SPECIFICATION))
_CAPABILITIES = tuple(route[1] for route in _OF_SPECIFICATION if route[0] == "capabilities")
_TIER = ("description", "action")
_ORGANIZATION = (
    "org_id", "org_name", "description", "mission", "hierarchy", "communication_channels", "mode", "microcosm_config",
    "macrocosm_config",
)  # fmt: skip


def build_role_form(view: OrgView, role_id: str) -> JsonObject:
    """A role in its organization as the specification's `role_profile`. Raises KeyError for an unknown role."""
    profile = view.records.posts[role_id].profile
    form = _build_head(profile.kind, profile.version) | _list_written_fields(profile, _ROLE)
    form["role_name"] = profile.name
    form["chain_of_command"] = {
        "reports_to": view.superiors.get(role_id),
        "authority_level": profile.authority_level,
        "can_delegate": profile.can_delegate,
    }
    form["capabilities"] = _list_written_fields(profile.capabilities, _CAPABILITIES)
    form["requirements"] = _list_all_fields(profile.requirements)
    form["doctrine"] = _list_all_fields(profile.doctrine)
    plan = profile.pace_plan
    tiers = {name: getattr(plan, name, None) for name in TIERS}
    form["pace_plan"] = {
        name: _list_written_fields(tier, _TIER) for name, tier in tiers.items() if tier is not None
    }
    return form


def build_organization_form(view: OrgView) -> JsonObject:
    """The organization as the specification's `organization`, with the effective chain of command."""
    organization = view.records.organization
    form = _build_head(organization.kind, organization.version) | _list_written_fields(
        organization, _ORGANIZATION
    )
    form["org_name"] = organization.name
    form["mission"] = _list_all_fields(organization.mission)
    form["microcosm_config"] = _list_all_fields(organization.microcosm_config)
    form["macrocosm_config"] = _list_all_fields(organization.macrocosm_config) | {
        "network": _list_all_fields(organization.macrocosm_config.network)
    }
    form["hierarchy"] = {
        role_id: {
            "role_id": role_id,
            "role_name": view.records.posts[role_id].profile.name,
            "subordinates": [edge.source for edge in view.list_subordinates(role_id)],
        }
        for role_id in view.roles
    }
    return form


def _build_head(kind: str, version: str) -> JsonObject:
    return {"_schema": kind, "_version": version}


def _list_written_fields(record: Record, always: tuple[str, ...]) -> JsonObject:
    """These fields, then all other fields that differ from their defaults."""
    given: Mapping[str, Any] = _simplify(record)
    first = {name: _simplify(getattr(record, name)) for name in always}
    rest = {name: value for name, value in given.items() if name not in always and not name.startswith("_")}
    return first | {name: value for name, value in rest.items() if name != "suppressions"}


def _list_all_fields(record: Record) -> JsonObject:
    """Every field, defaults included."""
    return {name: _simplify(getattr(record, name)) for name in record.__struct_fields__}


def _simplify(value: Any) -> Any:
    """A value as decoded JSON would have it: tuples become lists."""
    return msgspec.json.decode(msgspec.json.encode(value))
