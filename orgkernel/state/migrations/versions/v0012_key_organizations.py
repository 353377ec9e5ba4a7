"""API keys are good for organizations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """From version 0011 to 0012: the organizations that a key is good for.

    No key gets one here, because the store does not say which one was meant. Until `orgkernel key bind` states it, the key of an
    agent or a person is good for none. The key of an operator remains good for all.
    """
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("api_keys", sa.Column("org_ids", words, nullable=False, server_default="[]"))
