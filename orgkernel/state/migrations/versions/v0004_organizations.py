"""Grants, restrictions, requests, agents and results belong to an organization."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
ALL = "*"


def upgrade() -> None:
    """From version 0003 to 0004. What was stored for no organization can take away from now on, and no longer give.

    - Restrictions without an organization hold in all of them, as before.
    - Grants without an organization sleep until they are woken, and requests without one have expired.
    - The rank and the lifecycle of an agent hold in all organizations, where they can only lower its rank or suspend it.
    - Results of tests have no organization and count in none.
    """
    _change_tables()
    op.execute("UPDATE state_version SET version = version + 1 WHERE version > 0")
    stamp = "version = (SELECT version FROM state_version)"
    op.execute(f"UPDATE restrictions SET org_id = '{ALL}', {stamp} WHERE org_id IS NULL")
    op.execute(f"UPDATE grants SET org_id = '{ALL}', asleep_since = issued_at, {stamp} WHERE org_id IS NULL")
    op.execute("UPDATE requests SET status = 'expired' WHERE status = 'pending' AND org_id IS NULL")
    op.execute(
        "INSERT INTO agents (org_id, agent_id, rank, trust, lifecycle, version) "
        f"SELECT '{ALL}', agent_id, rank, trust, lifecycle, (SELECT version FROM state_version) FROM agents_0003"
    )
    op.drop_table("agents_0003")


def _change_tables() -> None:
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.drop_index("ix_agents_version", "agents")
    op.rename_table("agents", "agents_0003")
    op.create_table(
        "agents",
        sa.Column("org_id", words, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("rank", words, nullable=True),
        sa.Column("trust", sa.Float(), nullable=True),
        sa.Column("lifecycle", words, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "agent_id"),
    )
    op.create_index("ix_agents_version", "agents", ["version"], unique=False)
    op.add_column("qualification_results", sa.Column("org_id", words, nullable=False, server_default=""))
    op.add_column("grants", sa.Column("action", words, nullable=True))
    op.add_column("grants", sa.Column("input_digest", words, nullable=True))
    op.add_column("grants", sa.Column("asleep_since", sa.Float(), nullable=True))
    op.add_column("requests", sa.Column("action", words, nullable=True))
    op.add_column("requests", sa.Column("input_digest", words, nullable=True))
