"""Contracts name the hand-off that they belong to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """From version 0015 to 0016.

    Earlier contracts belong to no hand-off, because their writers were not compared with the log.
    """
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("contract_records", sa.Column("dispatch_id", words))
    op.create_index("ix_dispatches_mission", "dispatches", ["org_id", "mission"])
