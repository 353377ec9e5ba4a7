"""Grants and requests may be for one version of the documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """From version 0009 to 0010: what was stored before is for every version of the documents."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("grants", sa.Column("snapshot", words, nullable=True))
    op.add_column("requests", sa.Column("snapshot", words, nullable=True))
