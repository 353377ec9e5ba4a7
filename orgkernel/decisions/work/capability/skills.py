"""Cognitive skills: the ones that a subject sees, and whether it may activate one. Both use the same gates.

Disclosure is gradual: name and description of each skill, then the instructions of one, then single files next to it.
Error policy: fails closed. A gate that cannot be read, or that uses an undeclared name, withholds the skill.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.subject import get_rank_number
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import CrewMember, find_member, get_held_level
from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.cognitive_skills import (
    SkillGates,
    SkillProblem,
    find_closing_violations,
    find_metadata_key,
    find_unknown_names,
    has_cognitive_skill,
    is_for_department,
    list_required_skills,
    read_gates,
)
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition

DisclosureOutcome = Literal["allow", "deny"]


class SkillCard(msgspec.Struct, frozen=True):
    """The public description of a skill, before it is activated."""

    name: str
    description: str
    origin: Literal["internal", "external"]
    """`external` for a skill without orgkernel metadata, which is open to every subject that sees it."""
    departments: tuple[str, ...]
    """The departments of the skill; empty for all."""
    skill_id: str
    min_proficiency: int
    min_rank: str
    intents: tuple[str, ...]
    triggers: tuple[str, ...]
    activation: str
    proficiency: int | None
    """The subject's current level of `skill_id`."""
    why: tuple[Why, ...]


class WithheldSkill(msgspec.Struct, frozen=True):
    """A skill that is not shown, with the reasons."""

    name: str
    reasons: tuple[Reason, ...]


class SkillList(msgspec.Struct, frozen=True):
    """The skills that a subject sees."""

    subject: str
    skills: tuple[SkillCard, ...]
    withheld: tuple[WithheldSkill, ...]
    reasons: tuple[Reason, ...]
    """The reasons if the subject sees no skills."""
    snapshot: str
    state_version: int


class SkillActivation(msgspec.Struct, frozen=True):
    """Whether a skill may be activated, and its instructions."""

    outcome: DisclosureOutcome
    subject: str
    name: str
    reasons: tuple[Reason, ...]
    card: SkillCard | None
    body: str
    sha256: str
    """The SHA-256 of SKILL.md; empty if the skill is withheld."""
    snapshot: str
    state_version: int


class VisibleSkill(NamedTuple):
    """A skill that an organization sees, with its gates. A subject that does not pass them does not see it."""

    definition: Definition[CognitiveSkill]
    gates: SkillGates
    problems: tuple[SkillProblem, ...]
    """Problems that withhold it from every subject."""

    @property
    def name(self) -> str:
        """The name of the skill."""
        return self.definition.id

    def place(self, key: str) -> Place:
        """The place of a key in the metadata; if it is missing, the place of the skill."""
        if key not in self.gates.written:
            return self.definition.place("name")
        return self.definition.place("metadata", find_metadata_key(self.definition.record, key))


@PerView
def get_skills(view: OrgView) -> dict[str, VisibleSkill]:
    """Every skill that an organization sees, by name. Skills with more gates come first, then the order is by name."""
    skills = []
    for definition in view.records.cognitive_skills.values():
        gates = read_gates(definition.record)
        # Collected once for each organization and not for each subject: a broken gate withholds the skill from all of
        # them.
        problems = (
            *find_closing_violations(definition.document),
            *gates.problems,
            *find_unknown_names(view.records, definition, gates),
        )
        skills.append(VisibleSkill(definition, gates, problems))
    # A host that reads only the first ones shows those that were written for fewer subjects.
    skills.sort(key=lambda each: (-_count_gates(each.gates), each.name))
    return {each.name: each for each in skills}


def _count_gates(gates: SkillGates) -> int:
    """The number of gates of a skill. A skill with more gates is more specific."""
    return bool(gates.departments) + bool(gates.skill_id) + bool(gates.min_rank) + (gates.min_proficiency > 1)


def find_withheld_reasons(view: OrgView, holder: CrewMember, skill: VisibleSkill) -> tuple[Reason, ...]:
    """The reasons why a skill is withheld from a subject, the first gate first; empty if the subject passes every gate."""
    return tuple(_find_withheld_reasons(view, holder, skill))


def _find_withheld_reasons(view: OrgView, holder: CrewMember, skill: VisibleSkill) -> Iterator[Reason]:
    gates, name = skill.gates, quote(skill.name)
    if skill.problems:
        why = tuple(cite_place(each.text, skill.definition.place(*each.route)) for each in skill.problems)
        yield Reason("SKILL_INVALID", f"skill {name} {skill.problems[0].text}", why)
        return
    profiles = [view.records.posts[role].profile for role in holder.roles]
    # One role has to pass both gates. An agent must not combine the department of one role with the skill of another.
    if not any(has_cognitive_skill(profile, gates) for profile in profiles):
        fitting = [each for each in profiles if is_for_department(each, gates)]
        if not fitting:
            text = f"skill {name} is for {_list_departments(gates)}, and {quote(holder.name)} is not in it"
            yield Reason("SKILL_OF_OTHER_DEPARTMENT", text, (_cite_key(skill, "department", text),))
        # Only the first gate that fails is named. A subject that is not in the department need not learn the other
        # gates.
        elif not any(gates.skill_id in list_required_skills(each) for each in fitting):
            text = f"skill {name} is for roles that require {quote(gates.skill_id)}"
            yield Reason("SKILL_NOT_OF_ROLE", text, (_cite_key(skill, "skill-id", text),))
        return
    if gates.min_rank and holder.rank < get_rank_number(view, gates.min_rank):
        ranks = view.records.ranks
        held = f"rank {quote(ranks[holder.rank].id)}" if holder.rank >= 0 else "no rank"
        text = f"skill {name} needs rank {quote(gates.min_rank)}, and {quote(holder.name)} has {held}"
        yield Reason("SKILL_RANK_TOO_LOW", text, (_cite_key(skill, "min-rank", text),))
    if gates.skill_id:
        yield from _check_proficiency(view, holder, skill)


def _check_proficiency(view: OrgView, holder: CrewMember, skill: VisibleSkill) -> Iterator[Reason]:
    gates, name, who = skill.gates, quote(skill.name), quote(holder.name)
    record = holder.skills.get(gates.skill_id)
    if record is not None and record.suspended:
        text = f"{who} holds {quote(gates.skill_id)}, which is suspended"
        yield Reason("SKILL_SUSPENDED", text, (_cite_key(skill, "skill-id", text),))
        return
    level = get_held_level(view, holder, gates.skill_id)
    if gates.min_proficiency > 1 and level < gates.min_proficiency:
        held = f"level {level}" if level else "no level"
        text = (
            f"skill {name} needs level {gates.min_proficiency} of {quote(gates.skill_id)}, "
            f"and {who} holds {held} of it"
        )
        yield Reason("SKILL_PROFICIENCY_TOO_LOW", text, (_cite_key(skill, "min-proficiency", text),))


def _list_departments(gates: SkillGates) -> str:
    return f"department{'s' * (len(gates.departments) > 1)} {listing(gates.departments)}"


def _cite_key(skill: VisibleSkill, key: str, text: str) -> Why:
    return cite_place(text, skill.place(key))


def build_skill_card(view: OrgView, holder: CrewMember, skill: VisibleSkill) -> SkillCard:
    """The description of a skill, for a subject that passes its gates."""
    gates, record = skill.gates, skill.definition.record
    return SkillCard(
        name=record.name,
        description=record.description,
        origin="internal" if gates.written else "external",
        departments=gates.departments,
        skill_id=gates.skill_id,
        min_proficiency=gates.min_proficiency,
        min_rank=gates.min_rank,
        intents=gates.intents,
        triggers=gates.triggers,
        activation=gates.activation,
        proficiency=get_held_level(view, holder, gates.skill_id) if gates.skill_id else None,
        why=(cite_place(f"skill {record.name} is declared", skill.definition.place("name")),),
    )


def list_skills(view: OrgView, state: StateView, subject: str, context: AccessContext) -> SkillList:
    """The names and descriptions of the skills that a subject sees now."""
    holder = find_member(view, state, subject, context)
    if isinstance(holder, Reason):
        return SkillList(subject, (), (), (holder,), view.digest, state.version)
    shown, withheld = [], []
    for skill in get_skills(view).values():
        reasons = find_withheld_reasons(view, holder, skill)
        if reasons:
            withheld.append(WithheldSkill(skill.name, reasons))
        else:
            shown.append(build_skill_card(view, holder, skill))
    return SkillList(subject, tuple(shown), tuple(withheld), (), view.digest, state.version)


def activate_skill(
    view: OrgView, state: StateView, subject: str, name: str, context: AccessContext
) -> SkillActivation:
    """The instructions of a skill, if a subject may have them now."""
    holder = find_member(view, state, subject, context)
    skill = get_skills(view).get(name)
    if isinstance(holder, Reason):
        reasons: tuple[Reason, ...] = (holder,)
    elif skill is None:
        help = did_you_mean(name, get_skills(view))
        text = f"there is no skill {quote(name)}" + (f"; {help}" if help else "")
        reasons = (Reason("SKILL_UNKNOWN", text),)
    else:
        reasons = find_withheld_reasons(view, holder, skill)
    if reasons or skill is None or isinstance(holder, Reason):
        return SkillActivation("deny", subject, name, reasons, None, "", "", view.digest, state.version)
    card = build_skill_card(view, holder, skill)
    text = f"{quote(subject)} passes every gate of skill {quote(name)}"
    opened = Reason("SKILL_OPEN", text, card.why)
    document = skill.definition.document
    return SkillActivation(
        "allow", subject, name, (opened,), card, skill.definition.record.body, document.digest, view.digest,
        state.version,
    )  # fmt: skip
