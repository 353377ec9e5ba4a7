"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables of version 0001."""
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "agents",
        sa.Column("agent_id", words, nullable=False),
        sa.Column("rank", words, nullable=True),
        sa.Column("trust", sa.Float(), nullable=True),
        sa.Column("lifecycle", words, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id"),
    )
    op.create_index("ix_agents_version", "agents", ["version"], unique=False)
    op.create_table(
        "api_keys",
        sa.Column("key_id", words, nullable=False),
        sa.Column("name", words, nullable=False),
        sa.Column("digest", words, nullable=False),
        sa.Column("scopes", words, nullable=False),
        sa.Column("agent_id", words, nullable=True),
        sa.Column("created_by", words, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("key_id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "audit",
        sa.Column("writer", words, nullable=False),
        sa.Column("stream", words, nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("previous", words, nullable=False),
        sa.Column("digest", words, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", words, nullable=False),
        sa.Column("activity", words, nullable=False),
        sa.Column("subject", words, nullable=False),
        sa.Column("channel", words, nullable=False),
        sa.Column("relationship", words, nullable=False),
        sa.Column("record_id", words, nullable=False),
        sa.Column("body", words, nullable=False),
        sa.PrimaryKeyConstraint("writer", "stream", "sequence"),
    )
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_index(
        "ix_audit_channel_at",
        "audit",
        ["channel", "at"],
        unique=False,
        sqlite_where=sa.text("channel <> ''"),
        postgresql_where=sa.text("channel <> ''"),
    )
    op.create_index("ix_audit_kind_activity_at", "audit", ["kind", "activity", "at"], unique=False)
    op.create_index(
        "ix_audit_record_id",
        "audit",
        ["record_id"],
        unique=False,
        sqlite_where=sa.text("record_id <> ''"),
        postgresql_where=sa.text("record_id <> ''"),
    )
    op.create_index("ix_audit_subject_at", "audit", ["subject", "at"], unique=False)
    op.create_table(
        "grants",
        sa.Column("grant_id", words, nullable=False),
        sa.Column("subject", words, nullable=False),
        sa.Column("resources", words, nullable=False),
        sa.Column("level", words, nullable=False),
        sa.Column("waives", words, nullable=False),
        sa.Column("org_id", words, nullable=True),
        sa.Column("channel", words, nullable=True),
        sa.Column("session", words, nullable=True),
        sa.Column("reason", words, nullable=False),
        sa.Column("issued_by", words, nullable=False),
        sa.Column("issued_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.Column("uses_left", sa.Integer(), nullable=True),
        sa.Column("request_id", words, nullable=True),
        sa.Column("expiry_noted", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("grant_id"),
    )
    op.create_index("ix_grants_subject", "grants", ["subject"], unique=False)
    op.create_index("ix_grants_version", "grants", ["version"], unique=False)
    op.create_table(
        "qualification_results",
        sa.Column("result_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("agent_id", words, nullable=False),
        sa.Column("qualification", words, nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("result_id"),
    )
    op.create_index("ix_qualification_results_agent_id", "qualification_results", ["agent_id"], unique=False)
    op.create_index("ix_qualification_results_version", "qualification_results", ["version"], unique=False)
    op.create_table(
        "requests",
        sa.Column("request_id", words, nullable=False),
        sa.Column("requester", words, nullable=False),
        sa.Column("resources", words, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("kind", words, nullable=False),
        sa.Column("level", words, nullable=False),
        sa.Column("waives", words, nullable=False),
        sa.Column("org_id", words, nullable=True),
        sa.Column("channel", words, nullable=True),
        sa.Column("session", words, nullable=True),
        sa.Column("reason", words, nullable=False),
        sa.Column("summary", words, nullable=False),
        sa.Column("original_message", words, nullable=False),
        sa.Column("tool_call_id", words, nullable=True),
        sa.Column("context", words, nullable=True),
        sa.Column("status", words, nullable=False),
        sa.Column("responder", words, nullable=True),
        sa.Column("response", words, nullable=True),
        sa.Column("response_at", sa.Float(), nullable=True),
        sa.Column("grant_id", words, nullable=True),
        sa.PrimaryKeyConstraint("request_id"),
    )
    op.create_index("ix_requests_requester_status", "requests", ["requester", "status"], unique=False)
    op.create_index("ix_requests_status_created_at", "requests", ["status", "created_at"], unique=False)
    op.create_table(
        "restrictions",
        sa.Column("restriction_id", words, nullable=False),
        sa.Column("subject", words, nullable=False),
        sa.Column("resources", words, nullable=False),
        sa.Column("level", words, nullable=False),
        sa.Column("org_id", words, nullable=True),
        sa.Column("reason", words, nullable=False),
        sa.Column("issued_by", words, nullable=False),
        sa.Column("issued_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.Column("expiry_noted", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("restriction_id"),
    )
    op.create_index("ix_restrictions_subject", "restrictions", ["subject"], unique=False)
    op.create_index("ix_restrictions_version", "restrictions", ["version"], unique=False)
    op.create_table(
        "state_version",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "tool_locks",
        sa.Column("org_id", words, nullable=False),
        sa.Column("tool_id", words, nullable=False),
        sa.Column("holder", words, nullable=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("acquired_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("reason", words, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "tool_id"),
    )
    op.create_index("ix_tool_locks_version", "tool_locks", ["version"], unique=False)
    op.create_table(
        "tool_usage",
        sa.Column("agent_id", words, nullable=False),
        sa.Column("tool_id", words, nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.Float(), nullable=False),
        sa.Column("last_at", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id", "tool_id"),
    )
    op.create_table(
        "grant_uses",
        sa.Column("use_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("grant_id", words, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("audit_id", words, nullable=False),
        sa.ForeignKeyConstraint(
            ["grant_id"],
            ["grants.grant_id"],
        ),
        sa.PrimaryKeyConstraint("use_id"),
    )
    op.create_index("ix_grant_uses_grant_id", "grant_uses", ["grant_id"], unique=False)
    op.bulk_insert(
        sa.table("state_version", sa.column("id", sa.Integer()), sa.column("version", sa.BigInteger())),
        [{"id": 1, "version": 0}],
    )
