"""Idempotency keys of HTTP requests, with their responses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """From version 0016 to 0017: responses to requests with an `Idempotency-Key`."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "idempotency_keys",
        sa.Column("caller", words, primary_key=True),
        sa.Column("key", words, primary_key=True),
        sa.Column("request_digest", words, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("headers", words),
        sa.Column("response", words),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
