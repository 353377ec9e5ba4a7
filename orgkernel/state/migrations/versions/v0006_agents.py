"""Alerts and watches, identities, commissions, episodes and what they add up to, observed personalities."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """From version 0005 to 0006: tables that nothing was stored in before."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    version = ("version", sa.BigInteger())
    _create("org_status", ("org_id", "kind"), words, ("value", words), ("since", sa.Float()), ("set_by", words),
            ("reason", words), version)  # fmt: skip
    _create("agent_identities", ("org_id", "agent_id"), words, ("did", words), ("born_at", sa.Float()),
            ("certificate", words), version)  # fmt: skip
    op.create_index("ix_agent_identities_org_did", "agent_identities", ["org_id", "did"], unique=True)
    _create("commissions", ("org_id", "agent_id", "role_id"), words, ("at", sa.Float()), ("actor", words),
            ("snapshot", words), version)  # fmt: skip
    counts = (("successes", sa.BigInteger()), ("failures", sa.BigInteger()))
    _create("agent_service", ("org_id", "agent_id"), words, *counts, ("recent", words), ("last_at", sa.Float()),
            version)  # fmt: skip
    _create("outcome_counts", ("org_id", "agent_id", "kind", "name"), words, *counts, ("last_at", sa.Float()),
            version)  # fmt: skip
    op.create_table(
        "episodes",
        sa.Column("number", number, autoincrement=True, nullable=False),
        *(sa.Column(name, words, nullable=False) for name in ("org_id", "episode_id", "agent_id")),
        *(
            sa.Column(name, words, nullable=True)
            for name in ("role_id", "intent", "tier", "cognitive_skill", "procedure")
        ),
        *(
            sa.Column(name, words, nullable=False)
            for name in ("skills", "tools", "outcome", "reference", "digest")
        ),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("ix_episodes_org_episode", "episodes", ["org_id", "episode_id"], unique=True)
    op.create_index("ix_episodes_org_agent", "episodes", ["org_id", "agent_id", "number"], unique=False)
    traits = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
    op.create_table(
        "personality_observations",
        sa.Column("number", number, autoincrement=True, nullable=False),
        *(sa.Column(name, words, nullable=False) for name in ("org_id", "agent_id")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in (*traits, "at")),
        sa.Column("actor", words, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index(
        "ix_personality_observations_agent",
        "personality_observations",
        ["org_id", "agent_id", "number"],
        unique=False,
    )
    op.create_index(
        "ix_personality_observations_version", "personality_observations", ["version"], unique=False
    )


def _create(
    name: str,
    keys: tuple[str, ...],
    words: Any,
    *columns: tuple[str, Any],
) -> None:
    """A table of rows that are patched into a view by their version."""
    op.create_table(
        name,
        *(sa.Column(key, words, nullable=False) for key in keys),
        *(sa.Column(column, kind, nullable=False) for column, kind in columns),
        sa.PrimaryKeyConstraint(*keys),
    )
    op.create_index(f"ix_{name}_version", name, ["version"], unique=False)
