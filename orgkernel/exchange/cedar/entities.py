"""The entities of Cedar: everything that an organization declares about who may use what, and about who asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from orgkernel.documents.records import (
    BUILT_IN_ORIGINS,
    DATA_TIERS,
    LEVELS,
    STAR,
    USER,
    EssentialFor,
    RoleProfile,
    RosterMember,
    Tool,
)
from orgkernel.exchange.cedar.words import attribute, build_holders_id, build_reference
from orgkernel.graph.questions import OrgView, find_essential_among
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind

Entity = dict[str, Any]

# Every action requires a level: a subject without a grant may do nothing.
MIN_LEVEL = LEVELS[1]
_WRITE = LEVELS.index("write")


def build_entities(view: OrgView) -> Iterator[Entity]:
    """All entities in document order: groups, roles, agents, subjects outside the crew, tools, credentials, data."""
    records = view.records
    yield from _build_groups(view)
    yield from build_crew_entities(view)
    yield from build_outside_entities(records)
    for tool_id in records.tools:
        yield from _build_tool(view, tool_id)
    for credential in _list_credentials(records):
        resource = f"credential:{credential}"
        yield _build_entity(
            "Credential", credential, {"id": credential, "holders": attribute("Group", resource)}
        )
    yield from _build_data_tiers(records)


def _build_entity(
    kind: str, name: str, attrs: Entity | None = None, parents: Iterable[dict[str, str]] = ()
) -> Entity:
    return {"uid": build_reference(kind, name), "attrs": attrs or {}, "parents": list(parents)}


def _build_groups(view: OrgView) -> Iterator[Entity]:
    """Groups of holders. A holder of a tool at one level is also in the groups of the lower levels."""
    for tool_id in view.records.tools:
        lower: list[dict[str, str]] = []
        for level in LEVELS[1:]:
            group = build_holders_id(f"tool:{tool_id}", level)
            yield _build_entity("Group", group, parents=lower)
            lower = [build_reference("Group", group)]


def _build_tool(view: OrgView, tool_id: str) -> Iterator[Entity]:
    tool = view.records.tools[tool_id].record
    attrs: Entity = {
        "id": tool_id,
        "enabled": tool.enabled,
        "delegating": isinstance(tool.essential, EssentialFor) and tool.essential.delegating,
        "essential_for": [attribute("Group", group) for group in _list_roles_with_essential(tool)],
    }
    needed = sorted({end for end, _ in view.list_ends_from(EdgeKind.NEEDS_QUALIFICATION, tool_id)})
    if needed:
        attrs["qualifications"] = needed
    if tool.departments:
        attrs["departments"] = [attribute("Department", each) for each in tool.departments]
    if tool.restricted_to:
        attrs["restricted_to"] = list(tool.restricted_to)
    yield _build_entity("Tool", tool_id, attrs)
    ranks = view.records.get_rank_levels(tool_id)
    is_limited = _is_limited(view, tool_id)
    for action, level in _map_required_levels(tool).items():
        about: Entity = {
            "tool": attribute("Tool", tool_id),
            "level": level,
            "holders": attribute("Group", build_holders_id(f"tool:{tool_id}", level)),
            "needs_lock": tool.concurrency == "exclusive" and action != "lock",
            "limited": is_limited and action != "lock",
            "word": f"{tool_id}/{action}",
        }
        if ranks is not None:
            about["ranks"] = [rank for rank, top in ranks.items() if LEVELS.index(top) >= LEVELS.index(level)]
        yield _build_entity("ToolAction", f"{tool_id}/{action}", about)


def _is_limited(view: OrgView, tool_id: str) -> bool:
    """Whether any limit counts calls of a tool."""
    words = (word for each in view.records.limits.values() for word in each.record.tools)
    return any(tool_id.startswith(word[:-1]) if word.endswith("*") else tool_id == word for word in words)


def _map_required_levels(tool: Tool) -> dict[str, str]:
    """Every name for an action of the tool, and the level that it requires."""
    declared = {
        action: max(level, MIN_LEVEL, key=LEVELS.index) for action, level in tool.required_levels.items()
    }
    whole = max(declared.values(), key=LEVELS.index)
    words: dict[str, str] = {"use": whole, "run": whole, **declared}
    if tool.concurrency == "exclusive":
        # Taking the lock needs the lowest level that any action requires.
        words.setdefault("lock", min(declared.values(), key=LEVELS.index))
    return words


def _list_roles_with_essential(tool: Tool) -> Iterator[str]:
    if isinstance(tool.essential, EssentialFor):
        if tool.essential.delegating:
            yield "delegating"
        yield from (build_holders_id(f"tool:{other}", MIN_LEVEL) for other in tool.essential.with_tools)
    elif tool.essential:
        yield "crew"


def _list_credentials(records: OrgRecords) -> list[str]:
    """All credentials: those that a role, a tool or a policy names."""
    named = {each for post in records.posts.values() for each in post.profile.credentials}
    named.update(each for tool in records.tools.values() for each in tool.record.credentials)
    for policy in records.policies.values():
        named.update(each for each in policy.record.permissions.credentials or () if each != STAR)
    return sorted(named)


def _build_data_tiers(records: OrgRecords) -> Iterator[Entity]:
    others = {each for post in records.posts.values() for each in post.profile.data}
    for name in (*DATA_TIERS, *sorted(others.difference(DATA_TIERS))):
        tier = DATA_TIERS.index(name) if name in DATA_TIERS else 0
        attrs = {"tier": tier, "level": max(tier, 1), "holders": attribute("Group", f"data:{name}")}
        yield _build_entity("Data", name, attrs)


# The sender that is not in the directory.
UNKNOWN = "unknown"


def build_crew_entities(view: OrgView) -> Iterator[dict[str, Any]]:
    """Roles (as a holder at the entry rank) and agents (with everything that their roles have)."""
    records = view.records
    for role_id in view.roles:
        profile = records.posts[role_id].profile
        yield {
            "uid": build_reference("Role", role_id),
            "attrs": _build_crew_attributes([role_id], _find_entry_rank(records, [profile]), [profile])
            | _build_scoped_actions(view, [role_id]),
            "parents": [build_reference(*each) for each in _list_memberships(view, role_id, profile)],
        }
    for agent_id, member in records.agents.items():
        roles = [edge.target for edge in view.list_roles_filled_by(agent_id) if view.is_role(edge.target)]
        profiles = [records.posts[role_id].profile for role_id in roles]
        yield {
            "uid": build_reference("Agent", agent_id),
            "attrs": _build_crew_attributes(
                [*roles, agent_id], _find_rank(records, member.record, profiles), profiles
            )
            | _build_scoped_actions(view, roles),
            "parents": [build_reference("Role", role_id) for role_id in roles],
        }


def _build_crew_attributes(names: list[str], rank: str | None, profiles: list[RoleProfile]) -> dict[str, Any]:
    worker = bool(profiles) and all(profile.position == "worker" for profile in profiles)
    attrs: dict[str, Any] = {"names": list(dict.fromkeys(names)), "passed": [], "worker": worker}
    return attrs if rank is None else {**attrs, "rank": rank}


def _build_scoped_actions(view: OrgView, roles: list[str]) -> Entity:
    posts = view.records.posts
    if not any(posts[role].profile.file_scope for role in roles):
        return {}
    return {"scoped": list(list_scoped_actions(view, roles, _map_required_levels))}


def list_scoped_actions(
    view: OrgView, roles: list[str], map_levels: Callable[[Tool], Mapping[str, str]]
) -> Iterator[str]:
    """The actions that write files, `TOOL/ACTION`, if every role that has them is limited by a file scope.

    `map_levels` returns the actions of a tool, each with the level that it requires.
    """
    posts = view.records.posts
    equipped = {role: view.get_tool_levels(role) for role in roles}
    essential = {tool for role in roles for tool in find_essential_among(view, posts[role], equipped[role])}
    for tool_id, declared in view.records.tools.items():
        tool = declared.record
        if not tool.opens_files or (tool_id in essential and not tool.path_arguments):
            continue
        for action, level in map_levels(tool).items():
            needed = LEVELS.index(level)
            if needed < _WRITE or action == "lock":
                continue
            giving = [role for role in roles if LEVELS.index(equipped[role].get(tool_id, "none")) >= needed]
            if all(posts[role].profile.file_scope for role in giving or roles):
                yield f"{tool_id}/{action}"


def _list_memberships(view: OrgView, role_id: str, profile: RoleProfile) -> Iterator[tuple[str, str]]:
    """The groups of a role: one for each grant, and its department."""
    yield "Group", "crew"
    if profile.can_delegate:
        yield "Group", "delegating"
    if profile.department is not None:
        yield "Department", profile.department
    for tool_id, level in view.get_tool_levels(role_id).items():
        yield "Group", build_holders_id(f"tool:{tool_id}", level)
    for credential in dict.fromkeys(profile.credentials):
        yield "Group", f"credential:{credential}"
    highest = max((DATA_TIERS.index(each) for each in profile.data if each in DATA_TIERS), default=0)
    for number, tier in enumerate(DATA_TIERS):
        # A tier includes the lower ones. The lowest tier grants nothing.
        if highest and number <= highest:
            yield "Group", f"data:{tier}"
    for name in dict.fromkeys(profile.data):
        if name not in DATA_TIERS:
            yield "Group", f"data:{name}"


def _find_rank(records: OrgRecords, member: RosterMember, profiles: Iterable[RoleProfile]) -> str | None:
    """The starting rank of an agent: its declared rank, else the rank of its trust, else the entry rank of its
    role, else the lowest.
    """
    if member.rank is not None:
        return _find_known_rank(records, member.rank)
    if member.trust is not None:
        reached = [rank.id for rank in records.ranks if member.trust >= rank.trust_from]
        return reached[-1] if reached else None
    return _find_entry_rank(records, profiles)


def _find_entry_rank(records: OrgRecords, profiles: Iterable[RoleProfile]) -> str | None:
    declared = next((each.entry_rank for each in profiles if each.entry_rank is not None), None)
    if declared is not None:
        return _find_known_rank(records, declared)
    return records.ranks[0].id if records.ranks else None


def _find_known_rank(records: OrgRecords, rank_id: str) -> str | None:
    return rank_id if any(rank.id == rank_id for rank in records.ranks) else None


def build_outside_entities(records: OrgRecords) -> Iterator[dict[str, Any]]:
    """People, with the owner and the unknown sender even if undeclared, system origins and webhooks."""
    for person_id, declared in records.people.items():
        person = declared.record
        yield _build_outsider(
            "Person", person_id, person.relationship == "owner", person.relationship, person.tags
        )
    if USER not in records.people:
        yield _build_outsider("Person", USER, True, "owner")
    if UNKNOWN not in records.people:
        yield _build_outsider("Person", UNKNOWN, unknown=True)
    for origin in dict.fromkeys((*BUILT_IN_ORIGINS, *records.system_origins)):
        yield _build_outsider("System", origin)
    for webhook in records.webhooks:
        yield _build_outsider("Webhook", webhook)


def _build_outsider(
    kind: str,
    name: str,
    owner: bool = False,
    relationship: str | None = None,
    tags: Iterable[str] = (),
    unknown: bool = False,
) -> dict[str, Any]:
    parents = [build_reference("Group", "outside")]
    parents += [build_reference("Group", "owner")] if owner else []
    parents += [build_reference("Group", "unknown")] if unknown else []
    parents += [build_reference("Relationship", relationship)] if relationship is not None else []
    parents += [build_reference("Tag", tag) for tag in dict.fromkeys(tags)]
    return _build_entity(kind, name, parents=parents)
