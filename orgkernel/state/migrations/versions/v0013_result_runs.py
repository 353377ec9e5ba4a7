"""A test result names its run, and a raised level the result that raised it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """From version 0012 to 0013.

    Earlier results have no run, and the levels that they raised are not known: if one of them is invalidated, the level stays.
    """
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("qualification_results", sa.Column("run", words, nullable=False, server_default=""))
    op.add_column("skill_assessments", sa.Column("result_id", sa.Integer))
