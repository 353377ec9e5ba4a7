"""Contracts: briefs, results, blockers, corrections and the decision log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """From version 0006 to 0007: a table that nothing was stored in before."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "contract_records",
        sa.Column("org_id", words, nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", words, nullable=False),
        sa.Column("record_id", words, nullable=False),
        *(sa.Column(name, words, nullable=True) for name in ("brief_id", "session", "ends")),
        sa.Column("at", sa.Float(), nullable=False),
        *(sa.Column(name, words, nullable=False) for name in ("actor", "previous", "digest", "body")),
        sa.PrimaryKeyConstraint("org_id", "sequence"),
    )
    for name, columns, is_unique in (
        ("record", ("org_id", "record_id"), True),
        ("ends", ("org_id", "ends"), True),
        ("kind", ("org_id", "kind", "sequence"), False),
        ("session", ("org_id", "session"), False),
    ):
        op.create_index(
            f"ix_contract_records_{name}", "contract_records", ["org_id", *columns[1:]], unique=is_unique
        )
