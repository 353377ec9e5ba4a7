"""The log of dispatches, and claims that decisions read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """From version 0008 to 0009: claims say for which brief they were made and when they changed."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("file_claims", sa.Column("brief", words, nullable=True))
    op.add_column("file_claims", sa.Column("mission", words, nullable=True))
    op.add_column("file_claims", sa.Column("version", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index("ix_file_claims_version", "file_claims", ["version"], unique=False)
    op.create_index("ix_file_claims_brief", "file_claims", ["org_id", "brief"], unique=False)
    op.add_column(
        "contract_records", sa.Column("version", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.create_index("ix_contract_records_version", "contract_records", ["version"], unique=False)
    op.create_table(
        "dispatches",
        sa.Column("org_id", words, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        *(
            sa.Column(name, words, nullable=False)
            for name in (
                "dispatch_id",
                "sender",
                "receiver",
                "holder",
                "session",
                "queue_mode",
                "session_key",
            )
        ),
        *(
            sa.Column(name, words, nullable=True)
            for name in ("from_session", "on_behalf_of", "brief", "mission")
        ),
        *(sa.Column(name, sa.BigInteger(), nullable=True) for name in ("depth", "token")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("at", "expires_at")),
        *(
            sa.Column(name, words, nullable=False)
            for name in ("code", "obligations", "snapshot", "actor", "reason", "previous", "digest")
        ),
        sa.PrimaryKeyConstraint("org_id", "number"),
    )
    op.create_index("ix_dispatches_dispatch", "dispatches", ["org_id", "dispatch_id"], unique=True)
    op.create_index("ix_dispatches_brief", "dispatches", ["org_id", "brief"], unique=False)
    op.create_index("ix_dispatches_session", "dispatches", ["org_id", "session"], unique=False)
    op.create_index("ix_dispatches_sender", "dispatches", ["org_id", "sender", "number"], unique=False)
