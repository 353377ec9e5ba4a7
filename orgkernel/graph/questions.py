"""Questions about one organization in domain words: the protocol that graph and index both implement.

All higher layers use these questions and never see networkx or columns. `OrgGraph` and `OrgIndex` supply the three primitives;
the law `index_equals_graph` compares them on every role, domain, plan and tool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.documents.records import LEVELS, Assignment, Essential, EssentialFor, RosterMember, ToolLevel
from orgkernel.graph.records import OrgRecords, RolePost, list_external_ids
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.graph.structure import find_cycles


def compute_highest_levels(ends: Iterable[tuple[str, str]]) -> dict[str, ToolLevel]:
    """The targets or sources of `equipped_with` edges above level `none`, each with the highest level of its edges."""
    return {end: LEVELS[step] for end, step in _compute_highest(ends).items()}


def _compute_highest(ends: Iterable[tuple[str, str]]) -> dict[str, int]:
    steps: dict[str, int] = {}
    for end, attribute in ends:
        step = _get_level_step(attribute)
        if step > steps.get(end, 0):
            steps[end] = step
    return steps


@cache
def _get_level_step(attribute: str) -> int:
    """The number of the level in an `equipped_with` attribute, cached because there are few attributes."""
    level = attribute.partition(":")[2]
    return next(step for step, name in enumerate(LEVELS) if name == level)


class OrgView(ABC):
    """Questions about an organization. Roles are in the order of the hierarchy, edges in the order of declaration."""

    def __init__(self, records: OrgRecords) -> None:
        self.records = records
        self.org_id = records.org_id
        self.digest = records.digest
        self.external = list_external_ids(records)
        self.memos: dict[object, Any] = {}
        """Cached values of the functions in `memo.py`, by function. Only they read and write it."""
        self._cycles: dict[EdgeKind, tuple[tuple[str, ...], ...]] = {}

    @abstractmethod
    def list_edges_from(self, kind: EdgeKind, source: str) -> tuple[Edge, ...]:
        """The edges of a kind that start at a node."""

    @abstractmethod
    def list_edges_to(self, kind: EdgeKind, target: str) -> tuple[Edge, ...]:
        """The edges of a kind that end at a node."""

    @abstractmethod
    def list_edges_of_kind(self, kind: EdgeKind) -> tuple[Edge, ...]:
        """All edges of a kind."""

    def list_targets_of_kind(self, kind: EdgeKind) -> tuple[str, ...]:
        """The targets of all edges of a kind, each once. Faster than the edges."""
        return tuple(dict.fromkeys(edge.target for edge in self.list_edges_of_kind(kind)))

    def list_ends_from(self, kind: EdgeKind, source: str) -> tuple[tuple[str, str], ...]:
        """The targets and attributes of the edges of a kind that start at a node. Faster than the edges."""
        return tuple((edge.target, edge.attribute) for edge in self.list_edges_from(kind, source))

    def list_ends_to(self, kind: EdgeKind, target: str) -> tuple[tuple[str, str], ...]:
        """The sources and attributes of the edges of a kind that end at a node. Faster than the edges."""
        return tuple((edge.source, edge.attribute) for edge in self.list_edges_to(kind, target))

    def list_ends_of_kind(self, kind: EdgeKind) -> tuple[tuple[str, str], ...]:
        """The sources and targets of all edges of a kind. Faster than the edges."""
        return tuple((edge.source, edge.target) for edge in self.list_edges_of_kind(kind))

    def list_sources_to(self, kind: EdgeKind, target: str) -> tuple[str, ...]:
        """The sources of the edges of a kind that end at a node. Faster than the edges."""
        return tuple(edge.source for edge in self.list_edges_to(kind, target))

    def find_cycles(self, kind: EdgeKind) -> tuple[tuple[str, ...], ...]:
        """The cycles of edges of a kind, each as a group of nodes that begins with its first declared node."""
        if kind not in self._cycles:
            self._cycles[kind] = find_cycles(self.list_ends_of_kind(kind))
        return self._cycles[kind]

    # -- roles and command ------------------------------------------------------------------------------------------

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The position of every role in the hierarchy."""
        return {role_id: number for number, role_id in enumerate(self.records.posts)}

    @cached_property
    def posts(self) -> tuple[RolePost, ...]:
        """Every role that has a profile here, with its post."""
        return tuple(self.records.posts.values())

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """Every role that has a profile here."""
        return tuple(self.records.posts)

    def is_role(self, role_id: str) -> bool:
        """Whether the organization includes the role and has its profile."""
        return role_id in self.records.posts

    def does_name_role(self, role_id: str) -> bool:
        """Whether the organization names the role, or an unreadable file could declare it."""
        return (
            role_id in self.records.posts
            or role_id in self.records.without_profile
            or self.is_excused(role_id)
        )

    def is_excused(self, role_id: str) -> bool:
        """Whether an unreadable file seems to declare this role."""
        return role_id in self.records.excused

    def get_superior_edge(self, role_id: str) -> Edge | None:
        """The edge to the superior, which can be outside of the organization. None at the top."""
        edges = self.list_edges_from(EdgeKind.REPORTS_TO, role_id)
        return edges[0] if edges else None

    @cached_property
    def superiors(self) -> Mapping[str, str]:
        """Every role with a superior, and its superior, which can be outside of the organization."""
        superiors: dict[str, str] = {}
        for role_id, superior in self.list_ends_of_kind(EdgeKind.REPORTS_TO):
            superiors.setdefault(role_id, superior)
        return superiors

    @cached_property
    def subordinates(self) -> Mapping[str, tuple[str, ...]]:
        """Every superior with its direct subordinates, including superiors outside or without a profile."""
        role_ids_by_superior: dict[str, list[str]] = {}
        for role_id, superior in self.superiors.items():
            role_ids_by_superior.setdefault(superior, []).append(role_id)
        return {superior: tuple(below) for superior, below in role_ids_by_superior.items()}

    def get_superior(self, role_id: str) -> str | None:
        """The superior inside the organization. None at the top."""
        superior = self.superiors.get(role_id)
        return None if superior in self.external else superior

    def get_superior_in_service(self, role_id: str) -> str | None:
        """The nearest superior inside the organization that is not out of service. None if there is none."""
        superior = next(iter(self.list_superiors_in_service(role_id)), None)
        return None if superior in self.external else superior

    def list_superiors_in_service(self, role_id: str) -> tuple[str, ...]:
        """The superiors up to the top that are not out of service, nearest first."""
        withheld = self.records.withheld
        targets = (edge.target for edge in self.list_chain_above(role_id))
        return tuple(each for each in targets if each not in withheld)

    def list_subordinates(self, role_id: str) -> tuple[Edge, ...]:
        """The edges from direct subordinates."""
        return tuple(
            edge
            for edge in self.list_edges_to(EdgeKind.REPORTS_TO, role_id)
            if self.get_superior_edge(edge.source) == edge
        )

    def list_chain_above(self, role_id: str) -> tuple[Edge, ...]:
        """The edges from the role up to the top. A cycle is followed only once."""
        chain: list[Edge] = []
        seen = {role_id}
        edge = self.get_superior_edge(role_id)
        while edge is not None:
            chain.append(edge)
            if edge.target in seen or edge.target in self.external:
                break
            seen.add(edge.target)
            edge = self.get_superior_edge(edge.target)
        return tuple(chain)

    def list_superiors_above(self, role_id: str) -> tuple[str, ...]:
        """The superiors up to the top, nearest first. A cycle is followed only once."""
        above: dict[str, None] = {}
        superior = self.superiors.get(role_id)
        while superior is not None and superior not in above:
            above[superior] = None
            if superior == role_id or superior in self.external:
                break
            superior = self.superiors.get(superior)
        return tuple(above)

    def list_roots(self) -> tuple[str, ...]:
        """Roles without a superior inside the organization."""
        inside = {role for role, superior in self.superiors.items() if superior not in self.external}
        return tuple(role for role in self.roles if role not in inside)

    def find_below(self, role_ids: Iterable[str]) -> frozenset[str]:
        """The roles and all their subordinates, direct and indirect."""
        reached: set[str] = set()
        pending = list(role_ids)
        while pending:
            role_id = pending.pop()
            if role_id not in reached:
                reached.add(role_id)
                pending.extend(self.subordinates.get(role_id, ()))
        return frozenset(reached)

    @cached_property
    def command_cycles(self) -> tuple[tuple[Edge, ...], ...]:
        """The cycles in the chain of command, each starting with its first role in the hierarchy."""
        inside = [pair for pair in self.superiors.items() if pair[1] not in self.external]
        order = {role: number for number, role in enumerate((*self.roles, *self.records.without_profile))}
        starts = [min(group, key=order.__getitem__) for group in find_cycles(inside)]
        return tuple(map(self.list_chain_above, sorted(starts, key=order.__getitem__)))

    @cached_property
    def roles_in_cycles(self) -> frozenset[str]:
        """Roles whose chain of command contains a cycle back to them."""
        return frozenset(edge.source for cycle in self.command_cycles for edge in cycle)

    def get_place(self, role_id: str) -> Place:
        """The place of the role in the hierarchy."""
        missing = self.records.without_profile.get(role_id)
        return self.list_edges_to(EdgeKind.INCLUDES, role_id)[0].place if missing is None else missing

    # -- domains ----------------------------------------------------------------------------------------------------

    def resolve_domain(self, word: str) -> str | None:
        """The domain that a word of any vocabulary stands for here; None if there is none."""
        if word in self.records.domains:
            return word
        alias = self.records.aliases.get(word)
        return alias.target if alias else None

    def list_domain_and_broader(self, domain_id: str) -> tuple[str, ...]:
        """The domain, then its broader domains, nearest first."""
        line: list[str] = []
        current: str | None = domain_id
        while current is not None and current not in line:
            line.append(current)
            broader = self.list_edges_from(EdgeKind.NARROWER_THAN, current)
            current = broader[0].target if broader else None
        return tuple(line)

    def list_domains(self, role_id: str) -> tuple[Edge, ...]:
        """Domains the role handles."""
        return self.list_edges_from(EdgeKind.HANDLES, role_id)

    def list_handlers(self, domain_id: str) -> tuple[Edge, ...]:
        """Roles that handle exactly this domain."""
        return self.list_edges_to(EdgeKind.HANDLES, domain_id)

    # -- plans, tools, skills ---------------------------------------------------------------------------------------

    def list_plans(self, role_id: str) -> tuple[Edge, ...]:
        """Plans the role follows."""
        return self.list_edges_from(EdgeKind.FOLLOWS, role_id)

    def list_followers(self, plan_id: str) -> tuple[Edge, ...]:
        """Roles that follow the plan."""
        return self.list_edges_to(EdgeKind.FOLLOWS, plan_id)

    def list_domains_served_by(self, plan_id: str) -> tuple[Edge, ...]:
        """Domains the plan serves."""
        return self.list_edges_from(EdgeKind.SERVES, plan_id)

    def list_tools_needed_by(self, plan_id: str) -> tuple[Edge, ...]:
        """Tools the plan needs."""
        return self.list_edges_from(EdgeKind.NEEDS, plan_id)

    def list_tools(self, role_id: str) -> tuple[Edge, ...]:
        """Tools the role is equipped with above level `none`, in order of preference, each once."""
        best: dict[str, Edge] = {}
        for edge in self.list_edges_from(EdgeKind.EQUIPPED_WITH, role_id):
            if not edge.attribute.endswith(":none"):
                best.setdefault(edge.target, edge)
        return tuple(best.values())

    def list_holders(self, tool_id: str) -> tuple[Edge, ...]:
        """Roles equipped with the tool."""
        best: dict[str, Edge] = {}
        for edge in self.list_edges_to(EdgeKind.EQUIPPED_WITH, tool_id):
            if not edge.attribute.endswith(":none"):
                best.setdefault(edge.source, edge)
        return tuple(best.values())

    def get_tool_levels(self, role_id: str) -> Mapping[str, ToolLevel]:
        """Tools the role is equipped with above level `none`, with the highest level of its entries."""
        return compute_highest_levels(self.list_ends_from(EdgeKind.EQUIPPED_WITH, role_id))

    def get_holder_levels(self, tool_id: str) -> Mapping[str, ToolLevel]:
        """Roles equipped with the tool, with the highest level of their entries."""
        return compute_highest_levels(self.list_ends_to(EdgeKind.EQUIPPED_WITH, tool_id))

    def find_equipping_edges(self, role_id: str, tool_id: str) -> tuple[Edge, ...]:
        """The edges that equip a role with a tool, including those of level `none`."""
        return tuple(
            edge for edge in self.list_edges_from(EdgeKind.EQUIPPED_WITH, role_id) if edge.target == tool_id
        )

    def list_essential_tools(self, role_id: str) -> tuple[str, ...]:
        """Tools the role always has, whether or not its profile lists them."""
        post = self.records.posts.get(role_id)
        return () if post is None else find_essential_tools(self, post, self.list_tools(role_id))

    @cached_property
    def essential(self) -> tuple[tuple[str, Essential], ...]:
        """The tools that some role always has, with these roles."""
        tools = self.records.tools.values()
        return tuple((tool.id, tool.record.essential) for tool in tools if tool.record.essential)

    def find_missing_tools(self, role_id: str, plan_id: str) -> tuple[Edge, ...]:
        """Tools that the plan needs and that the role does not have."""
        has = {edge.target for edge in self.list_tools(role_id)}.union(self.list_essential_tools(role_id))
        return tuple(edge for edge in self.list_tools_needed_by(plan_id) if edge.target not in has)

    def list_skills(self, role_id: str) -> tuple[Edge, ...]:
        """Skills the role requires."""
        return self.list_edges_from(EdgeKind.REQUIRES, role_id)

    def list_escalations(self, role_id: str) -> tuple[Edge, ...]:
        """The escalation target of each PACE tier."""
        return self.list_edges_from(EdgeKind.ESCALATES_TO, role_id)

    # -- access and crew --------------------------------------------------------------------------------------------

    def list_tools_covered_by(self, policy_id: str) -> tuple[Edge, ...]:
        """Tools that a policy covers by name or pattern, with its effect."""
        return self.list_edges_from(EdgeKind.COVERS, policy_id)

    def list_roles_filled_by(self, agent_id: str) -> tuple[Edge, ...]:
        """Roles an agent fills here."""
        return self.list_edges_from(EdgeKind.FILLS, agent_id)

    def list_assignments(self, agent_id: str) -> tuple[tuple[int, Assignment], ...]:
        """The assignments by which an agent fills its roles here, each with its position in the roster."""
        roles = {edge.target for edge in self.list_roles_filled_by(agent_id)}
        if not roles:
            return ()
        member: RosterMember = self.records.agents[agent_id].record
        return tuple(
            (number, each)
            for number, each in enumerate(member.assignments)
            if each.org in (None, self.org_id) and each.role in roles
        )

    def list_watches(self, agent_id: str, role_id: str | None = None) -> tuple[str, ...]:
        """The watches in which an agent fills its roles here, or one of them."""
        own = (each for _, each in self.list_assignments(agent_id) if role_id in (None, each.role))
        return tuple(dict.fromkeys(watch for each in own for watch in each.watches))

    def list_agents_in(self, role_id: str) -> tuple[Edge, ...]:
        """Agents that fill the role here."""
        return self.list_edges_to(EdgeKind.FILLS, role_id)


def find_essential_tools(view: OrgView, post: RolePost, tools: Iterable[Edge]) -> tuple[str, ...]:
    """The essential tools of a role that is equipped with these tools."""
    return find_essential_among(view, post, {edge.target for edge in tools})


def find_essential_among(view: OrgView, post: RolePost, equipped: Collection[str]) -> tuple[str, ...]:
    """The same, from the ids of its tools."""
    return tuple(tool_id for tool_id, essential in view.essential if _is_essential(essential, post, equipped))


def _is_essential(essential: Essential, post: RolePost, equipped: Collection[str]) -> bool:
    if isinstance(essential, EssentialFor):
        delegating = essential.delegating and post.profile.can_delegate
        return delegating or any(tool in equipped for tool in essential.with_tools)
    return essential
