"""Keys of people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """From version 0002 to 0003: the person who uses a key, or who runs the agent that does."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("api_keys", sa.Column("person_id", words))
