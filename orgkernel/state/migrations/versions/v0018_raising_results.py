"""Raises of skills are found by their results, also those that were recorded before version 0013."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """From version 0017 to 0018: an index of the raises, and the results of old raises.

    A raise was stored in the transaction of its result, at the same time and with the name of the test, so the result is known.
    """
    op.execute(
        """
        UPDATE skill_assessments SET result_id = (
            SELECT max(result.result_id) FROM qualification_results AS result
            WHERE result.org_id = skill_assessments.org_id AND result.agent_id = skill_assessments.agent_id
            AND result.at = skill_assessments.at AND skill_assessments.note = 'passed ' || result.qualification
        ) WHERE activity = 'raised' AND result_id IS NULL
        """
    )
    op.create_index(
        "ix_skill_assessments_result_id",
        "skill_assessments",
        ["result_id"],
        sqlite_where=sa.text("result_id IS NOT NULL"),
        postgresql_where=sa.text("result_id IS NOT NULL"),
    )
