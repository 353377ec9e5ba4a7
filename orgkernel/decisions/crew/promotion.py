"""Decide the ranks that an agent could have: every path from its current rank, with each requirement and the evidence.

Nothing is promoted or demoted here. An answer states "eligible, because …" or what is missing; an operator, owner or
superior decides and records it. Skills count at their current level after decay, tests while their result is valid, and
trust as the mean of its distribution. An unknown value does not meet a requirement.

Between two ranks lies a margin: an agent is eligible once its trust reaches `trust_from` of the next rank, and its
demotion is proposed only below `trust_from` of its own rank minus `trust_margin` of the ladder. So an agent near a threshold does not go up and
down with each outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.subject import get_rank_id
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.qualifications import decide_standing
from orgkernel.decisions.evidence.role_skills import RoleSkill, find_skills_of_roles, list_universal_skills
from orgkernel.decisions.evidence.skill_levels import compute_current_levels
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.evidence.trust import Trust, compute_credible_interval, get_trust
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Rank, RankLadder, Requirement
from orgkernel.graph.questions import OrgView

RequirementKind = Literal["lifecycle", "trust", "universal", "role", "required_role", "qualification"]
PathKind = Literal["promote", "demote"]
PathOutcome = Literal["eligible", "not_eligible", "proposed", "not_proposed"]


class RequirementCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement of a rank, and whether an agent meets it now."""

    kind: RequirementKind
    met: bool
    text: str
    """The requirement, and the current value."""
    missing: tuple[str, ...] = ()
    """The missing parts: skills with their level and the required level, or a test with the reason why its result is
    not valid.
    """
    why: tuple[Why, ...] = ()


class PromotionPath(msgspec.Struct, frozen=True, kw_only=True):
    """A rank that the agent could have instead, with its requirements."""

    kind: PathKind
    rank: str
    outcome: PathOutcome
    text: str
    requirements: tuple[RequirementCheck, ...]
    why: tuple[Why, ...]


class PromotionDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The position of an agent on the ladder of ranks, and the ranks it could move to. It changes nothing.

    >>> from orgkernel import Kernel
    >>> Kernel.open().promotion("household", "clerk").rank
    'lieutenant'
    """

    agent_id: str
    org_id: str
    rank: str | None
    """The current rank; null if it has none of the ladder."""
    trust: Trust
    credible_interval: tuple[float, float]
    """The interval that contains the trust with a probability of 95 %."""
    paths: tuple[PromotionPath, ...]
    """The paths to the next rank and to the rank below, if they exist."""
    snapshot: str
    state_version: int

    @property
    def promotion(self) -> PromotionPath | None:
        """The path to the next rank."""
        return next((path for path in self.paths if path.kind == "promote"), None)


def decide_promotion(view: OrgView, state: StateView, agent_id: str, now: float) -> PromotionDecision:
    """Every path of a declared agent. Raises KeyError if no roster declares it."""
    subject = get_access_tables(view).find_subject(f"agent:{agent_id}")
    if subject is None:
        raise KeyError(agent_id)
    ranks, step = view.records.ranks, get_current_rank(view, state, subject)
    trust = get_trust(view, state, agent_id)
    paths: list[PromotionPath] = []
    if step + 1 < len(ranks):
        paths.append(_propose_promotion(view, state, agent_id, ranks[step + 1], now))
    if step > 0:
        paths.append(_propose_demotion(view, trust, ranks[step], ranks[step - 1]))
    low, high = compute_credible_interval(trust)
    return PromotionDecision(
        agent_id=agent_id,
        org_id=view.org_id,
        rank=get_rank_id(view, step),
        trust=trust,
        credible_interval=(round(low, 4), round(high, 4)),
        paths=tuple(paths),
        snapshot=view.digest,
        state_version=state.version,
    )


def check_rank(
    view: OrgView, state: StateView, agent_id: str, rank: Rank, now: float
) -> tuple[RequirementCheck, ...]:
    """Every requirement of a rank, and whether an agent meets it now."""
    return tuple(_check_requirements(view, state, agent_id, rank, now))


def _propose_promotion(
    view: OrgView, state: StateView, agent_id: str, rank: Rank, now: float
) -> PromotionPath:
    checks = check_rank(view, state, agent_id, rank, now)
    unmet = [each for each in checks if not each.met]
    explanation = "; ".join(each.text for each in unmet or checks)
    return PromotionPath(
        kind="promote",
        rank=rank.id,
        outcome="not_eligible" if unmet else "eligible",
        text=f"not eligible, because {explanation}" if unmet else f"eligible, because {explanation}",
        requirements=checks,
        why=_locate_rank(view, rank),
    )


def _propose_demotion(view: OrgView, trust: Trust, rank: Rank, below: Rank) -> PromotionPath:
    """The path to the rank below. Only lost trust proposes a demotion, and only beyond the margin."""
    margin = _get_margin(view)
    # Rounded, because 0.8 - 0.1 is not 0.7 in binary, and trust of exactly the limit must keep the rank.
    floor = round(rank.trust_from - margin, 9)
    # Unknown trust takes no rank away: an agent that has done nothing yet has lost nothing.
    is_kept = trust.mean is None or trust.mean >= floor
    limit = f"{quote(rank.id)} is kept down to {max(floor, 0.0):g} ({rank.trust_from:g} minus the margin {margin:g})"
    check = RequirementCheck(
        kind="trust", met=is_kept, text=f"the trust is {trust}, and {limit}", why=_locate_rank(view, rank)
    )
    return PromotionPath(
        kind="demote",
        rank=below.id,
        outcome="not_proposed" if is_kept else "proposed",
        text=f"{'not proposed' if is_kept else 'proposed'}, because {check.text}",
        requirements=(check,),
        why=_locate_rank(view, below),
    )


def _check_requirements(
    view: OrgView, state: StateView, agent_id: str, rank: Rank, now: float
) -> Iterator[RequirementCheck]:
    lifecycle = state.get_lifecycle(agent_id)
    yield RequirementCheck(
        kind="lifecycle",
        met=lifecycle == "active",
        text=f"the agent is {lifecycle}",
        why=(cite_place(f"the roster lists agent {agent_id}", view.records.agents[agent_id].place()),),
    )
    trust = get_trust(view, state, agent_id)
    yield RequirementCheck(
        kind="trust",
        # Without any outcome, trust is unknown and counts as zero: a rank that requires some is not reached by silence.
        met=rank.trust_from <= (trust.mean or 0.0),
        text=f"the trust is {trust}, and {rank.trust_from:g} is required",
        why=_locate_rank(view, rank),
    )
    promotion = view.records.promotions.get(rank.id)
    if promotion is None:
        return
    role_skills = find_skills_of_roles(view, (edge.target for edge in view.list_roles_filled_by(agent_id)))
    levels = compute_current_levels(view.records, state, agent_id, now)
    for number, requirement in enumerate(promotion.record.requirements):
        why = cite_place(f"promotion to {rank.id} requires it", promotion.place("requirements", number))
        yield _check_skills(requirement, view, role_skills, levels, why)
    results = state.results.get(agent_id, ())
    for number, name in enumerate(promotion.record.qualifications):
        standing = decide_standing(view.records, results, name, now)
        why = cite_place(f"promotion to {rank.id} requires it", promotion.place("qualifications", number))
        yield RequirementCheck(
            kind="qualification",
            met=standing.passed,
            text=f"the test {quote(name)} {'is passed' if standing.passed else 'is not passed'}: {standing.text}",
            missing=() if standing.passed else (f"{name}: {standing.text}",),
            why=(why, *standing.why),
        )


MAX_SKILLS_IN_TEXT = 5
"""The number of missing skills in a sentence; `missing` lists all of them."""
_SKILLS = {
    "universal": "universal skills",
    "role": "skills of its roles",
    "required_role": "required skills of its roles",
}


def _check_skills(
    requirement: Requirement,
    view: OrgView,
    role_skills: Mapping[str, RoleSkill],
    levels: Mapping[str, int],
    why: Why,
) -> RequirementCheck:
    """The check of a skill requirement. All of its skills are examined, whether or not the agent holds them.

    If all of them are required, a role's own lowest level applies if it is higher. If only some of them are required, the
    level of the requirement applies.
    """
    needed: dict[str, int]
    if requirement.skills == "universal":
        needed = dict.fromkeys(list_universal_skills(view), requirement.min_proficiency)
    else:
        needed = {
            each.skill: requirement.min_proficiency
            if requirement.min_count is not None
            else max(requirement.min_proficiency, each.required)
            for each in role_skills.values()
            if requirement.skills == "role" or not each.optional
        }
    what = _SKILLS[requirement.skills]
    reached = [skill for skill, level in needed.items() if levels.get(skill, 0) >= level]
    wanted = len(needed) if requirement.min_count is None else requirement.min_count
    # A requirement about no skills at all would be met by everyone, so it is met by no agent.
    is_met = bool(needed) and len(reached) >= wanted
    missing = tuple(
        f"{skill}: {f'has level {levels[skill]}' if skill in levels else 'not held'}, needs level {level}"
        for skill, level in needed.items()
        if skill not in reached
    )
    count = "all" if requirement.min_count is None else f"{requirement.min_count} of the"
    text = f"level {requirement.min_proficiency} or above is required in {count} {what}"
    if not needed:
        text += ", and there are none"
    elif is_met:
        text += f", and {len(reached)} of {len(needed)} have it: {listing(reached)}"
    else:
        text += f", and {len(reached)} of {len(needed)} have it; {'; '.join(missing[:MAX_SKILLS_IN_TEXT])}"
        text += f"; and {len(missing) - MAX_SKILLS_IN_TEXT} more" if len(missing) > MAX_SKILLS_IN_TEXT else ""
    edges = (
        cite_edge(role_skills[skill].edge)
        for skill in needed
        if skill in role_skills and skill not in reached
    )
    return RequirementCheck(
        kind=requirement.skills, met=is_met, text=text, missing=() if is_met else missing,
        why=(why, *(() if is_met else edges)),
    )  # fmt: skip


def _get_margin(view: OrgView) -> float:
    ladder = view.records.ladder
    return ladder.record.trust_margin if ladder is not None and isinstance(ladder.record, RankLadder) else 0.0


def _locate_rank(view: OrgView, rank: Rank) -> tuple[Why, ...]:
    ladder = view.records.ladder
    if ladder is None:
        return ()
    number = next((n for n, each in enumerate(view.records.ranks) if each.id == rank.id), None)
    if number is None:
        return ()
    return (
        cite_place(f"rank {rank.id} starts at a trust of {rank.trust_from:g}", ladder.place("ranks", number)),
    )
