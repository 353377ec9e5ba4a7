"""Results of qualification tests, append-only (crew-capability facts §5)."""

from __future__ import annotations

from sqlalchemy import insert, select

from orgkernel.decisions.state_records import AuditEntry
from orgkernel.decisions.state_view import QualificationResult
from orgkernel.errors import Refused
from orgkernel.state.rows import Rows, record_of, require_id, require_time, row_of
from orgkernel.state.tables import qualification_results
from orgkernel.state.transaction import Transaction


class Results:
    """The results of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def record(
        self,
        agent_id: str,
        qualification: str,
        *,
        score: float,
        passed: bool,
        actor: str,
        expires_at: float | None = None,
        reason: str = "",
    ) -> QualificationResult:
        """Write down the outcome of one test; a score lies between 0 and 1. Raises `Refused`."""
        require_id("the agent", agent_id)
        require_id("the qualification", qualification)
        if not 0 <= score <= 1:
            raise Refused(
                f"a score of {score:g} is out of range", "it lies between 0 and 1", code="BAD_VALUE"
            )

        require_time("the end", expires_at)

        def change(transaction: Transaction) -> QualificationResult:
            result = QualificationResult(agent_id, qualification, score, passed, transaction.now, expires_at)
            transaction.connection.execute(
                insert(qualification_results).values(**row_of(result), version=transaction.touch())
            )
            transaction.audit(
                AuditEntry(
                    "result",
                    transaction.now,
                    "passed" if passed else "failed",
                    subject=f"agent:{agent_id}",
                    actor=actor,
                    record_id=qualification,
                    reason=reason,
                    detail={"score": score, "expires_at": expires_at},
                )
            )
            return result

        return self._rows.change(change)

    def list(self, agent_id: str | None = None) -> tuple[QualificationResult, ...]:
        """Results, oldest first."""
        query = select(qualification_results).order_by(qualification_results.c.result_id)
        if agent_id is not None:
            query = query.where(qualification_results.c.agent_id == agent_id)
        with self._rows.reading() as connection:
            return tuple(record_of(QualificationResult, row) for row in connection.execute(query))
