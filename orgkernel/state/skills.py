"""Stored skills of agents: the recorded level of each, and every change of it.

Functions that take a `Transaction` are the parts of larger changes: commissioning an agent, recording a test or a
piece of work. The documents declare prerequisites and decay; callers pass them as `SkillTerms`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, insert, or_, select, update

from orgkernel.decisions.evidence.skill_levels import (
    DAY,
    HIGHEST,
    LOWEST,
    SkillTerms,
    compute_level,
    compute_practiced_level,
    count_lapsed,
    count_lapsed_by_test,
)
from orgkernel.decisions.evidence.state_records import AuditEntry, SkillActivity, SkillAssessment
from orgkernel.decisions.evidence.state_view import SKILL_SOURCES, SkillRecord, SkillSource
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.chain import clean_text
from orgkernel.state.clock_gap import FAR_SECONDS, measure_gap
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id, require_word
from orgkernel.state.skill_raises import add_raising_tests, list_raises, read_results
from orgkernel.state.tables import skill_assessments, skill_records
from orgkernel.state.writer import Transaction

SKILL_HELD, SKILL_SUSPENDED, NOT_SUSPENDED = "SKILL_HELD", "SKILL_SUSPENDED", "NOT_SUSPENDED"
PREREQUISITE_MISSING = "PREREQUISITE_MISSING"


class Skills:
    """The skills of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def acquire(
        self,
        agent_id: str,
        terms: SkillTerms,
        *,
        org_id: str,
        actor: str,
        level: int = LOWEST,
        source: SkillSource = "experience",
        note: str = "",
    ) -> SkillRecord:
        """Add a skill.

        Raises `Conflict`: `SKILL_HELD` if it is held already, `PREREQUISITE_MISSING` if a prerequisite is not held at its
        level now.
        """
        _require_agent(org_id, agent_id)
        _require_level(level)
        require_word("the source", source, SKILL_SOURCES)

        def change(transaction: Transaction) -> SkillRecord:
            if (held := find_skill(transaction, org_id, agent_id, terms.skill)) is not None:
                raise Conflict(
                    f"the agent {quote(agent_id)} already has the skill {quote(terms.skill)}, at level "
                    f"{_compute_current_level(transaction, held, terms)}",
                    f"`orgkernel agent assess {agent_id} {terms.skill} LEVEL` changes its level",
                    SKILL_HELD,
                )
            # Within the transaction: a prerequisite could be suspended or decay while the request waits.
            _require_prerequisites(transaction, org_id, agent_id, terms, f"acquire {quote(terms.skill)}")
            return _add(
                transaction, org_id, agent_id, terms.skill, level, source=source, actor=actor, note=note
            )

        return self._context.change(change)

    def exercise(
        self, agent_id: str, terms: SkillTerms, *, org_id: str, actor: str, note: str = ""
    ) -> SkillRecord:
        """Record that a skill was practiced. Raises as `exercise_skill`."""
        _require_agent(org_id, agent_id)
        return self._context.change(
            lambda transaction: exercise_skill(transaction, org_id, agent_id, terms, actor=actor, note=note)
        )

    def assess(
        self,
        agent_id: str,
        terms: SkillTerms,
        level: int,
        *,
        org_id: str,
        actor: str,
        source: SkillSource = "assessment",
        note: str = "",
    ) -> SkillRecord:
        """Record an assessed level. Raises `UnknownRecord` for a missing skill, `Refused`, and for a level above the current one
        `Conflict` (`PREREQUISITE_MISSING`) as `acquire`.
        """
        _require_agent(org_id, agent_id)
        _require_level(level)
        require_word("the source", source, SKILL_SOURCES)

        def change(transaction: Transaction) -> SkillRecord:
            held = require_skill(transaction, org_id, agent_id, terms.skill)
            if level > _compute_current_level(transaction, held, terms):
                goal = f"reach level {level} of {quote(terms.skill)}"
                _require_prerequisites(transaction, org_id, agent_id, terms, goal)
            return _set(
                transaction, held, "assessed", actor, note,
                proficiency=level, source=source, decays_from=transaction.now,
            )  # fmt: skip

        return self._context.change(change)

    def suspend(
        self, agent_id: str, terms: SkillTerms, *, org_id: str, actor: str, note: str = ""
    ) -> SkillRecord:
        """Suspend a skill: until it is resumed, it is ignored and does not decay. Raises `Conflict`."""
        _require_agent(org_id, agent_id)

        def change(transaction: Transaction) -> SkillRecord:
            held = require_skill(transaction, org_id, agent_id, terms.skill)
            _require_in_use(held)
            # Suspending freezes the level. A clock that is ahead must not freeze one that is too low.
            believed = transaction.now - _measure_doubt(transaction, terms)
            return _set(
                transaction, held, "suspended", actor, note, suspended=True, decays_from=believed,
                proficiency=compute_practiced_level(held, terms.decay_days, believed),
            )  # fmt: skip

        return self._context.change(change)

    def resume(self, agent_id: str, skill: str, *, org_id: str, actor: str, note: str = "") -> SkillRecord:
        """Let a suspended skill count again, at the level it had. Raises `Conflict` (`NOT_SUSPENDED`)."""
        _require_agent(org_id, agent_id)

        def change(transaction: Transaction) -> SkillRecord:
            held = require_skill(transaction, org_id, agent_id, skill)
            if not held.suspended:
                raise Conflict(
                    f"the skill {quote(skill)} of the agent {quote(agent_id)} is not suspended",
                    code=NOT_SUSPENDED,
                )
            return _set(
                transaction, held, "resumed", actor, note, suspended=False, decays_from=transaction.now
            )

        return self._context.change(change)

    def list(self, org_id: str | None = None, agent_id: str | None = None) -> tuple[SkillRecord, ...]:
        """The records of all organizations, or of one, or of one of its agents, by agent, skill and organization."""
        query = select(skill_records)
        if org_id is not None:
            query = query.where(skill_records.c.org_id == org_id)
        if agent_id is not None:
            query = query.where(skill_records.c.agent_id == agent_id)
        query = query.order_by(skill_records.c.agent_id, skill_records.c.skill, skill_records.c.org_id)
        with self._context.reading() as connection:
            records = [decode_record(SkillRecord, row) for row in connection.execute(query)]
            return add_raising_tests(connection, records)

    def history(
        self, org_id: str, agent_id: str, *, after: int = 0, limit: int | None = None
    ) -> tuple[SkillAssessment, ...]:
        """Changes of the skills of an agent, oldest first: at most `limit` after the one of a number."""
        table = skill_assessments
        query = select(table).where(
            table.c.org_id == org_id, table.c.agent_id == agent_id, table.c.assessment_id > after
        )
        return self._context.read(SkillAssessment, query.order_by(table.c.assessment_id).limit(limit))


# -- parts of larger changes -------------------------------------------------------------------------------------------


def find_skill(transaction: Transaction, org_id: str, agent_id: str, skill: str) -> SkillRecord | None:
    """The record of a skill, or None."""
    row = transaction.connection.execute(
        select(skill_records).where(*_is_skill(org_id, agent_id, skill))
    ).first()
    return (
        None
        if row is None
        else add_raising_tests(transaction.connection, [decode_record(SkillRecord, row)])[0]
    )


def require_skill(transaction: Transaction, org_id: str, agent_id: str, skill: str) -> SkillRecord:
    """The record of a skill. Raises `UnknownRecord`."""
    record = find_skill(transaction, org_id, agent_id, skill)
    if record is None:
        raise UnknownRecord(
            f"the agent {quote(agent_id)} does not have the skill {quote(skill)}",
            f"`orgkernel agent acquire {agent_id} {skill}` adds it",
        )
    return record


def _add(
    transaction: Transaction,
    org_id: str,
    agent_id: str,
    skill: str,
    level: int,
    *,
    source: SkillSource,
    actor: str,
    note: str = "",
) -> SkillRecord:
    """Add a skill that is not held yet."""
    require_id("the skill", skill)
    record = build_new_skill(org_id, agent_id, skill, level, transaction.now, source)
    transaction.connection.execute(
        insert(skill_records).values({**encode_skill(record), "version": transaction.touch()})
    )
    _note(transaction, record, "acquired", actor, note)
    return record


def build_new_skill(
    org_id: str, agent_id: str, skill: str, level: int, now: float, source: SkillSource
) -> SkillRecord:
    """The record of a newly acquired skill."""
    return SkillRecord(agent_id, org_id, skill, level, now, source=source, decays_from=now)


def encode_skill(record: SkillRecord) -> dict[str, Any]:
    """A record of a skill as the values of its columns."""
    row = encode_row(record)
    del row["raised_by"]
    return row


def build_history_row(
    record: SkillRecord, activity: SkillActivity, at: float, actor: str, note: str
) -> dict[str, Any]:
    """A row of the history of a skill. The texts are clean."""
    return {
        "org_id": record.org_id, "agent_id": record.agent_id, "skill": record.skill, "at": at, "activity": activity,
        "proficiency": record.proficiency, "source": record.source, "actor": actor, "note": note,
    }  # fmt: skip


def exercise_skill(
    transaction: Transaction,
    org_id: str,
    agent_id: str,
    terms: SkillTerms,
    *,
    actor: str,
    note: str = "",
) -> SkillRecord:
    """Record that a skill was practiced: its decay until now becomes permanent, and the decay restarts.

    Raises `UnknownRecord`, and `Conflict` (`SKILL_SUSPENDED`) for a skill that is suspended.
    """
    held = require_skill(transaction, org_id, agent_id, terms.skill)
    _require_in_use(held)
    level, since = _settle_decay(transaction, held, terms)
    return _set(
        transaction, held, "exercised", actor, note, proficiency=level,
        last_exercised_at=transaction.now, exercises=held.exercises + 1, decays_from=since,
    )  # fmt: skip


def raise_skill(
    transaction: Transaction,
    org_id: str,
    agent_id: str,
    terms: SkillTerms,
    highest: int,
    *,
    actor: str,
    result_id: int,
    note: str = "",
) -> SkillRecord | None:
    """Raise a skill by one level, up to `highest`, because a test was passed with a result.

    None if the skill is not held, is suspended, is there already, or lacks a prerequisite. Call `lower_lapsed` before the
    result is stored, so that the new step is added to a level that rests on valid results.
    """
    held = find_skill(transaction, org_id, agent_id, terms.skill)
    if held is None or held.suspended:
        return None
    level, since = _settle_decay(transaction, held, terms)
    current = _compute_current_level(transaction, held, terms)
    if current >= min(highest, HIGHEST) or any(
        _explain_lacking(transaction, org_id, agent_id, prerequisite, lowest)
        for prerequisite, lowest in terms.prerequisites
    ):
        return None
    return _set(
        transaction, held, "raised", actor, note, result_id=result_id,
        proficiency=min(level + 1, HIGHEST), source="qualification", decays_from=since,
    )  # fmt: skip


def lower_lapsed(
    transaction: Transaction, org_id: str, agent_id: str, terms: SkillTerms, *, actor: str
) -> None:
    """Take back the levels of a skill whose results are no longer valid. While the clock is in doubt, they stay open.

    Without a new result this is not needed, and would be wrong: what made a result invalid, such as a changed file, can be undone.
    """
    held = find_skill(transaction, org_id, agent_id, terms.skill)
    if held is None or not held.raised_by or _measure_doubt(transaction, terms):
        return
    results = read_results(transaction.connection, org_id, agent_id)
    valid = {each.result_id for each in results if terms.is_valid(each, transaction.now)}
    raises = [
        each
        for each in list_raises(transaction.connection, {(org_id, agent_id)})
        if each.skill == terms.skill and each.result_id not in valid
    ]
    lapsed_by_test = count_lapsed_by_test(held, results, terms.is_valid, transaction.now)
    for qualification, lapsed in lapsed_by_test.items():
        for each in [each for each in raises if each.qualification == qualification][:lapsed]:
            held = _set(
                transaction, held, "lowered", actor,
                f"result {each.result_id} of {each.qualification} is no longer valid",
                result_id=each.result_id, proficiency=max(LOWEST, held.proficiency - 1),
            )  # fmt: skip


def lower_skills(
    transaction: Transaction, org_id: str, agent_id: str, result_id: int, *, actor: str, note: str = ""
) -> None:
    """Take back the levels that a result gave, because it is no longer valid.

    A level that was assessed since then rests on the assessment, and stays. One that was taken back is not taken again.
    """
    table = skill_assessments.c
    is_agent = (table.org_id == org_id, table.agent_id == agent_id)
    raised = transaction.connection.execute(
        select(table.skill, table.assessment_id).where(
            *is_agent, table.result_id == result_id, table.activity == "raised"
        )
    )
    for skill, assessment_id in raised.all():
        later = select(table.assessment_id).where(
            *is_agent, table.skill == skill, table.assessment_id > assessment_id,
            or_(table.activity == "assessed", table.result_id == result_id),
        )  # fmt: skip
        held = find_skill(transaction, org_id, agent_id, skill)
        if held is not None and transaction.connection.execute(later).first() is None:
            _set(
                transaction, held, "lowered", actor, note,
                result_id=result_id, proficiency=max(LOWEST, held.proficiency - 1),
            )  # fmt: skip


def _settle_decay(transaction: Transaction, held: SkillRecord, terms: SkillTerms) -> tuple[int, float]:
    """The level after its decay until now, and the time from which it decays further.

    While the clock is in doubt, the decay stays open, because a level that was lowered by a clock that is ahead does not return.
    """
    if _measure_doubt(transaction, terms):
        return held.proficiency, held.decays_from
    return compute_practiced_level(held, terms.decay_days, transaction.now), transaction.now


def _compute_current_level(transaction: Transaction, held: SkillRecord, terms: SkillTerms) -> int:
    lapsed = 0
    if held.raised_by:
        results = read_results(transaction.connection, held.org_id, held.agent_id)
        lapsed = count_lapsed(held, results, terms.is_valid, transaction.now)
    return compute_level(held, terms.decay_days, lapsed, transaction.now)


def _measure_doubt(transaction: Transaction, terms: SkillTerms) -> float:
    """The seconds by which the clock may be ahead, if it could cost a level. Zero if it is believed."""
    gap = measure_gap(transaction.connection, transaction.now)
    return gap if gap > min(FAR_SECONDS, terms.decay_days * DAY) else 0.0


def _set(
    transaction: Transaction,
    old: SkillRecord,
    activity: SkillActivity,
    actor: str,
    note: str,
    *,
    result_id: int | None = None,
    **values: Any,
) -> SkillRecord:
    new = msgspec.structs.replace(old, **values)
    transaction.connection.execute(
        update(skill_records)
        .where(*_is_skill(old.org_id, old.agent_id, old.skill))
        .values(**values, version=transaction.touch())
    )
    _note(transaction, new, activity, actor, note, result_id)
    return add_raising_tests(transaction.connection, [new])[0]


def _note(
    transaction: Transaction,
    record: SkillRecord,
    activity: SkillActivity,
    actor: str,
    note: str,
    result_id: int | None = None,
) -> None:
    """Write a change into the history and into the audit."""
    note = clean_text(note)
    row = build_history_row(record, activity, transaction.now, clean_text(actor), note)
    transaction.connection.execute(insert(skill_assessments).values(row | {"result_id": result_id}))
    transaction.audit(
        AuditEntry(
            "skill",
            transaction.now,
            activity,
            subject=f"agent:{record.agent_id}",
            actor=actor,
            org_id=record.org_id,
            record_id=record.skill,
            reason=note,
            detail={"level": record.proficiency, "source": record.source},
        )
    )


def _is_skill(org_id: str, agent_id: str, skill: str) -> tuple[ColumnElement[bool], ...]:
    columns = skill_records.c
    return columns.org_id == org_id, columns.agent_id == agent_id, columns.skill == skill


def _require_prerequisites(
    transaction: Transaction, org_id: str, agent_id: str, terms: SkillTerms, goal: str
) -> None:
    """Raise `Conflict` (`PREREQUISITE_MISSING`) unless every prerequisite of a skill is held at its level now."""
    for prerequisite, lowest in terms.prerequisites:
        lacking = _explain_lacking(transaction, org_id, agent_id, prerequisite, lowest)
        if lacking is not None:
            raise Conflict(
                f"the agent {quote(agent_id)} cannot {goal}: it {lacking}, and level {lowest} is required",
                code=PREREQUISITE_MISSING,
            )


def _explain_lacking(
    transaction: Transaction, org_id: str, agent_id: str, prerequisite: SkillTerms, lowest: int
) -> str | None:
    """How an agent lacks a prerequisite; None if it holds it at its level."""
    held = find_skill(transaction, org_id, agent_id, prerequisite.skill)
    if held is None:
        return f"does not have {quote(prerequisite.skill)}"
    if held.suspended:
        return f"has {quote(prerequisite.skill)} suspended"
    level = _compute_current_level(transaction, held, prerequisite)
    return None if level >= lowest else f"has {quote(prerequisite.skill)} at level {level}"


def _require_in_use(held: SkillRecord) -> None:
    if held.suspended:
        raise Conflict(
            f"the skill {quote(held.skill)} of the agent {quote(held.agent_id)} is suspended",
            f"`orgkernel agent resume-skill {held.agent_id} {held.skill}` resumes it",
            SKILL_SUSPENDED,
        )


def _require_agent(org_id: str, agent_id: str) -> None:
    require_id("the organization", org_id)
    require_id("the agent", agent_id)


def _require_level(level: int) -> None:
    if not LOWEST <= level <= HIGHEST:
        raise Refused(
            f"level {level} is out of range", f"use a level from {LOWEST} to {HIGHEST}", code="BAD_VALUE"
        )
