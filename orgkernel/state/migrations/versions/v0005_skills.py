"""Skills, the evidence of test results, and the outcomes of work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """From version 0004 to 0005: what agents can do, what their tests rest on, and how often their work succeeded."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    for name in ("successes", "failures"):
        op.add_column("agents", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("qualification_results", sa.Column("sample_size", sa.BigInteger()))
    op.add_column("qualification_results", sa.Column("digests", words, nullable=False, server_default="{}"))
    op.add_column("qualification_results", sa.Column("invalidated_at", sa.Float()))
    op.add_column(
        "qualification_results", sa.Column("invalid_reason", words, nullable=False, server_default="")
    )
    op.create_table(
        "skill_records",
        sa.Column("org_id", words, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("skill", words, nullable=False),
        sa.Column("proficiency", sa.Integer(), nullable=False),
        sa.Column("acquired_at", sa.Float(), nullable=False),
        sa.Column("last_exercised_at", sa.Float(), nullable=True),
        sa.Column("exercises", sa.BigInteger(), nullable=False),
        sa.Column("source", words, nullable=False),
        sa.Column("suspended", sa.Boolean(), nullable=False),
        sa.Column("decays_from", sa.Float(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "agent_id", "skill"),
    )
    op.create_index("ix_skill_records_version", "skill_records", ["version"], unique=False)
    op.create_table(
        "skill_assessments",
        sa.Column("assessment_id", number, autoincrement=True, nullable=False),
        sa.Column("org_id", words, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("skill", words, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("activity", words, nullable=False),
        sa.Column("proficiency", sa.Integer(), nullable=False),
        sa.Column("source", words, nullable=False),
        sa.Column("actor", words, nullable=False),
        sa.Column("note", words, nullable=False),
        sa.PrimaryKeyConstraint("assessment_id"),
    )
    op.create_index(
        "ix_skill_assessments_agent_skill", "skill_assessments", ["org_id", "agent_id", "skill"], unique=False
    )
