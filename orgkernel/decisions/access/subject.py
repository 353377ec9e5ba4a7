"""Subjects with everything that does not depend on the request: permissions of their roles, rank, and policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.circumstances import is_within
from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.access.policies import AccessPolicy, PolicySet, PolicyTable, choose_deciding
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, LEVEL, Resource, SubjectGroup
from orgkernel.documents.records import DATA_TIERS
from orgkernel.graph.questions import OrgView, find_essential_among

NO_RANK = -1
_MAX_CACHED_SETS = 64


class Subject:
    """A subject with everything that does not depend on the state, the time or the request."""

    __slots__ = ("_table", "bound", "chains_of_command", "deciding_policies", "departments", "depends_on_circumstances", "essential", "group", "has_rank", "identity",
                 "is_agent", "is_crew", "is_worker", "keys", "names", "open_to_probation", "policies", "rank", "sets", "subject",
                 "times")  # fmt: skip

    def __init__(
        self, view: OrgView, table: PolicyTable, identity: SubjectIdentity, tool_resources: Mapping[str, str]
    ) -> None:
        self.identity = identity
        self.subject = identity.subject
        self.keys = identity.keys
        """The names by which grants, restrictions and policies can refer to it."""
        self.is_crew = identity.is_crew
        """Whether it is a role or an agent, which get permissions from roles."""
        self.is_agent = identity.kind == "agent"
        self.group: SubjectGroup = "agent" if self.is_agent else "role" if self.is_crew else "outsider"
        self.chains_of_command: dict[tuple[str, str], tuple[int, int]] = {}
        """Cached rights to hand work to roles and to escalate to them, by action and role: bits of the sources of the right, and
        of what it lacks."""
        self.bound: dict[str, int] = {}
        """The level that its roles give, by resource."""
        essential: frozenset[str] = frozenset()
        for role_id in identity.roles:
            profile = view.records.posts[role_id].profile
            levels = view.get_tool_levels(role_id)
            named = ((tool_resources.get(tool) or f"tool:{tool}", level) for tool, level in levels.items())
            _bind(self.bound, ((resource, LEVEL[level]) for resource, level in named))
            _bind(self.bound, ((f"credential:{each}", FULL) for each in profile.credentials))
            _bind(self.bound, _iterate_data(profile.data))
            essential |= find_essential_tools(view, role_id, levels)
        self._adopt(view, table, essential)

    def _adopt(self, view: OrgView, table: PolicyTable, essential: frozenset[str]) -> None:
        """Set the values that follow from the identity."""
        identity = self.identity
        profiles = [view.records.posts[role_id].profile for role_id in identity.roles]
        self.essential = essential
        """Its essential tools, which are never denied."""
        self.departments = frozenset(each.department for each in profiles if each.department is not None)
        self.is_worker = bool(profiles) and all(each.position == "worker" for each in profiles)
        """Whether all of its roles are workers."""
        self.open_to_probation = bool(profiles) and all(each.open_to_probation for each in profiles)
        """Whether each of its roles is open to an agent on probation."""
        self.names = frozenset((*identity.roles, identity.id) if self.is_agent else identity.roles)
        """The names by which `restricted_to` of a tool can refer to it."""
        self.rank = get_entry_rank(view, identity) if self.is_crew else NO_RANK
        member = view.records.agents[identity.id].record if self.is_agent else None
        self.has_rank = member is not None and member.rank is not None
        """Whether the roster states its rank, so stored trust alone does not change it."""
        self._table = table
        self.policies = table.find_matching(identity)
        self.depends_on_circumstances = any(policy.conditions for policy in self.policies)
        """Whether a policy about it depends on circumstances."""
        self.deciding_policies = (
            None if self.depends_on_circumstances else table.get_policy_set(choose_deciding(self.policies))
        )
        """The deciding policies; None if they depend on circumstances."""
        self.sets: dict[tuple[object, ...], PolicySet] = {}
        """Cached policies that decide, by the values of the circumstances."""
        conditions = (condition for policy in self.policies for condition in policy.conditions)
        self.times = tuple(dict.fromkeys(each.time for each in conditions if each.time is not None))
        """The times that policies about it mention."""

    def add_roles(
        self, view: OrgView, table: PolicyTable, identity: SubjectIdentity, other: Subject, resource: str
    ) -> Subject:
        """The same subject with more roles, including the permissions of another subject with these roles for one resource."""
        joined = Subject.__new__(Subject)
        for name in ("subject", "is_crew", "is_agent", "group"):
            setattr(joined, name, getattr(self, name))
        joined.identity, joined.keys = identity, identity.keys
        joined.chains_of_command = {}
        joined.bound = {resource: max(self.bound.get(resource, 0), other.bound.get(resource, 0))}
        joined._adopt(view, table, self.essential | other.essential)
        return joined

    def equip_with(self, resource: Resource, level: int, action: str, source: int) -> Subject:
        """The same subject with one more permission of its roles: a `level` for a tool, credential or data; or, for an `action`
        on a role, the bit of the `source` that permits it.
        """
        wider = Subject.__new__(Subject)
        for name in Subject.__slots__:
            setattr(wider, name, getattr(self, name))
        wider.bound = {**self.bound, resource.resource: max(level, self.bound.get(resource.resource, 0))}
        wider.chains_of_command = {(action, resource.resource): (source, 0)} if source else {}
        return wider

    def get_policy_set(self, context: AccessContext) -> PolicySet:
        """The policies that decide in these circumstances."""
        if self.deciding_policies is not None:
            return self.deciding_policies
        key = (
            context.channel, context.peer_kind, context.account, context.guild, context.hook_id, context.event_type,
            context.alert, context.watch,
            *[is_within(each, context.now, context.utc_offset) for each in self.times],
        )  # fmt: skip
        policy_set = self.sets.get(key)
        if policy_set is None:
            if len(self.sets) >= _MAX_CACHED_SETS:  # invented circumstances must not fill the memory
                self.sets.clear()
            policy_set = self.sets[key] = self._table.get_policy_set(
                choose_deciding(self.find_matching(context))
            )
        return policy_set

    def find_matching(self, context: AccessContext) -> tuple[AccessPolicy, ...]:
        """The policies that match in these circumstances, by priority, including annotations."""
        return tuple(policy for policy in self.policies if policy.is_satisfied(context))


def build_undeclared_subject(view: OrgView) -> Subject:
    """The subject that stands for an undeclared name. It has no permissions."""
    undeclared = Subject(view, PolicyTable(()), SubjectIdentity("", "unknown", "", ()), {})
    undeclared.group = "undeclared"
    return undeclared


# -- permissions of its roles ------------------------------------------------------------------------------------------


def find_essential_tools(view: OrgView, role_id: str, levels: Mapping[str, str]) -> frozenset[str]:
    """The essential resources of a role that is equipped with these tools."""
    if not view.essential:
        return frozenset()
    post = view.records.posts[role_id]
    return frozenset(f"tool:{tool}" for tool in find_essential_among(view, post, levels))


def _bind(bound: dict[str, int], given: Iterable[tuple[str, int]]) -> None:
    for resource, level in given:
        if level > bound.get(resource, 0):
            bound[resource] = level


def _iterate_data(names: tuple[str, ...]) -> Iterable[tuple[str, int]]:
    """The data tiers that a name includes: a tier includes the lower ones; any other name only itself."""
    tiers = [DATA_TIERS.index(name) for name in names if name in DATA_TIERS]
    if tiers:
        yield from ((f"data:{tier}", max(tiers)) for tier in DATA_TIERS)
    yield from ((f"data:{name}", 1) for name in names if name not in DATA_TIERS)


# -- positions on the ladder of ranks ----------------------------------------------------------------------------------


def get_rank_number(view: OrgView, rank_id: str) -> int:
    """The position of a rank on the ladder; -1 if the ladder does not list it."""
    return next((step for step, rank in enumerate(view.records.ranks) if rank.id == rank_id), NO_RANK)


def get_rank_id(view: OrgView, number: int) -> str | None:
    """The rank at a position of the ladder; None if there is none."""
    ranks = view.records.ranks
    return ranks[number].id if 0 <= number < len(ranks) else None


def get_rank_of_trust(view: OrgView, trust: float) -> int:
    """The highest rank whose trust threshold is reached."""
    reached = [step for step, rank in enumerate(view.records.ranks) if trust >= rank.trust_from]
    return max(reached, default=NO_RANK)


def get_entry_rank(view: OrgView, identity: SubjectIdentity) -> int:
    """The rank that a subject starts at: an agent's own, the one for its trust, the entry rank of its role, or the lowest."""
    member = view.records.agents[identity.id].record if identity.kind == "agent" else None
    if member is not None and member.rank is not None:
        return get_rank_number(view, member.rank)
    if member is not None and member.trust is not None:
        return get_rank_of_trust(view, member.trust)
    declared = (view.records.posts[role_id].profile.entry_rank for role_id in identity.roles)
    first = next((rank for rank in declared if rank is not None), None)
    if first is not None:
        return get_rank_number(view, first)
    return 0 if view.records.ranks else NO_RANK
