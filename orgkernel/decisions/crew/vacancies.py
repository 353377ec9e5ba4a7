"""Find the roles that no agent at work fills, the deputies or superiors who cover them, and the agents that could fill them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import chain
from typing import Literal, NamedTuple

import msgspec

from orgkernel.decisions.access.layers.identity import is_at_work
from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.subject import NO_RANK, Subject, get_rank_number
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.skill_levels import compute_current_level
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.stand_ins import list_stand_ins
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.decisions.refusals import say_unassigned
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

MAX_CANDIDATES = 5


class VacancyCandidate(msgspec.Struct, frozen=True):
    """An agent that could fill a role, and its missing requirements."""

    agent_id: str
    missing: tuple[str, ...]
    """Each missing requirement as a sentence; empty if nothing is missing."""


class Vacancy(msgspec.Struct, frozen=True):
    """A role without an agent at work."""

    role_id: str
    kind: Literal["unfilled", "not_at_work"]
    """Whether no roster assigns an agent to the role, or none of its agents is at work."""
    text: str
    agents: tuple[str, ...]
    """The agents that fill it but are not at work."""
    covered_by: str | None
    """The role that answers for the vacant role meanwhile: its deputy, or else the lowest superior, that has an agent at
    work. None if no such role exists.
    """
    candidates: tuple[VacancyCandidate, ...]
    """Agents at work, those with the fewest missing requirements first, at most five."""
    why: tuple[Why, ...]


class VacancyAnswer(msgspec.Struct, frozen=True):
    """The vacancies of an organization, in the order of its hierarchy.

    >>> from orgkernel import Kernel
    >>> Kernel.open().vacancies("household").vacancies
    ()
    """

    org_id: str
    vacancies: tuple[Vacancy, ...]
    snapshot: str
    state_version: int


def decide_vacancies(view: OrgView, state: StateView, now: float) -> VacancyAnswer:
    """Every role that no agent at work fills. Roles outside the crew are left out."""
    declared = _find_declared_agents(view)
    # Only an agent with a stored state can be away or have another rank than the documents give it.
    stored = {
        agent_id: declared.subjects[agent_id] for agent_id in state.agents if agent_id in declared.subjects
    }
    away = {agent_id for agent_id, subject in stored.items() if not is_at_work(subject, state)}
    working = declared.subjects.keys() - away
    # Most organizations have no vacancy, and then no rank and no skill has to be compared.
    vacant = [
        role_id
        for role_id in view.roles
        if not _is_filled(view, role_id, working)
        # Roles outside the crew are filled by people or services that no roster lists, so they would always be vacant.
        and view.records.posts[role_id].profile.crew_tier != "external"
    ]
    needed = {role_id: _map_needed_levels(view, role_id) for role_id in vacant}
    levels = _compute_levels(view, state, set(chain.from_iterable(needed.values())), now)
    ranks: dict[str, int] = {}
    if vacant:
        ranks |= declared.ranks
        for agent_id, subject in stored.items():
            ranks[agent_id] = get_current_rank(view, state, subject)
        for agent_id in away:
            del ranks[agent_id]
    plausible = _list_plausible(ranks, levels)

    def find() -> Iterator[Vacancy]:
        for role_id in vacant:
            holders = view.list_agents_in(role_id)
            names = tuple(edge.source for edge in holders)
            text = (
                f"{listing(names)} fill{'s' if len(names) == 1 else ''} role {quote(role_id)}, and none of them is at work"
                if names
                else say_unassigned(role_id)
            )
            declared = cite_place(f"role {role_id} is declared", view.get_place(role_id))
            yield Vacancy(
                role_id, "not_at_work" if names else "unfilled", text, names, _find_cover(view, role_id, working),
                _find_candidates(view, role_id, needed[role_id], plausible, ranks, levels), (declared, *map(cite_edge, holders)),
            )  # fmt: skip

    return VacancyAnswer(view.org_id, tuple(find()), view.digest, state.version)


class _DeclaredAgents(NamedTuple):
    """The agents of the rosters, with the ranks that the documents give them."""

    subjects: Mapping[str, Subject]
    ranks: Mapping[str, int]


@PerView
def _find_declared_agents(view: OrgView) -> _DeclaredAgents:
    find_subject = get_access_tables(view).find_subject
    named = ((agent_id, find_subject(f"agent:{agent_id}")) for agent_id in view.records.agents)
    subjects = {agent_id: subject for agent_id, subject in named if subject is not None}
    return _DeclaredAgents(subjects, {agent_id: subject.rank for agent_id, subject in subjects.items()})


def _is_filled(view: OrgView, role_id: str, working: Container[str]) -> bool:
    return any(agent_id in working for agent_id in view.list_sources_to(EdgeKind.FILLS, role_id))


def _find_cover(view: OrgView, role_id: str, working: Container[str]) -> str | None:
    stand_ins = (each.role_id for each in list_stand_ins(view, role_id))
    return next((each for each in stand_ins if _is_filled(view, each, working)), None)


def _compute_levels(
    view: OrgView, state: StateView, wanted: Collection[str], now: float
) -> Mapping[str, Mapping[str, int]]:
    """The current level of each agent's skills, without suspended ones and those that no vacancy needs."""
    if not wanted:
        return {}
    declared = {skill for skill in wanted if skill in view.records.skills}
    return {
        agent_id: {
            each.skill: compute_current_level(view.records, each, state.results.get(agent_id, ()), now)
            for each in records
            if each.skill in declared and not each.suspended
        }
        for agent_id, records in state.skills.items()
    }


def _map_needed_levels(view: OrgView, role_id: str) -> Mapping[str, int]:
    """The skills that a role requires, each with its highest required level."""
    needed: dict[str, int] = {}
    for edge in view.list_skills(role_id):
        kind, _, level = edge.attribute.partition(":")
        if kind == "required":
            needed[edge.target] = max(int(level or 1), needed.get(edge.target, 1))
    return needed


def _list_plausible(ranks: Mapping[str, int], levels: Mapping[str, object]) -> list[str]:
    """Agents that can be among the candidates of some role. Agents without skills differ only by rank and id, so the first
    ones of each rank are enough.
    """
    unskilled: dict[int, list[str]] = {}
    for agent_id, rank in ranks.items():
        if not levels.get(agent_id):
            unskilled.setdefault(rank, []).append(agent_id)
    firsts = (nsmallest(MAX_CANDIDATES, agents) for agents in unskilled.values())
    return [*(each for each in levels if levels[each] and each in ranks), *chain.from_iterable(firsts)]


def _find_candidates(
    view: OrgView,
    role_id: str,
    needed: Mapping[str, int],
    plausible: Iterable[str],
    ranks: Mapping[str, int],
    levels: Mapping[str, Mapping[str, int]],
) -> tuple[VacancyCandidate, ...]:
    entry = view.records.posts[role_id].profile.entry_rank
    least = NO_RANK if entry is None else get_rank_number(view, entry)
    # By the number of missing requirements, because their weights are not comparable: a rank is not worth a number of skills.
    counts = (
        (_count_missing(ranks[agent_id] < least, needed, levels.get(agent_id, {})), agent_id)
        for agent_id in plausible
    )
    return tuple(
        VacancyCandidate(
            agent_id,
            tuple(
                _find_missing(entry if ranks[agent_id] < least else None, needed, levels.get(agent_id, {}))
            ),
        )
        for _, agent_id in nsmallest(MAX_CANDIDATES, counts)
    )


def _count_missing(is_rank_low: bool, needed: Mapping[str, int], levels: Mapping[str, int]) -> int:
    """The number of sentences of `_find_missing`."""
    return is_rank_low + sum(levels.get(skill, 0) < level for skill, level in needed.items())


def _find_missing(entry: str | None, needed: Mapping[str, int], levels: Mapping[str, int]) -> Iterator[str]:
    """Each missing requirement. `entry` is the entry rank, if the agent's rank is below it."""
    if entry is not None:
        yield f"its rank is below the entry rank {quote(entry)}"
    for skill, level in needed.items():
        held = levels.get(skill)
        if held is None:
            yield f"it does not have skill {quote(skill)}"
        elif held < level:
            yield f"it has skill {quote(skill)} at level {held}, and level {level} is required"
