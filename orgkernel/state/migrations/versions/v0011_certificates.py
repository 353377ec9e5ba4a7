"""Keys of agents can be revoked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """From version 0010 to 0011: a table that nothing was stored in before."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "key_revocations",
        *(sa.Column(name, words, nullable=False) for name in ("org_id", "did", "agent_id")),
        sa.Column("at", sa.Float(), nullable=False),
        *(sa.Column(name, words, nullable=False) for name in ("actor", "reason")),
        sa.PrimaryKeyConstraint("org_id", "did"),
    )
