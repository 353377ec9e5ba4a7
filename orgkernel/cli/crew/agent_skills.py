"""`orgkernel agent`: skills, test results and promotions of agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import click

from orgkernel.cli.crew.agent_options import (
    agent_argument,
    agent_change_options,
    open_agent_operation,
    open_agent_question,
    timed_question_options,
)
from orgkernel.cli.output import echo_answer, format_count, join_lines, list_places
from orgkernel.cli.stores import echo_record, echo_records, open_question, parse_since, show_time
from orgkernel.decisions.crew.promotion import PromotionDecision
from orgkernel.decisions.crew.skill_profile import HeldSkill, SkillProfile
from orgkernel.decisions.evidence.qualifications import QualificationRecord
from orgkernel.decisions.evidence.state_view import SkillSource
from orgkernel.operations.agents import invalidate_result, promote_agent
from orgkernel.operations.skills import (
    acquire_skill,
    assess_skill,
    compute_level_now,
    exercise_skill,
    list_skill_history,
    resume_skill,
    suspend_skill,
)

_skill_argument = click.argument("skill")
_level_type = click.IntRange(1, 7)


def _add_source_option(default: SkillSource) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--source", type=click.Choice(get_args(SkillSource)), default=default, show_default=True,
        help="Where the level comes from.",
    )  # fmt: skip


@click.command("skills", short_help="Show the skills of an agent, decay included.")
@agent_argument
@click.option("--history", is_flag=True, help="List every change instead, oldest first.")
@timed_question_options
def skills(agent_id: str, history: bool, form: str, **where: Any) -> None:
    """Show the skills of an agent at their current levels, and what is missing for its roles and ranks."""
    kernel, org = open_agent_question(**where)
    if history:
        org_id = kernel.organization(org).snapshot.org_id
        with open_question(where["store"], kernel) as context:
            changes = list_skill_history(context, agent_id, org=org_id, until=parse_since(where["as_of"]))
        echo_records(
            form,
            changes,
            ("at", "skill", "activity", "level", "source", "by", "note"),
            lambda each: (
                show_time(each.at), each.skill, each.activity, each.proficiency, each.source, each.actor, each.note,
            ),
        )  # fmt: skip
        return
    profile = kernel.skill_profile(org, agent_id)
    echo_answer(form, profile, lambda: _render_profile(profile))


@click.command("acquire")
@agent_argument
@_skill_argument
@click.option(
    "--level", type=_level_type, default=1, show_default=True, metavar="1..7", help="Level of the agent."
)
@_add_source_option("experience")
@agent_change_options
def acquire(
    agent_id: str, skill: str, level: int, source: SkillSource, org: str | None, reason: str, form: str, **where: Any
) -> None:  # fmt: skip
    """Record that an agent has learned a skill. Its prerequisites are required at their levels."""
    with open_agent_operation(**where) as context:
        record = acquire_skill(context, agent_id, skill, level=level, source=source, org=org, reason=reason)
    echo_record(form, record, f"{agent_id} has {skill} at level {record.proficiency}")


@click.command("exercise", short_help="Record that an agent has practiced a skill.")
@agent_argument
@_skill_argument
@agent_change_options
def exercise(agent_id: str, skill: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Record that an agent has practiced a skill, which restarts its decay."""
    with open_agent_operation(**where) as context:
        record = exercise_skill(context, agent_id, skill, org=org, reason=reason)
        level = compute_level_now(context, record)
    done = format_count(record.exercises, "exercise")
    echo_record(form, record, f"{agent_id} has {skill} at level {level} after {done}")


@click.command("assess", short_help="Record the level of a skill after an assessment.")
@agent_argument
@_skill_argument
@click.argument("level", type=_level_type)
@_add_source_option("assessment")
@agent_change_options
def assess(
    agent_id: str, skill: str, level: int, source: SkillSource, org: str | None, reason: str, form: str, **where: Any
) -> None:  # fmt: skip
    """Record the assessed LEVEL, 1 to 7, of an agent's skill."""
    with open_agent_operation(**where) as context:
        record = assess_skill(context, agent_id, skill, level, source=source, org=org, reason=reason)
    echo_record(form, record, f"{agent_id} has {skill} at level {record.proficiency}")


@click.command("suspend-skill")
@agent_argument
@_skill_argument
@agent_change_options
def suspend(agent_id: str, skill: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Suspend a skill of an agent. Until it is resumed, the skill is ignored and does not decay."""
    with open_agent_operation(**where) as context:
        record = suspend_skill(context, agent_id, skill, org=org, reason=reason)
        level = compute_level_now(context, record)
    echo_record(form, record, f"{agent_id} has {skill} suspended at level {level}")


@click.command("resume-skill")
@agent_argument
@_skill_argument
@agent_change_options
def resume(agent_id: str, skill: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Resume a suspended skill of an agent."""
    with open_agent_operation(**where) as context:
        record = resume_skill(context, agent_id, skill, org=org, reason=reason)
        level = compute_level_now(context, record)
    echo_record(form, record, f"{agent_id} has {skill} at level {level}")


@click.command("results", short_help="Show the results of an agent in every test.")
@agent_argument
@timed_question_options
def results(agent_id: str, form: str, **where: Any) -> None:
    """Show the results of an agent in every test: whether it passed, its baseline and its drift."""
    kernel, org = open_agent_question(**where)
    record = kernel.qualification_record(org, agent_id)
    echo_answer(form, record, lambda: _render_results(record))


@click.command("invalidate")
@agent_argument
@click.argument("result_id", type=int, metavar="RESULT")
@agent_change_options
def invalidate(agent_id: str, result_id: int, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Invalidate a result of an agent. `--reason` is required; `agent results` shows the numbers."""
    with open_agent_operation(**where) as context:
        result = invalidate_result(context, agent_id, result_id, org=org, reason=reason)
    echo_record(form, result, f"result {result_id} of {agent_id} in {result.qualification} is no longer used")


@click.command("promotion", short_help="Show which ranks an agent could have, and why.")
@agent_argument
@timed_question_options
def promotion(agent_id: str, form: str, **where: Any) -> None:
    """Show which ranks an agent could have, with each requirement and the evidence. It changes nothing."""
    kernel, org = open_agent_question(**where)
    decision = kernel.promotion(org, agent_id)
    echo_answer(form, decision, lambda: _render_promotion(decision))


@click.command("promote", short_help="Give an agent the next rank, if it qualifies.")
@agent_argument
@click.option(
    "--override", default="", metavar="REASON", help="Promote although a requirement is not met, and say why."
)
@agent_change_options
def promote(agent_id: str, override: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Give an agent the next rank, if it meets every requirement. The audit log contains the evidence."""
    with open_agent_operation(**where) as context:
        agent = promote_agent(context, agent_id, override=override, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is {agent.rank}")


COMMANDS = (
    skills,
    acquire,
    exercise,
    assess,
    suspend,
    resume,
    results,
    invalidate,
    promotion,
    promote,
)  # fmt: skip


def _render_profile(profile: SkillProfile) -> str:
    return join_lines(_render_skill_profile(profile))


def _render_skill_profile(profile: SkillProfile) -> Iterator[str]:
    yield f"{profile.agent_id} of {profile.org_id}: depth {profile.depth}, breadth {profile.breadth}"
    for group in ("universal", "role", "acquired"):
        held: tuple[HeldSkill, ...] = getattr(profile, group)
        if held:
            yield f"{group} skills"
        for each in held:
            yield f"  {each.skill} {_render_level(each)}"
            yield from list_places(each.why)
    for gap in profile.gaps:
        yield f"  {'could use' if gap.optional else 'lacks'} {gap.skill}: {gap.text}"
        if gap.blocked_by:
            yield f"      needs first {', '.join(gap.blocked_by)}"
        yield from list_places(gap.why)
    for rank in profile.rank_gaps:
        yield f"for {rank.rank}"
        yield from (f"  {each.text}" for each in rank.unmet)
        if not rank.unmet:
            yield "  nothing is missing"


def _render_level(skill: HeldSkill) -> str:
    name = f" ({skill.level_name})" if skill.level_name else ""
    suspended = ", suspended" if skill.suspended else ""
    practiced = f"{format_count(skill.exercises, 'exercise')}, from {skill.source}"
    until = f", loses a level at {skill.decays_at}" if skill.decays_at else ""
    external = "".join(f", {scheme} {code}" for scheme, code in skill.external.items())
    return f"level {skill.level}{name}{suspended}, {practiced}{until}{external}"


def _render_results(record: QualificationRecord) -> str:
    return join_lines(_result_lines(record))


def _result_lines(record: QualificationRecord) -> Iterator[str]:
    if not record.qualifications:
        yield f"{record.agent_id} of {record.org_id} has taken no tests, and none are declared"
    for each in record.qualifications:
        yield f"{each.qualification} {'is passed' if each.passed else 'is not passed'}: {each.text}"
        yield from list_places(each.why)
        for result in record.results:
            if result.qualification == each.qualification:
                about = "baseline" if each.baseline == result else "passed" if result.passed else "failed"
                invalid = f", invalid: {result.invalid_reason}" if result.invalidated_at is not None else ""
                size = "" if result.sample_size is None else f" in {result.sample_size} cases"
                yield f"  {result.result_id}  {show_time(result.at)}  {result.score:g}{size}  {about}{invalid}"
        if each.drift is not None:
            yield f"  drift {each.drift.outcome.replace('_', ' ')}: {each.drift.text}"


def _render_promotion(decision: PromotionDecision) -> str:
    return join_lines(_render_promotion_lines(decision))


def _render_promotion_lines(decision: PromotionDecision) -> Iterator[str]:
    low, high = decision.credible_interval
    yield f"{decision.agent_id} of {decision.org_id}, {decision.rank or 'no rank'}"
    yield f"trust {decision.trust}; between {low:.2f} and {high:.2f} with 95 % probability"
    for path in decision.paths:
        yield f"{path.kind} to {path.rank}: {path.outcome.replace('_', ' ')}"
        for each in path.requirements:
            yield f"  {'met' if each.met else 'not met'}: {each.text}"
            yield from list_places(each.why)
    if not decision.paths:
        yield "the organization declares no other rank"
