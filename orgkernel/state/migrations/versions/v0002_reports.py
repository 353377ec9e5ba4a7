"""SALUTE reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """From version 0001 to 0002: the reports of roles, and which of them is the latest."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "salute_reports",
        sa.Column("number", number, autoincrement=True, nullable=False),
        sa.Column("org_id", words, nullable=False),
        sa.Column("role_id", words, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("agent_number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("tier", words, nullable=False),
        sa.Column("body", words, nullable=False),
        sa.Column("digest", words, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("digest"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_salute_reports_unit", "salute_reports", ["org_id", "role_id", "agent_id", "agent_number", "at"]
    )
    op.create_table(
        "salute_latest",
        sa.Column("org_id", words, nullable=False),
        sa.Column("role_id", words, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("agent_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["number"], ["salute_reports.number"]),
        sa.PrimaryKeyConstraint("org_id", "role_id", "agent_id", "agent_number"),
    )
    op.create_index("ix_salute_latest_version", "salute_latest", ["version"], unique=False)
