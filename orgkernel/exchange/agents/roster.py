"""The roles of an organization as all agent formats need them: names, strings and the tools that each may use
fully.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from orgkernel.decisions.access.decide import decide_access, may_require_approvals
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.work.capability.orders import compose_orders
from orgkernel.diagnostics import Place
from orgkernel.documents.records import LEVELS, USER, EssentialFor, RoleProfile, Tool, ToolLevel
from orgkernel.exchange.agents.equivalents import find_model, list_host_names
from orgkernel.exchange.agents.names import map_names
from orgkernel.exchange.agents.pages import CitedValue, Line, LongText, render_text_lines
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.claude_code.host_table import list_older_names
from orgkernel.loading.formats.host_fields import read_host_fields
from orgkernel.loading.formats.names import derive_name
from orgkernel.loading.formats.roles import UNDECLARED, build_tool_id_from_name
from orgkernel.loading.formats.words import get_list_words, list_excluded_tools

# Fields that can hold credentials.
_NEVER_WRITTEN = frozenset({"mcpServers"})
_Rows = dict[str, list[tuple[str, tuple[str, ...], bool]]]
Extent = Literal["given", "asked", "by several", "in part", "sometimes", "refused"]


@dataclass(frozen=True, slots=True)
class HeldTool:
    """A tool that a role lists or always has, and how much of it."""

    id: str
    tool: Tool
    given: Extent
    place: Place
    written: str
    """Its name in its own file: its id, or what the id stands for if the file is that of another host."""

    @property
    def delegates(self) -> bool:
        """Whether it hands work to other roles."""
        return isinstance(self.tool.essential, EssentialFor) and self.tool.essential.delegating

    @property
    def level(self) -> ToolLevel:
        """The level that all of it requires."""
        return max(self.tool.required_levels.values(), key=LEVELS.index)

    def name_in(self, *hosts: str) -> str | None:
        """Its name in a host. If several words mean the same host, the first declared one applies."""
        return next((self.tool.names[host] for host in hosts if host in self.tool.names), None)


@dataclass(frozen=True, slots=True)
class ExportedRole:
    """A role with everything that its exported file contains."""

    id: str
    name: str
    """Lowercase letters, digits and hyphens."""
    title: str
    description: str
    profile: RoleProfile
    place: Place
    field_places: Mapping[str, Place]
    """Places of its fields `description`, `model`, `turns` and `superior`."""
    superior: str | None
    """Inside of the organization."""
    subordinates: tuple[str, ...]
    starts: tuple[str, ...]
    """The roles that it may start: its subordinates, or those that its own file lets it start if no orgkernel
    organization includes it.
    """
    tools: tuple[HeldTool, ...]
    body: LongText
    starts_every: bool = False
    """Whether its own file lets it start every agent, and no organization of ours limits whom."""
    excluded: frozenset[str] = frozenset()
    """The tools that its own file excludes by name."""
    unread: tuple[str, ...] = ()
    """What its own file lists and orgkernel does not decide about: undeclared tools, and parts of tools."""

    format: str = ""
    """The format of its own file, if it is that of another host."""
    host_fields: Mapping[str, object] = field(default_factory=dict)
    """What its own file states for its host only."""

    def model_in(self, host: str) -> str | None:
        """The name of its model in a host. None if it has no model, or the host has no counterpart."""
        model = self.profile.requirements.preferred_model
        return find_model(model, host) if model else None

    def lacks_model_in(self, host: str) -> bool:
        """Whether it has a model that has no counterpart in a host."""
        return bool(self.profile.requirements.preferred_model) and self.model_in(host) is None

    def list_dropped(self, host: str) -> tuple[str, ...]:
        """What its own file states and its exported file does not: a model without a counterpart, and fields for its host."""
        is_same = self.format.replace("-", "_") == host
        fields = (each for each in self.host_fields if not is_same or each in _NEVER_WRITTEN)
        model = (f"model {self.profile.requirements.preferred_model}",) if self.lacks_model_in(host) else ()
        return (*model, *fields)

    def held(self, *given: Extent) -> tuple[HeldTool, ...]:
        """Its tools with the given extents."""
        return tuple(each for each in self.tools if each.given in given)


@dataclass(frozen=True, slots=True)
class Roster:
    """All roles of an organization."""

    roles: Mapping[str, ExportedRole]
    """Roles keyed by id, in the order of the hierarchy."""
    names: Mapping[str, str]

    @property
    def roots(self) -> tuple[str, ...]:
        """Roles without a superior among them."""
        return tuple(role for role, each in self.roles.items() if each.superior is None)


def build_front_matter(role: ExportedRole, given: Mapping[str, Place], host: str) -> dict[str, object]:
    """The front matter of an agent of a host: its name, its description, the names of the tools that it is given, its model,
    and the fields that only this host knows.
    """
    front: dict[str, object] = {
        "name": role.name,
        "description": CitedValue(role.description, role.field_places["description"]),
        # No field would mean every tool.
        "tools": [CitedValue(name, place) for name, place in given.items()],
    }
    if model := role.model_in(host):
        front["model"] = CitedValue(model, role.field_places["model"])
    if role.format.replace("-", "_") == host:
        fields = (each for each in role.host_fields.items() if each[0] not in _NEVER_WRITTEN)
        front |= {key: CitedValue(value, role.place) for key, value in fields}
    return front


@PerView
def build_roster(view: OrgView) -> Roster:
    """The roles of an organization."""
    names = map_names(view.roles)
    roles_in_cycles = view.roles_in_cycles
    superiors = {
        role: superior
        for role in names
        if (superior := view.get_superior(role)) in names and role not in roles_in_cycles
    }
    below: dict[str, list[str]] = {}
    for role, superior in superiors.items():
        below.setdefault(superior or "", []).append(role)
    roles = {
        role: _build_role(view, role, names, superiors.get(role), tuple(below.get(role, ())))
        for role in names
    }
    return Roster(roles, names)


def _build_role(
    view: OrgView, role_id: str, names: Mapping[str, str], superior: str | None, below: tuple[str, ...]
) -> ExportedRole:
    post = view.records.posts[role_id]
    profile = post.profile
    edge = view.get_superior_edge(role_id)
    field_places = {
        "description": post.place("description"),
        "model": post.place("requirements", "preferred_model"),
        "turns": post.place("doctrine", "max_turns_without_progress"),
        "superior": edge.place if edge is not None else post.place(),
    }
    description = profile.description.strip() or f"{profile.name} of {view.records.organization.name}."
    tools = tuple(_list_tools(view, role_id))
    body = LongText(tuple(_render_body(view, role_id, names, superior, below)))
    starts = below
    if not starts and view.records.document.format:
        starts = tuple(each for each in profile.handoff.may_to if each in names)
    return ExportedRole(
        role_id, names[role_id], profile.name, description, profile, post.place("role_id"), field_places,
        superior, below, starts, tools, body, _may_start_every(view, post), frozenset(list_excluded_tools(post.document)), tuple(_list_unread(post)),
        post.document.format, read_host_fields(post.document),
    )  # fmt: skip


def _may_start_every(view: OrgView, post: RolePost) -> bool:
    """Whether an agent of Claude Code lists the tool that starts agents without the names of some (`Agent`, `Task`)."""
    if not view.records.document.format == post.document.format == "claude-code":
        return False
    return not any(
        word.startswith(("Agent(", "Task(")) for word in get_list_words(post.document).get("tools", ())
    )


def _list_unread(post: RolePost) -> Iterator[str]:
    """The words of an agent's file for tools that no decision gives, although its host can give them."""
    words = get_list_words(post.document)
    for entry in words.get(UNDECLARED, ()):
        field, _, number = entry.rpartition(" ")
        effects = words.get("effects", ()) if field == "rules" else ()
        if not effects or effects[int(number)] != "deny":
            yield words[field][int(number)]
    held = post.profile.capabilities.tools_primary
    for word in words.get("tools", ()):
        is_part = word.endswith(")") and "(" in word and not word.startswith(("Agent(", "Task("))
        if is_part or (post.document.format == "claude-code" and not _does_give(word, held)):
            yield word


def _does_give(word: str, held: Collection[str]) -> bool:
    """Whether a word of the list of an agent of Claude Code gave it a tool."""
    name = word.partition("(")[0]
    if name.endswith("*"):
        return any(each.startswith(name.rstrip("*_")) for each in held) or name == "*"
    return build_tool_id_from_name(list_older_names().get(name, name)) in held


def _list_tools(view: OrgView, role_id: str) -> Iterator[HeldTool]:
    """The tools of a role, each with how much of it the decision allows under all circumstances."""
    places = {edge.target: edge.place for edge in reversed(view.list_tools(role_id))}
    essential = (each for each in view.list_essential_tools(role_id) if each not in places)
    always = {each: view.records.tools[each].place("essential", key=True) for each in essential}
    rows = _collect_rows(view, role_id)
    named = list_host_names(view)
    ordered = dict.fromkeys((*(edge.target for edge in view.list_tools(role_id)), *always))
    for tool_id in ordered:
        declared = view.records.tools.get(tool_id)
        if declared is not None:
            given = _find_extent(set(declared.record.required_levels), rows.get(tool_id, ()))
            if given == "asked" and may_require_approvals(
                view, AccessRequest(f"role:{role_id}", "use", f"tool:{tool_id}")
            ):
                given = "by several"  # in a host, one person would approve
            tool = msgspec.structs.replace(declared.record, names=named[tool_id])
            written = _find_written_name(tool_id) if declared.document.format else tool_id
            yield HeldTool(tool_id, tool, given, places.get(tool_id) or always[tool_id], written)


def _find_written_name(tool_id: str) -> str:
    """The name that a tool has in the file of another host. A tool of the project is meant without the prefix of CrewAI."""
    return derive_name(tool_id).removeprefix("custom:")


def _collect_rows(view: OrgView, role_id: str, without: frozenset[str] = frozenset()) -> _Rows:
    """The decision about each tool: the outcome, the actions, and whether it depends on circumstances."""
    rows: _Rows = {}
    for row in what_can(view, f"role:{role_id}", without=without):
        rows.setdefault(row.resource.partition(":")[2], []).append(
            (row.outcome, row.actions, bool(row.conditions))
        )
    return rows


def without_policies(view: OrgView, roster: Roster, policies: frozenset[str]) -> Roster:
    """The roster for a format that enforces some policies itself."""
    if not policies:
        return roster
    roles = {}
    for role_id, role in roster.roles.items():
        rows = _collect_rows(view, role_id, policies)
        tools = (
            each
            if each.given == "by several"
            else replace(each, given=_find_extent(set(each.tool.required_levels), rows.get(each.id, ())))
            for each in role.tools
        )
        roles[role_id] = replace(role, tools=tuple(tools))
    return replace(roster, roles=roles)


def _find_extent(actions: set[str], rows: Iterable[tuple[str, tuple[str, ...], bool]]) -> Extent:
    allowed: set[str] = set()
    ask_actions: set[str] = set()
    depends = False
    for outcome, those, is_conditional in rows:
        if is_conditional or outcome not in ("allow", "ask"):
            depends = True
        else:
            (allowed if outcome == "allow" else ask_actions).update(those)
    if depends:
        return "sometimes"
    if actions <= allowed:
        return "given"
    if actions <= allowed | ask_actions:
        return "asked"
    return "in part" if allowed or ask_actions else "refused"


def _render_body(
    view: OrgView, role_id: str, names: Mapping[str, str], superior: str | None, below: tuple[str, ...]
) -> Iterator[Line]:
    """The body of an agent's file: its identity, orders, superior, subordinates and the tools it does not have."""
    post = view.records.posts[role_id]
    profile = post.profile
    here = post.place("role_id")
    named = " ".join(line for line, _ in render_text_lines(profile.name, None))
    of = " ".join(line for line, _ in render_text_lines(view.records.organization.name, None))
    yield f"You are {named} in {of}.", here
    for part in compose_orders(view, role_id).sections:
        place = Place(part.file, part.line, 1)
        yield "", place
        yield from render_text_lines(part.text.strip("\n"), place, follows=part.source != "profile")
    yield "", here
    yield "## Chain of command", here
    yield "", here
    edge = view.get_superior_edge(role_id)
    at = edge.place if edge is not None else here
    outside = "the user" if edge is None or edge.target == USER else edge.target
    yield f"- You report to {names[superior] if superior else outside}.", at
    for each in below:
        yield f"- {names[each]} reports to you.", view.get_place(each)
    plan = profile.pace_plan
    if plan is not None:
        yield "", here
        yield "## When something fails", here
        yield "", here
        for tier in plan.__struct_fields__:
            tier_plan = getattr(plan, tier)
            if tier_plan is None or not (tier_plan.action or tier_plan.description):
                continue
            where = post.place("pace_plan", tier)
            when = f" (when {tier_plan.trigger})" if tier_plan.trigger else ""
            goes = (
                f"; escalate to {names.get(tier_plan.escalate_to, tier_plan.escalate_to)}"
                if tier_plan.escalate_to
                else ""
            )
            yield from _render_item(
                f"{tier.title()}{when}: {tier_plan.action or tier_plan.description}{goes}", where
            )
    if profile.does_not_have:
        yield "", here
        yield "## What you do not have", here
        yield "", here
        for text, where in zip(profile.does_not_have, post.locate_items("does_not_have"), strict=True):
            yield from _render_item(text, where)


def _render_item(text: str, place: Place) -> Iterator[Line]:
    for number, (line, at) in enumerate(render_text_lines(text.strip(), place)):
        yield f"{'  ' if number else '- '}{line}".rstrip(), at


def has_all(view: OrgView, role: ExportedRole, tools: Iterable[str], *given: Extent) -> bool:
    """Whether a host may give a role a tool that means all of these declared tools.

    The role must be allowed all tools that it lists, and nothing else may speak against the others than that the
    role does not list them. A tool that its own file excludes is not one that it only does not list.
    """
    tools = tuple(tools)
    if not role.excluded.isdisjoint(tools):
        return False
    held = {each.id: each.given for each in role.tools}
    return all(
        held[each] in given if each in held else _is_only_not_listed(view, role.id, each) for each in tools
    )


def _is_only_not_listed(view: OrgView, role_id: str, tool_id: str) -> bool:
    decision = decide_access(view, AccessRequest(f"role:{role_id}", "use", f"tool:{tool_id}"))
    return decision.codes == ("NOT_BOUND_TO_ROLE",)


def count_reports_outside(view: OrgView) -> int:
    """Count the roles that report to an outside superior other than the user."""
    return sum(superior in view.external and superior != USER for superior in view.superiors.values())
