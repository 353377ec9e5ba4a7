"""Stored restrictions: upper bounds, separate from grants (policies and governance §4.7)."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.decisions.state_view import Restriction
from orgkernel.records.levels import ToolLevel
from orgkernel.state.issued import Issued, insert_issued
from orgkernel.state.rows import require_time
from orgkernel.state.tables import restrictions


class Restrictions(Issued[Restriction]):
    """The restrictions of a store."""

    KIND, ENDED, TABLE, record = "restriction", "lifted", restrictions, Restriction

    def issue(
        self,
        subject: str,
        resources: Sequence[str],
        *,
        issued_by: str,
        level: ToolLevel = "none",
        org_id: str | None = None,
        reason: str = "",
        expires_at: float | None = None,
    ) -> Restriction:
        """Leave a subject no more than `level` of some resources; raises `Refused` for what cannot be stored."""
        require_time("the end", expires_at)
        draft = Restriction(
            self._rows.new_id("x"), subject, tuple(resources), level, org_id, reason, issued_by, expires_at=expires_at
        )  # fmt: skip
        return self._rows.change(lambda transaction: insert_issued(transaction, restrictions, draft, {}))
