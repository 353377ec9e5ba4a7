"""Select agents of an organization, and describe each.

Facts from documents are indexed once for each view, and facts from the store once for each state, so a question among
ten thousand agents examines only the relevant ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.subject import get_rank_id
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.qualifications import has_passed
from orgkernel.decisions.evidence.skill_levels import compute_current_level, compute_current_levels
from orgkernel.decisions.evidence.state_view import Lifecycle, SkillRecord, StateView
from orgkernel.decisions.evidence.trust import Trust, get_trust
from orgkernel.documents.records import RosterMember
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

ANY_LEVEL = 1


class AgentFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on agents. Every condition that is not None must hold, and those on a role and a watch for one assignment.

    >>> from orgkernel import Kernel
    >>> page = Kernel.open().agents("starship", AgentFilter(department="medical", watch="beta"))
    >>> [agent.agent_id for agent in page.agents]
    ['suture', 'tincture']
    """

    role: str | None = None
    department: str | None = None
    """The department of one of its roles."""
    rank: str | None = None
    """The rank that it has now."""
    skill: str | None = None
    """A skill that it holds and that is not suspended."""
    min_level: int | None = None
    """The lowest current level of that skill, or of any skill, after decay."""
    qualification: str | None = None
    """A test that it has currently passed."""
    tool: str | None = None
    """A tool of one of its roles. Use `who-can` to find agents that may use it now."""
    intent: str | None = None
    """An intent that one of its roles serves."""
    watch: str | None = None
    """A watch in which it fills one of its roles."""
    lifecycle: Lifecycle | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no condition."""
        return self == AgentFilter()

    @property
    def joins_assignments(self) -> bool:
        """Whether several conditions concern one assignment of the agent."""
        conditions = (self.role, self.department, self.tool, self.intent, self.watch)
        return sum(each is not None for each in conditions) > 1


class AgentLine(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of an organization in its current state."""

    agent_id: str
    callsign: str
    roles: tuple[str, ...]
    departments: tuple[str, ...]
    watches: tuple[str, ...]
    rank: str | None
    """The current rank: the stored one, or else the one in the roster or its role."""
    trust: float | None
    """The mean of the distribution."""
    trust_distribution: Trust
    """The distribution behind the mean: the starting trust and the recorded outcomes."""
    lifecycle: Lifecycle
    org_id: str


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """Agents of an organization, in the order of their ids.

    >>> from orgkernel import Kernel
    >>> [agent.agent_id for agent in Kernel.open().agents("household").agents]
    ['butler', 'clerk']
    """

    agents: tuple[AgentLine, ...]
    count: int
    """The number of agents that match the filter, on all pages."""
    next: str | None = None
    """Cursor of the next page. Null on the last page."""
    snapshot: str
    state_version: int
    unknown_words: tuple[str, ...] = ()
    """A sentence for each word of the filter that the organization does not declare."""


class _Member(msgspec.Struct, frozen=True, gc=False):
    """The facts about an agent in the documents."""

    agent_id: str
    record: RosterMember
    roles: tuple[str, ...]
    departments: tuple[str, ...]
    watches: tuple[str, ...]


class _Crew:
    """The agents that fill roles, and their stored skills."""

    def __init__(self, view: OrgView) -> None:
        self._view = view
        self.members = {each.agent_id: each for each in _build_members(view)}
        self.everybody = tuple(self.members)
        self._stored: tuple[object, Mapping[str, tuple[SkillRecord, ...]]] = (None, {})

    def find_agents_in_roles(self, roles: Iterable[str]) -> frozenset[str]:
        """The agents that fill one of these roles."""
        return frozenset(edge.source for role_id in roles for edge in self._view.list_agents_in(role_id))

    def find_skill_records(self, state: StateView, skill: str) -> tuple[SkillRecord, ...]:
        """The records of a skill, of all agents."""
        source, by_skill = self._stored
        if source is not state.skills:
            records_by_skill: dict[str, list[SkillRecord]] = {}
            for records in state.skills.values():
                for record in records:
                    records_by_skill.setdefault(record.skill, []).append(record)
            by_skill = {name: tuple(records) for name, records in records_by_skill.items()}
            self._stored = (state.skills, by_skill)
        return by_skill.get(skill, ())


@PerView
def _get_crew(view: OrgView) -> _Crew:
    return _Crew(view)


def _build_members(view: OrgView) -> Iterator[_Member]:
    for agent_id, definition in sorted(view.records.agents.items()):
        roles = tuple(edge.target for edge in view.list_roles_filled_by(agent_id))
        if not roles:
            continue
        record: RosterMember = definition.record
        department_ids = (view.records.posts[role_id].profile.department for role_id in roles)
        departments = tuple(dict.fromkeys(each for each in department_ids if each is not None))
        yield _Member(agent_id, record, roles, departments, view.list_watches(agent_id))


def select_agents(view: OrgView, state: StateView, agent_filter: AgentFilter, now: float) -> tuple[str, ...]:
    """The matching agents that fill roles, by id."""
    chosen = _select_candidates(view, state, agent_filter, now)
    if not agent_filter.joins_assignments:
        return chosen
    members = _get_crew(view).members
    return tuple(each for each in chosen if any(_find_matching_roles(view, members[each], agent_filter)))


def select_filled_roles(
    view: OrgView, state: StateView, agent_filter: AgentFilter, now: float
) -> frozenset[str]:
    """The roles with an assignment that matches: of an agent that meets the conditions, in that role and watch."""
    members = _get_crew(view).members
    return frozenset(
        role_id
        for agent_id in _select_candidates(view, state, agent_filter, now)
        for role_id in _find_matching_roles(view, members[agent_id], agent_filter)
    )


def _find_matching_roles(view: OrgView, member: _Member, agent_filter: AgentFilter) -> Iterator[str]:
    """The roles of an agent that meet all conditions on an assignment."""
    wanted = agent_filter
    for role_id in member.roles:
        post = view.records.posts[role_id]
        if (
            wanted.role in (None, role_id)
            and wanted.department in (None, post.profile.department)
            and (wanted.tool is None or any(each.target == wanted.tool for each in view.list_tools(role_id)))
            and (wanted.watch is None or wanted.watch in view.list_watches(member.agent_id, role_id))
            and (
                wanted.intent is None
                or role_id in view.list_sources_to(EdgeKind.SERVES_INTENT, wanted.intent)
            )
        ):
            yield role_id


def _select_candidates(
    view: OrgView, state: StateView, agent_filter: AgentFilter, now: float
) -> tuple[str, ...]:
    """The agents that meet each condition, perhaps in different assignments."""
    crew = _get_crew(view)
    members = crew.members
    sets = list(_find_by_index(view, crew, state, agent_filter, now))
    chosen: Iterable[str] = members if not sets else sorted(frozenset.intersection(*sets))
    if (agent_filter.watch, agent_filter.lifecycle, agent_filter.rank, agent_filter.qualification) == (
        None,
        None,
        None,
        None,
    ):
        return tuple(agent_id for agent_id in chosen if agent_id in members) if sets else crew.everybody
    return tuple(
        agent_id
        for agent_id in chosen
        if agent_id in members and _does_match(view, state, members[agent_id], agent_filter, now)
    )


def _find_by_index(
    view: OrgView, crew: _Crew, state: StateView, agent_filter: AgentFilter, now: float
) -> Iterator[frozenset[str]]:
    """The candidate agents from each condition that an index can answer."""
    if agent_filter.role is not None:
        yield crew.find_agents_in_roles((agent_filter.role,))
    if agent_filter.tool is not None:
        yield crew.find_agents_in_roles(edge.source for edge in view.list_holders(agent_filter.tool))
    if agent_filter.intent is not None:
        yield crew.find_agents_in_roles(view.list_sources_to(EdgeKind.SERVES_INTENT, agent_filter.intent))
    if agent_filter.department is not None:
        yield crew.find_agents_in_roles(view.list_sources_to(EdgeKind.BELONGS_TO, agent_filter.department))
    if agent_filter.skill is None and agent_filter.min_level is not None:
        levels = (
            (agent_id, compute_current_levels(view.records, state, agent_id, now).values())
            for agent_id in state.skills
        )
        yield frozenset(
            agent_id for agent_id, held in levels if max(held, default=0) >= agent_filter.min_level
        )
    if agent_filter.skill is not None:
        lowest = agent_filter.min_level or ANY_LEVEL
        is_declared = agent_filter.skill in view.records.skills
        yield frozenset(
            record.agent_id
            for record in crew.find_skill_records(state, agent_filter.skill)
            if is_declared
            and not record.suspended
            and compute_current_level(view.records, record, state.results.get(record.agent_id, ()), now)
            >= lowest
        )


def _does_match(
    view: OrgView, state: StateView, member: _Member, agent_filter: AgentFilter, now: float
) -> bool:
    return (
        (agent_filter.watch is None or agent_filter.watch in member.watches)
        and (agent_filter.lifecycle is None or agent_filter.lifecycle == state.get_lifecycle(member.agent_id))
        and (agent_filter.rank is None or agent_filter.rank == _rank(view, state, member.agent_id))
        and (
            agent_filter.qualification is None
            or has_passed(
                view.records, state.results.get(member.agent_id, ()), agent_filter.qualification, now
            )
        )
    )


def build_agent_list(
    view: OrgView,
    state: StateView,
    chosen: Sequence[str],
    *,
    start: int = 0,
    limit: int | None = None,
    unknown_words: tuple[str, ...] = (),
) -> AgentList:
    """A page of the selected agents. The cursor is the id of the last agent on it."""
    end = len(chosen) if limit is None else start + limit
    page = chosen[start:end]
    members = _get_crew(view).members
    return AgentList(
        agents=tuple(_build_line(view, state, members[agent_id]) for agent_id in page),
        count=len(chosen),
        next=page[-1] if page and end < len(chosen) else None,
        snapshot=view.digest,
        state_version=state.version,
        unknown_words=unknown_words,
    )


def _build_line(view: OrgView, state: StateView, member: _Member) -> AgentLine:
    trust = get_trust(view, state, member.agent_id)
    return AgentLine(
        agent_id=member.agent_id,
        callsign=member.record.callsign,
        roles=member.roles,
        departments=member.departments,
        watches=member.watches,
        rank=_rank(view, state, member.agent_id),
        trust=trust.mean,
        trust_distribution=trust,
        lifecycle=state.get_lifecycle(member.agent_id),
        org_id=view.org_id,
    )


def _rank(view: OrgView, state: StateView, agent_id: str) -> str | None:
    subject = get_access_tables(view).find_subject(f"agent:{agent_id}")
    return None if subject is None else get_rank_id(view, get_current_rank(view, state, subject))
