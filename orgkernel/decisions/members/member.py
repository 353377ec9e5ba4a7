"""The member of the crew that would handle an intent, with its roles, rank and current skill levels.

Error policy: fails closed. A subject that is undeclared, outside the crew or not at work handles nothing. A role is treated
as an agent that was just commissioned: at its entry rank, with every required skill at level 1.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.access.layers.identity import is_at_work
from orgkernel.decisions.access.layers.pace import find_report
from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.skill_levels import compute_current_level
from orgkernel.decisions.evidence.state_view import QualificationResult, SkillRecord, StateView
from orgkernel.decisions.reasons import Reason, explain_out_of_service
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.cognitive_skills import list_required_skills
from orgkernel.graph.questions import OrgView
from orgkernel.graph.spoken_names import suggest_near_role
from orgkernel.runtime.tiers import NO_NEW_WORK, TIERS


class CrewMember(msgspec.Struct, frozen=True):
    """A member of the crew at work."""

    subject: Subject
    rank: int
    """The position of its rank on the ladder; -1 if it has none."""
    skills: dict[str, SkillRecord]
    """The skills of an agent, by skill id."""
    results: tuple[QualificationResult, ...]
    """The results of an agent, oldest first."""
    now: float

    @property
    def name(self) -> str:
        """`role:ID` or `agent:ID`."""
        return self.subject.subject

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that it is or fills."""
        return self.subject.identity.roles


def find_member(view: OrgView, state: StateView, subject: str, context: AccessContext) -> CrewMember | Reason:
    """The member of the crew with this name, or the reason why it cannot begin work now."""
    known_subject = get_access_tables(view).find_subject(subject)
    if known_subject is None:
        if (out := explain_out_of_service(view.records, subject)) is not None:
            return Reason("UNKNOWN_PRINCIPAL", *out)
        kind, _, name = subject.partition(":")
        help = (
            suggest_near_role(view, name)
            if kind == "role"
            else did_you_mean(name, view.records.agents if kind == "agent" else ())
        )
        text = f"{quote(subject)} is not declared" + (f"; {help}" if help else "")
        return Reason("UNKNOWN_PRINCIPAL", text)
    if not known_subject.is_crew:
        return Reason("SUBJECT_NOT_CREW", f"{quote(subject)} is not a role or agent of the organization")
    if not is_at_work(known_subject, state):
        return _explain_inactive(known_subject, state)
    tier = context.pace
    if tier is None:
        report = find_report(state, known_subject.keys, context.now)
        tier = None if report is None else report.tier
    if tier is not None and (tier in NO_NEW_WORK or tier not in TIERS):
        return Reason("PACE_CAP", f"{quote(subject)} is in PACE tier {quote(tier)}, which allows no new work")
    agent_id = known_subject.identity.id if known_subject.is_agent else ""
    skills = {each.skill: each for each in state.skills.get(agent_id, ()) if each.org_id == view.org_id}
    rank = get_current_rank(view, state, known_subject)
    return CrewMember(known_subject, rank, skills, state.results.get(agent_id, ()), context.now)


def check_run(view: OrgView, state: StateView, subjects: Iterable[str]) -> Reason | None:
    """The reason why a run is invalid, because one of its principals is undeclared or not at work; None if there is none."""
    for each in subjects:
        subject = get_access_tables(view).find_subject(each)
        if subject is None:
            out = explain_out_of_service(view.records, each) or (f"{quote(each)} is not declared", ())
            return Reason("UNKNOWN_PRINCIPAL", *out)
        if not is_at_work(subject, state):
            return _explain_inactive(subject, state)
    return None


def _explain_inactive(subject: Subject, state: StateView) -> Reason:
    lifecycle = state.get_lifecycle(subject.identity.id)
    return Reason("AGENT_INACTIVE", f"agent {quote(subject.identity.id)} is {lifecycle}")


def get_held_level(view: OrgView, holder: CrewMember, skill: str) -> int:
    """The current level of a skill of a member; 0 if it does not hold it."""
    if not holder.subject.is_agent:
        needs = (list_required_skills(view.records.posts[role].profile) for role in holder.roles)
        return int(any(skill in each for each in needs))
    record = holder.skills.get(skill)
    if record is None or skill not in view.records.skills:
        return 0
    return compute_current_level(view.records, record, holder.results, holder.now)
