"""Stored data about agents: rank, trust, lifecycle and test results.

The roster of an organization declares that an agent exists, and its starting values. After that, these rows take
precedence in that organization. An agent with the same name in another organization is another agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

import msgspec
from sqlalchemy import ColumnElement, insert, select, update

from orgkernel.decisions.evidence.skill_levels import SkillTerms
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.evidence.state_view import AgentState, Lifecycle, QualificationResult
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.chain import clean_text
from orgkernel.state.rows import (
    StoreContext,
    decode_record,
    encode_row,
    require_id,
    require_time,
    require_word,
)
from orgkernel.state.skills import lower_lapsed, lower_skills, raise_skill
from orgkernel.state.tables import agents, qualification_results
from orgkernel.state.writer import Transaction

_MOVES: dict[Lifecycle, tuple[Lifecycle, ...]] = {
    "registered": ("probationary",),
    "probationary": ("active", "decommissioned"),
    "active": ("suspended", "decommissioned"),
    "suspended": ("active", "decommissioned"),
    "decommissioned": (),
}
"""The states that an agent can enter from each state."""
ACTIVATION_TRUST = 0.65
"""An agent leaves probation at this trust, if its trust is known."""
_MAX_DIGESTS = 16
_MAX_SAMPLES = 10**9


class Agents:
    """The agents of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def add(
        self,
        agent_id: str,
        *,
        org_id: str,
        actor: str,
        rank: str | None = None,
        trust: float | None = None,
        lifecycle: Lifecycle = "active",
        reason: str = "",
    ) -> AgentState:
        """Add an agent to an organization. Raises `Conflict` if its id exists there already."""
        agent = AgentState(
            require_id("the agent", agent_id), _require_rank(rank), _require_trust(trust), lifecycle,
            require_id("the organization", org_id),
        )  # fmt: skip
        require_word("the lifecycle", lifecycle, get_args(Lifecycle))

        def change(transaction: Transaction) -> AgentState:
            query = select(agents).where(*_match_agent(org_id, agent_id))
            if transaction.connection.execute(query).first() is not None:
                raise Conflict(
                    f"the agent {quote(agent_id)} already exists", "`orgkernel agent list` shows it"
                )
            transaction.connection.execute(
                insert(agents).values(**encode_row(agent), version=transaction.touch())
            )
            audit_agent(transaction, "created", actor, reason, agent, None)
            return agent

        return self._context.change(change)

    def set_rank(
        self,
        agent_id: str,
        rank: str | None,
        *,
        org_id: str,
        actor: str,
        reason: str = "",
        promotion: Mapping[str, Any] | None = None,
        override: Sequence[str] = (),
    ) -> AgentState:
        """Promote or demote; raises `UnknownRecord`. The audit keeps `promotion`, the evidence for it, or `override`, the
        requirements that were not met.
        """
        more: dict[str, Any] = {} if promotion is None else {"promotion": promotion}
        more |= {"override": [*override]} if override else {}
        activity = "ranked" if promotion is None else "promoted"
        return self._update(org_id, agent_id, activity, actor, reason, more, rank=_require_rank(rank))

    def set_trust(
        self, agent_id: str, trust: float | None, *, org_id: str, actor: str, reason: str = ""
    ) -> AgentState:
        """Set the trust of an agent, 0 to 1. Raises `UnknownRecord`."""
        return self._update(org_id, agent_id, "trusted", actor, reason, None, trust=_require_trust(trust))

    def move(
        self, agent_id: str, lifecycle: Lifecycle, *, org_id: str, actor: str, reason: str = ""
    ) -> AgentState:
        """Change the state of an agent. Raises `Conflict` (`MOVE_NOT_ALLOWED`, `TRUST_TOO_LOW`)."""
        require_word("the lifecycle", lifecycle, _MOVES)
        return self._update(org_id, agent_id, lifecycle, actor, reason, None, lifecycle=lifecycle)

    def get(self, org_id: str, agent_id: str) -> AgentState | None:
        """The stored agent of an organization, or of all organizations (`*`); or None."""
        return self._context.find(AgentState, select(agents).where(*_match_agent(org_id, agent_id)))

    def list(self) -> tuple[AgentState, ...]:
        """All stored agents, by id and organization."""
        return self._context.read(AgentState, select(agents).order_by(agents.c.agent_id, agents.c.org_id))

    def _update(
        self,
        org_id: str,
        agent_id: str,
        activity: str,
        actor: str,
        reason: str,
        more: Mapping[str, Any] | None,
        **values: object,
    ) -> AgentState:
        def change(transaction: Transaction) -> AgentState:
            where = _match_agent(org_id, agent_id)
            row = transaction.connection.execute(select(agents).where(*where)).first()
            if row is None:
                raise UnknownRecord(
                    f"there is no agent {quote(agent_id)}", "add it with `orgkernel agent add`"
                )
            old = decode_record(AgentState, row)
            new = msgspec.structs.replace(old, **values)
            if "lifecycle" in values:
                _require_move(old, new.lifecycle)
            transaction.connection.execute(
                update(agents).where(*where).values(**values, version=transaction.touch())
            )
            audit_agent(transaction, activity, actor, reason, new, more)
            return new

        return self._context.change(change)


def _match_agent(org_id: str, agent_id: str) -> tuple[ColumnElement[bool], ...]:
    """The conditions for the row of one agent."""
    return agents.c.org_id == org_id, agents.c.agent_id == agent_id


def _require_move(agent: AgentState, lifecycle: Lifecycle) -> None:
    allowed = _MOVES[agent.lifecycle]
    if lifecycle not in allowed:
        help = f"from there it may become {listing(allowed)}" if allowed else "this state is final"
        raise Conflict(
            f"the agent {quote(agent.agent_id)} is {agent.lifecycle} and cannot become {lifecycle}",
            help,
            code="MOVE_NOT_ALLOWED",
        )
    is_activation = agent.lifecycle == "probationary" and lifecycle == "active"
    if is_activation and agent.trust is not None and agent.trust < ACTIVATION_TRUST:
        raise Conflict(
            f"the agent {quote(agent.agent_id)} has a trust of {agent.trust:g}",
            f"it becomes active from {ACTIVATION_TRUST:g}",
            code="TRUST_TOO_LOW",
        )


def _require_rank(rank: str | None) -> str | None:
    return None if rank is None else require_id("the rank", rank)


def _require_trust(trust: float | None) -> float | None:
    if trust is not None and not 0 <= trust <= 1:
        raise Refused(
            f"a trust of {trust:g} is out of range", "use a number between 0 and 1", code="BAD_VALUE"
        )
    return trust


def audit_agent(
    transaction: Transaction,
    activity: str,
    actor: str,
    reason: str,
    now: AgentState,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write a change of an agent into the audit, with its stored state after the change."""
    transaction.audit(
        AuditEntry(
            "agent",
            transaction.now,
            activity,
            subject=f"agent:{now.agent_id}",
            actor=actor,
            org_id=now.org_id,
            record_id=now.agent_id,
            reason=reason,
            detail={"rank": now.rank, "trust": now.trust, "lifecycle": now.lifecycle, **(more or {})},
        )
    )


def count_outcome(transaction: Transaction, org_id: str, agent_id: str, *, succeeded: bool) -> None:
    """Count a piece of work towards the trust in an agent. Raises `UnknownRecord`. The caller writes the audit."""
    column = agents.c.successes if succeeded else agents.c.failures
    changed = transaction.connection.execute(
        update(agents)
        .where(*_match_agent(org_id, agent_id))
        .values({column.name: column + 1, "version": transaction.touch()})
    )
    if not changed.rowcount:
        raise UnknownRecord(f"there is no agent {quote(agent_id)}", "add it with `orgkernel agent add`")


class Results:
    """The results of qualification tests in a store. A result is never deleted, only invalidated."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def record(
        self,
        agent_id: str,
        qualification: str,
        *,
        org_id: str,
        score: float,
        passed: bool,
        actor: str,
        expires_at: float | None = None,
        sample_size: int | None = None,
        digests: Mapping[str, str] = MappingProxyType({}),
        run: str = "",
        raises: Sequence[tuple[SkillTerms, int]] = (),
        reason: str = "",
    ) -> QualificationResult:
        """Store the result of one test, and raise skills by one step, each up to a level. A score is between 0 and 1.

        A run has one result: the same one again is returned as it is stored. Without a run, a result that equals an earlier one
        cannot be told from it, so it raises nothing. Raises `Refused`, and `Conflict` (`RUN_RECORDED`) for another result of a
        run.
        """
        require_id("the organization", org_id)
        require_id("the agent", agent_id)
        require_id("the qualification", qualification)
        if not 0 <= score <= 1:
            raise Refused(
                f"a score of {score:g} is out of range", "use a number between 0 and 1", code="BAD_VALUE"
            )

        require_time("the end", expires_at)
        require_evidence(sample_size, digests)

        if run:
            require_id("the run", run)

        def change(transaction: Transaction) -> QualificationResult:
            result = QualificationResult(
                agent_id, qualification, score, passed, transaction.now, expires_at, org_id,
                sample_size=sample_size, digests=dict(digests), run=run,
            )  # fmt: skip
            earlier = _find_same_evidence(transaction, result)
            if run and earlier is not None:
                return earlier
            for terms, _ in raises if earlier is None else ():
                lower_lapsed(transaction, org_id, agent_id, terms, actor=actor)
            row = encode_row(result)
            del row["result_id"]
            written = transaction.connection.execute(
                insert(qualification_results).values(**row, version=transaction.touch())
            )
            (result_id,) = written.inserted_primary_key or (0,)
            result = msgspec.structs.replace(result, result_id=result_id)
            transaction.audit(
                AuditEntry(
                    "result",
                    transaction.now,
                    "passed" if passed else "failed",
                    subject=f"agent:{agent_id}",
                    actor=actor,
                    org_id=org_id,
                    record_id=qualification,
                    reason=reason,
                    detail={
                        "score": score,
                        "expires_at": expires_at,
                        "result": result_id,
                        "sample_size": sample_size,
                        "digests": dict(digests),
                        "run": run,
                    },
                )
            )
            for terms, highest in raises if earlier is None else ():
                raise_skill(
                    transaction, org_id, agent_id, terms, highest, actor=actor, result_id=result_id,
                    note=f"passed {qualification}",
                )  # fmt: skip
            return result

        return self._context.change(change)

    def invalidate(self, result_id: int, *, org_id: str, actor: str, reason: str) -> QualificationResult:
        """Invalidate a result, with a reason, and take back the levels that it gave. Raises `UnknownRecord`, `Conflict` and
        `Refused`.
        """
        if not reason.strip():
            raise Refused(
                "invalidating a result needs a reason", "pass the reason with `--reason`", "BAD_VALUE"
            )
        table = qualification_results
        where = (table.c.result_id == result_id, table.c.org_id == org_id)

        def change(transaction: Transaction) -> QualificationResult:
            row = transaction.connection.execute(select(table).where(*where)).first()
            if row is None:
                raise UnknownRecord(
                    f"there is no result {result_id}", "`orgkernel agent results AGENT` lists them"
                )
            old = decode_record(QualificationResult, row)
            if old.invalidated_at is not None:
                raise Conflict(f"the result {result_id} is already invalid", code="ALREADY_INVALID")
            values = {"invalidated_at": transaction.now, "invalid_reason": clean_text(reason)}
            transaction.connection.execute(
                update(table).where(*where).values(**values, version=transaction.touch())
            )
            transaction.audit(
                AuditEntry(
                    "result",
                    transaction.now,
                    "invalidated",
                    subject=f"agent:{old.agent_id}",
                    actor=actor,
                    org_id=org_id,
                    record_id=old.qualification,
                    reason=reason,
                    detail={"result": result_id},
                )
            )
            note = f"result {result_id} of {old.qualification} is invalid"
            lower_skills(transaction, org_id, old.agent_id, result_id, actor=actor, note=note)
            return msgspec.structs.replace(old, **values)

        return self._context.change(change)

    def list(self, agent_id: str | None = None) -> tuple[QualificationResult, ...]:
        """Results, oldest first."""
        query = select(qualification_results).order_by(qualification_results.c.result_id)
        if agent_id is not None:
            query = query.where(qualification_results.c.agent_id == agent_id)
        return self._context.read(QualificationResult, query)


def _find_same_evidence(transaction: Transaction, result: QualificationResult) -> QualificationResult | None:
    """The earlier result of the same run, or without a run an earlier one with the same score, sample size and digests.

    Raises `Conflict` (`RUN_RECORDED`) if the run has another result.
    """
    table = qualification_results.c
    query = select(qualification_results).where(
        table.org_id == result.org_id, table.agent_id == result.agent_id,
        table.qualification == result.qualification, table.run == result.run,
    )  # fmt: skip
    for row in transaction.connection.execute(query.order_by(table.result_id)):
        earlier = decode_record(QualificationResult, row)
        if (earlier.score, earlier.sample_size, earlier.digests) == (
            result.score,
            result.sample_size,
            result.digests,
        ):
            return earlier
        if result.run:
            raise Conflict(
                f"run {quote(result.run)} of {quote(result.qualification)} already has another result, {earlier.result_id}",
                "record another run under its own id",
                "RUN_RECORDED",
            )
    return None


def require_evidence(sample_size: int | None, digests: Mapping[str, str]) -> None:
    """Raise `Refused` if the evidence of a test cannot be stored."""
    if sample_size is not None and not 1 <= sample_size < _MAX_SAMPLES:
        raise Refused(
            f"a sample size of {sample_size} is out of range", "use a positive number", code="BAD_VALUE"
        )
    if len(digests) > _MAX_DIGESTS:
        raise Refused(
            f"a result has {len(digests)} digests", f"it can have at most {_MAX_DIGESTS}", code="BAD_VALUE"
        )
    for name, digest in digests.items():
        require_id("the name of the digest", name)
        require_id("the digest", digest)
