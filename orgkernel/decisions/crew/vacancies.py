"""Find the roles that no agent at work fills, the deputies or superiors who cover them, and the agents that could fill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from orgkernel.decisions.access.layers.identity import is_at_work
from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.subject import NO_RANK, get_rank_number
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.skill_levels import compute_current_level
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.stand_ins import list_stand_ins
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.decisions.refusals import say_unassigned
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge

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
    """The deputy with an agent at work, or else the nearest superior with one, who answers for the role meanwhile; None if
    there is none.
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
    tables = get_access_tables(view)
    working: dict[str, bool] = {}
    for agent_id in view.records.agents:
        subject = tables.find_subject(f"agent:{agent_id}")
        working[agent_id] = subject is not None and is_at_work(subject, state)
    levels = _compute_levels(view, state, now)
    ranks = {
        agent_id: get_current_rank(view, state, subject)
        for agent_id, at_work in working.items()
        if at_work and (subject := tables.find_subject(f"agent:{agent_id}")) is not None
    }

    def find() -> Iterator[Vacancy]:
        for role_id in view.roles:
            post = view.records.posts[role_id]
            holders = view.list_agents_in(role_id)
            # Roles outside the crew are filled by people or services that no roster lists, so they would always be
            # vacant.
            if post.profile.crew_tier == "external" or any(working.get(each.source) for each in holders):
                continue
            names = tuple(edge.source for edge in holders)
            text = (
                f"{listing(names)} fill{'s' if len(names) == 1 else ''} role {quote(role_id)}, and none of them is at work"
                if names
                else say_unassigned(role_id)
            )
            declared = cite_place(f"role {role_id} is declared", view.get_place(role_id))
            yield Vacancy(
                role_id, "not_at_work" if names else "unfilled", text, names, _find_cover(view, role_id, working),
                _find_candidates(view, role_id, ranks, levels), (declared, *map(cite_edge, holders)),
            )  # fmt: skip

    return VacancyAnswer(view.org_id, tuple(find()), view.digest, state.version)


def _find_cover(view: OrgView, role_id: str, working: Mapping[str, bool]) -> str | None:
    return next(
        (
            each.role_id
            for each in list_stand_ins(view, role_id)
            if any(working.get(edge.source) for edge in view.list_agents_in(each.role_id))
        ),
        None,
    )


def _compute_levels(view: OrgView, state: StateView, now: float) -> Mapping[str, Mapping[str, int]]:
    """The current level of each agent's skills, without suspended ones."""
    skills = view.records.skills
    return {
        agent_id: {
            each.skill: compute_current_level(each, skills[each.skill].record.decay_rate_days, now)
            for each in records
            if each.skill in skills and not each.suspended
        }
        for agent_id, records in state.skills.items()
    }


def _find_candidates(
    view: OrgView, role_id: str, ranks: Mapping[str, int], levels: Mapping[str, Mapping[str, int]]
) -> tuple[VacancyCandidate, ...]:
    required = [edge for edge in view.list_skills(role_id) if edge.attribute.startswith("required")]
    entry = view.records.posts[role_id].profile.entry_rank
    least = NO_RANK if entry is None else get_rank_number(view, entry)
    candidates = (
        VacancyCandidate(
            agent_id, tuple(_find_missing(agent_id, rank, least, entry, required, levels.get(agent_id, {})))
        )
        for agent_id, rank in ranks.items()
    )
    # By the number of missing requirements, because their weights are not comparable: a rank is not worth a number of
    # skills.
    ordered = sorted(candidates, key=lambda each: (len(each.missing), each.agent_id))
    return tuple(ordered[:MAX_CANDIDATES])


def _find_missing(
    agent_id: str,
    rank: int,
    least: int,
    entry: str | None,
    required_skills: list[Edge],
    levels: Mapping[str, int],
) -> Iterator[str]:
    if rank < least:
        yield f"its rank is below the entry rank {quote(entry)}"
    for edge in required_skills:
        needed, held = int(edge.attribute.partition(":")[2] or 1), levels.get(edge.target)
        if held is None:
            yield f"it does not have skill {quote(edge.target)}"
        elif held < needed:
            yield f"it has skill {quote(edge.target)} at level {held}, and level {needed} is required"
