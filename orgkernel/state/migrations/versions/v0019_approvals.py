"""Requests that several approvers answer, and the approvers of the grants that they became."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """From version 0018 to 0019. Earlier requests have no approvals, so earlier grants open no policy that requires some."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("requests", sa.Column("approvals", words, nullable=False, server_default="[]"))
    op.add_column("grants", sa.Column("approved_by", words, nullable=False, server_default="[]"))
