"""Select agents of an organization, and say how each stands.

What the documents say of an agent is collected once for each view, and what the store says once for each state, so that
a question about ten thousand agents looks at those it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.qualifications import has_passed
from orgkernel.decisions.evidence.skill_levels import compute_current_level, compute_current_levels
from orgkernel.decisions.evidence.state_view import Lifecycle, SkillRecord, StateView
from orgkernel.decisions.evidence.trust import Trust, trust_of
from orgkernel.documents.records import RosterMember
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

ANY_LEVEL = 1


class AgentFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on agents. Every condition that is not None must hold.

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
    """The lowest level of that skill, or of any skill, now, decay included."""
    qualification: str | None = None
    """A test that it has passed and that still counts."""
    tool: str | None = None
    """A tool that one of its roles is equipped with; `who-can` says who may use it now."""
    intent: str | None = None
    """An intent that one of its roles serves."""
    watch: str | None = None
    """A watch in which it fills one of its roles."""
    lifecycle: Lifecycle | None = None


class AgentLine(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of an organization as it stands now."""

    agent_id: str
    callsign: str
    roles: tuple[str, ...]
    departments: tuple[str, ...]
    watches: tuple[str, ...]
    rank: str | None
    """The current rank: the stored one, or else the one that the roster or its role declares."""
    trust: float | None
    """The mean of the distribution."""
    trust_distribution: Trust
    """What the mean rests on: the starting trust and the recorded outcomes."""
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


class _Member(msgspec.Struct, frozen=True, gc=False):
    """What the documents say of an agent."""

    agent_id: str
    record: RosterMember
    roles: tuple[str, ...]
    departments: tuple[str, ...]
    watches: tuple[str, ...]


class _Crew:
    """The agents that fill roles, and the skills that are stored about them."""

    def __init__(self, view: OrgView) -> None:
        self._view = view
        self.members = {each.agent_id: each for each in _members(view)}
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
def _crew_of(view: OrgView) -> _Crew:
    return _Crew(view)


def _members(view: OrgView) -> Iterator[_Member]:
    for agent_id, definition in sorted(view.records.agents.items()):
        roles = tuple(edge.target for edge in view.list_roles_filled_by(agent_id))
        if not roles:
            continue
        record: RosterMember = definition.record
        department_ids = (view.records.posts[role_id].profile.department for role_id in roles)
        departments = tuple(dict.fromkeys(each for each in department_ids if each is not None))
        yield _Member(agent_id, record, roles, departments, view.list_watches(agent_id))


def select_agents(view: OrgView, state: StateView, wanted: AgentFilter, now: float) -> tuple[str, ...]:
    """The matching agents that fill roles, by id."""
    crew = _crew_of(view)
    members = crew.members
    sets = list(_find_by_index(view, crew, state, wanted, now))
    chosen: Iterable[str] = members if not sets else sorted(frozenset.intersection(*sets))
    if (wanted.watch, wanted.lifecycle, wanted.rank, wanted.qualification) == (None, None, None, None):
        return tuple(agent_id for agent_id in chosen if agent_id in members) if sets else crew.everybody
    return tuple(
        agent_id
        for agent_id in chosen
        if agent_id in members and _does_match(view, state, members[agent_id], wanted, now)
    )


def _find_by_index(
    view: OrgView, crew: _Crew, state: StateView, wanted: AgentFilter, now: float
) -> Iterator[frozenset[str]]:
    """The agents of each condition that an index answers."""
    if wanted.role is not None:
        yield crew.find_agents_in_roles((wanted.role,))
    if wanted.tool is not None:
        yield crew.find_agents_in_roles(edge.source for edge in view.list_holders(wanted.tool))
    if wanted.intent is not None:
        yield crew.find_agents_in_roles(view.list_sources_to(EdgeKind.SERVES_INTENT, wanted.intent))
    if wanted.department is not None:
        yield crew.find_agents_in_roles(view.list_sources_to(EdgeKind.BELONGS_TO, wanted.department))
    if wanted.skill is None and wanted.min_level is not None:
        levels = (
            (agent_id, compute_current_levels(view.records, records, now).values())
            for agent_id, records in state.skills.items()
        )
        yield frozenset(agent_id for agent_id, held in levels if max(held, default=0) >= wanted.min_level)
    if wanted.skill is not None:
        lowest = wanted.min_level or ANY_LEVEL
        declared = view.records.skills.get(wanted.skill)
        yield frozenset(
            record.agent_id
            for record in crew.find_skill_records(state, wanted.skill)
            if declared is not None
            and not record.suspended
            and compute_current_level(record, declared.record.decay_rate_days, now) >= lowest
        )


def _does_match(view: OrgView, state: StateView, member: _Member, wanted: AgentFilter, now: float) -> bool:
    return (
        (wanted.watch is None or wanted.watch in member.watches)
        and (wanted.lifecycle is None or wanted.lifecycle == state.get_lifecycle(member.agent_id))
        and (wanted.rank is None or wanted.rank == _rank(view, state, member.agent_id))
        and (
            wanted.qualification is None
            or has_passed(view.records, state.results.get(member.agent_id, ()), wanted.qualification, now)
        )
    )


def build_agent_list(
    view: OrgView, state: StateView, chosen: Sequence[str], *, start: int = 0, limit: int | None = None
) -> AgentList:
    """A page of the agents that were selected. The cursor is the id of the last agent on it."""
    end = len(chosen) if limit is None else start + limit
    page = chosen[start:end]
    members = _crew_of(view).members
    return AgentList(
        agents=tuple(_line(view, state, members[agent_id]) for agent_id in page),
        count=len(chosen),
        next=page[-1] if page and end < len(chosen) else None,
        snapshot=view.digest,
        state_version=state.version,
    )


def _line(view: OrgView, state: StateView, member: _Member) -> AgentLine:
    trust = trust_of(view, state, member.agent_id)
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
    subject = get_access_tables(view).subject(f"agent:{agent_id}")
    ranks = view.records.ranks
    step = -1 if subject is None else get_current_rank(view, state, subject)
    return ranks[step].id if 0 <= step < len(ranks) else None
