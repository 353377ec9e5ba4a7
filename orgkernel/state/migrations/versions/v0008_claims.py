"""Claims of files, with leases and fencing tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """From version 0007 to 0008: a table that nothing was stored in before."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "file_claims",
        sa.Column("org_id", words, nullable=False),
        sa.Column("token", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("holder", words, nullable=False),
        sa.Column("paths", words, nullable=False),
        *(sa.Column(name, words, nullable=True) for name in ("session", "planner")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("claimed_at", "expires_at")),
        sa.Column("reason", words, nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("org_id", "token"),
    )
    op.create_index("ix_file_claims_live", "file_claims", ["org_id", "ended_at"], unique=False)
