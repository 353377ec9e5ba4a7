"""A manifest without what only describes the place or the version, and without what it says twice.

Two manifests are **equal** when their normal forms are. Left out, and so never a difference:

- `why`, everywhere: which lines say it. Moving a line, a profile to another file, or writing out a default changes none of
  what holds. The same for `file`, `line` and `column` of findings, and for the order of findings, which is that of lines;
- `snapshot`, `_schema`, `_version` and `manifest_of`.

Left out, or null, because the rest of the same manifest determines it (where it does not, it is kept):

- what a role is called, when it is called by its id in words; the organization's id and name inside of roles;
- name, type and authority of a role inside of another role's parts;
- superiors beyond the direct one, `count`, whether a role is `chosen` for a domain (the organization's domains name who
  is), to whom a PACE tier escalates (`escalation` says it), a department's name inside of roles,
  how many hand-offs may follow one another below a role (`limits` says it).

Everything else counts, the order of every other list included.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from orgkernel.diff.sections import ECHO, MEMBERS, ROLES, SINGLE, get_item_key, is_item_list
from orgkernel.manifest.v1 import OrganizationManifest, encode

_VERSION = ("_schema", "_version", "manifest_of", "snapshot", "state_version")
_DERIVED = ("decided_by", "declared_level")
_PLACE = ("file", "line", "column")


def normalize(manifest: OrganizationManifest) -> dict[str, Any]:
    """The normal form as plain data."""
    return remove_why(build_working_form(manifest))


def build_working_form(
    manifest: OrganizationManifest, unread: frozenset[str] = frozenset(), only: frozenset[str] | None = None
) -> dict[str, Any]:
    """The normal form with every `why` still in it. Roles in `unread` are left out, and what is said of them; `only` names
    the roles to keep, if the others are there for their names.
    """
    organization: dict[str, Any] = msgspec.json.decode(encode(manifest))
    roles = organization[ROLES]
    echoes: dict[str, Mapping[str, Any]] = {role["role_id"]: _build_echo(role) for role in roles}
    echoes |= {role_id: {} for role_id in unread}
    for field in _VERSION:
        del organization[field]
    # The count follows from the roles. It remains if it contradicts them.
    if organization["count"] == len(roles):
        organization["count"] = None
    _reduce_findings(organization)
    takers = {domain["id"]: domain["role_id"] for domain in organization["domains"]}
    departments = {each["id"]: each["name"] for each in organization["departments"]}
    # A value that repeats another one is left out, so a change of the original is one change and not one for each echo.
    for role in roles:
        for field in ("org_id", "org_name"):
            if role[field] == organization[field]:
                role[field] = None
        _reduce_role(role, echoes, takers, departments)
    superiors = {role["role_id"]: role["superior"] for role in roles}
    for role in roles:
        if role["chain"] == _list_chain_above(role["role_id"], superiors):
            role["chain"] = None
    organization["agents"] = [each for each in organization["agents"] if f"agent:{each['id']}" not in unread]
    organization[ROLES] = [
        role for role in roles if role["role_id"] not in unread and (only is None or role["role_id"] in only)
    ]
    return organization


def remove_why(record: Mapping[str, Any]) -> dict[str, Any]:
    """An organization or a role without its reasons."""
    return {
        field: [remove_why(role) for role in value] if field == ROLES else get_plain_value(field, value)
        for field, value in record.items()
        if field != "why"
    }


def get_plain_value(part: str, value: Any) -> Any:
    """The value of a part without its reasons."""
    if part in SINGLE:
        return None if value is None else get_plain_item(value)
    return [get_plain_item(item) for item in value] if is_item_list(value) else value


def get_plain_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without its reasons."""
    return {field: value for field, value in item.items() if field != "why"}


def get_default_name(role_id: str) -> str:
    """What a role is called whose profile does not say."""
    return role_id.replace("_", " ").title()


def _build_echo(role: Mapping[str, Any]) -> dict[str, Any]:
    authority = next((each["value"] for each in role["identity"] if each["id"] == "authority_level"), None)
    return dict(zip(ECHO, (role["role_name"], role["role_type"], authority, False), strict=True))


def _reduce_findings(record: dict[str, Any]) -> None:
    for finding in record["findings"]:
        for field in _PLACE:
            del finding[field]
    record["findings"].sort(key=partial(get_item_key, "findings"))


def _reduce_role(
    role: dict[str, Any],
    echoes: Mapping[str, Mapping[str, Any]],
    takers: Mapping[str, str | None],
    departments: Mapping[str, str],
) -> None:
    role_id = role["role_id"]
    for field in _VERSION:
        del role[field]
    if role["role_name"] == get_default_name(role_id):
        role["role_name"] = None
    _reduce_findings(role)
    role["requestable_tools"] = []
    role["depth_left"] = None
    for tool in (*role["tools"], *role["essential_tools"]):
        for field in _DERIVED:
            del tool[field]
    chain = role.pop("chain_of_command")
    for member in (*chain, *(each for part in MEMBERS for each in role.get(part) or ())):
        echo = echoes.get(member["id"])
        if echo is not None and all(member[field] == value for field, value in echo.items()):
            for field in ECHO:
                del member[field]
    role["superior"] = chain[0] if chain else None
    role["chain"] = [get_plain_item(member) for member in chain]
    for domain in role["domains"]:
        if domain["id"] in takers and domain["chosen"] == (takers[domain["id"]] == role_id):
            domain["chosen"] = None
    pace = role.pop("pace")
    role["pace"], role["pace_current"] = pace["tiers"], pace["current"]
    escalates = {each["tier"]: each["id"] for each in reversed(role["escalation"])}
    for tier in role["pace"]:
        same = tier["escalate_to"] == escalates.get(tier["id"])
        tier["escalate_to"] = None if same else tier["escalate_to"] or ""
    department = role["department"]
    if department is not None and department["name"] == departments.get(department["id"]):
        del department["name"]


def _list_chain_above(role_id: str, superiors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The superiors as `OrgView.list_chain_above` finds them, from the direct one of each role."""
    chain: list[dict[str, Any]] = []
    seen = {role_id}
    member = superiors[role_id]
    while member is not None:
        chain.append(get_plain_item(member))
        # A cycle in the command is a finding, not an error: its chain ends where it closes.
        if member["id"] in seen or member.get("external"):
            break
        seen.add(member["id"])
        member = superiors.get(member["id"])
    return chain
