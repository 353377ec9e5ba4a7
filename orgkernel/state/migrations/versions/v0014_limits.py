"""Usage of limits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """From version 0013 to 0014: what calls take from limits."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "limit_uses",
        sa.Column("org_id", words, primary_key=True),
        sa.Column("call_id", words, primary_key=True),
        sa.Column("limit_id", words, primary_key=True),
        sa.Column("counter", words, primary_key=True),
        sa.Column("subject", words, nullable=False),
        sa.Column("tool_id", words, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("lease_until", sa.Float()),
        sa.Column("ended_at", sa.Float()),
        sa.Column("is_released", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_limit_uses_counted", "limit_uses", ["org_id", "limit_id", "counter", "at"])
