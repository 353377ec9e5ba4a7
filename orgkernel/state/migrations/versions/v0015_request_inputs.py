"""The input of the call that a request is for, and the words of its answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """From version 0014 to 0015. Earlier requests have no input, and earlier answers no words."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("requests", sa.Column("response_reason", words, nullable=False, server_default=""))
    op.create_table(
        "request_inputs",
        sa.Column("request_id", words, sa.ForeignKey("requests.request_id"), primary_key=True),
        sa.Column("input", words, nullable=False),
    )
