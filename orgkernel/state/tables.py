"""The tables, once for both engines; `migrations/` makes them, a test compares the two.

`version` of a row is the state version of its last change, by which a view is patched. Nothing of these tables is ever
deleted except whole sealed segments of the audit: revoking and releasing set a column.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

state_version = Table(
    "state_version",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
)
"""One row: bumped in the transaction of each change."""

agents = Table(
    "agents",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("rank", Text),
    Column("trust", Float),
    Column("lifecycle", Text, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

grants = Table(
    "grants",
    metadata,
    Column("grant_id", Text, primary_key=True),
    Column("subject", Text, nullable=False, index=True),
    Column("resources", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("waives", Text, nullable=False),
    Column("org_id", Text),
    Column("channel", Text),
    Column("session", Text),
    Column("reason", Text, nullable=False),
    Column("issued_by", Text, nullable=False),
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("uses_left", Integer),
    Column("request_id", Text),
    Column("expiry_noted", Boolean, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

grant_uses = Table(
    "grant_uses",
    metadata,
    Column("use_id", Integer, primary_key=True, autoincrement=True),
    Column("grant_id", Text, ForeignKey("grants.grant_id"), nullable=False, index=True),
    Column("at", Float, nullable=False),
    Column("audit_id", Text, nullable=False),
)

restrictions = Table(
    "restrictions",
    metadata,
    Column("restriction_id", Text, primary_key=True),
    Column("subject", Text, nullable=False, index=True),
    Column("resources", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("org_id", Text),
    Column("reason", Text, nullable=False),
    Column("issued_by", Text, nullable=False),
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("expiry_noted", Boolean, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

requests = Table(
    "requests",
    metadata,
    Column("request_id", Text, primary_key=True),
    Column("requester", Text, nullable=False),
    Column("resources", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("waives", Text, nullable=False),
    Column("org_id", Text),
    Column("channel", Text),
    Column("session", Text),
    Column("reason", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("original_message", Text, nullable=False),
    Column("tool_call_id", Text),
    Column("context", Text),
    Column("status", Text, nullable=False),
    Column("responder", Text),
    Column("response", Text),
    Column("response_at", Float),
    Column("grant_id", Text),
    Index("ix_requests_requester_status", "requester", "status"),
    Index("ix_requests_status_created_at", "status", "created_at"),
)

qualification_results = Table(
    "qualification_results",
    metadata,
    Column("result_id", Integer, primary_key=True, autoincrement=True),
    Column("agent_id", Text, nullable=False, index=True),
    Column("qualification", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("at", Float, nullable=False),
    Column("expires_at", Float),
    Column("version", BigInteger, nullable=False, index=True),
)

tool_locks = Table(
    "tool_locks",
    metadata,
    Column("org_id", Text, primary_key=True),
    Column("tool_id", Text, primary_key=True),
    Column("holder", Text),
    Column("token", BigInteger, nullable=False),
    Column("acquired_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("reason", Text, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)
"""One row for every tool that was ever locked: its token has to go on rising."""

tool_usage = Table(
    "tool_usage",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("tool_id", Text, primary_key=True),
    Column("uses", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("first_at", Float, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("seconds", Float, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),
    Column("agent_id", Text),
    Column("created_by", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
)

audit = Table(
    "audit",
    metadata,
    Column("writer", Text, primary_key=True),
    Column("stream", Text, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("previous", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("activity", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("relationship", Text, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_audit_at", "at"),
    Index("ix_audit_subject_at", "subject", "at"),
    Index("ix_audit_kind_activity_at", "kind", "activity", "at"),
    Index(
        "ix_audit_channel_at",
        "channel",
        "at",
        sqlite_where=text("channel <> ''"),
        postgresql_where=text("channel <> ''"),
    ),
    Index(
        "ix_audit_record_id",
        "record_id",
        sqlite_where=text("record_id <> ''"),
        postgresql_where=text("record_id <> ''"),
    ),
)
"""`body` is the entry as canonical JSON and is what the chain is over; the other columns are there to search by."""
