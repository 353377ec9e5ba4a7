"""The tables for both engines. `migrations/` creates them, and a test compares the two.

`version` of a row is the state version of its last change, by which a view finds the rows to update. Rows are
never deleted, except whole sealed segments of the audit, old reports and old idempotency keys. Revoking or
releasing sets a column.
"""

from __future__ import annotations

from typing import Any

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
_WORDS = Text().with_variant(Text(collation="C"), "postgresql")
"""Strings. Both engines sort them by bytes, regardless of the locale of the server."""

state_version = Table(
    "state_version",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
)
"""One row. Each change increases the version in its own transaction."""

agents = Table(
    "agents",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("rank", _WORDS),
    Column("trust", Float),
    Column("lifecycle", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
    Column("successes", BigInteger, nullable=False, server_default="0"),
    Column("failures", BigInteger, nullable=False, server_default="0"),
)

grants = Table(
    "grants",
    metadata,
    Column("grant_id", _WORDS, primary_key=True),
    Column("subject", _WORDS, nullable=False, index=True),
    Column("resources", _WORDS, nullable=False),
    Column("level", _WORDS, nullable=False),
    Column("waives", _WORDS, nullable=False),
    Column("org_id", _WORDS),
    Column("channel", _WORDS),
    Column("session", _WORDS),
    Column("reason", _WORDS, nullable=False),
    Column("issued_by", _WORDS, nullable=False),
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("uses_left", Integer),
    Column("request_id", _WORDS),
    Column("action", _WORDS),
    Column("input_digest", _WORDS),
    Column("snapshot", _WORDS),
    Column("approved_by", _WORDS, nullable=False, server_default="[]"),
    Column("asleep_since", Float),
    Column("expiry_noted", Boolean, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

grant_uses = Table(
    "grant_uses",
    metadata,
    Column("use_id", Integer, primary_key=True, autoincrement=True),
    Column("grant_id", _WORDS, ForeignKey("grants.grant_id"), nullable=False, index=True),
    Column("at", Float, nullable=False),
    Column("audit_id", _WORDS, nullable=False),
)

restrictions = Table(
    "restrictions",
    metadata,
    Column("restriction_id", _WORDS, primary_key=True),
    Column("subject", _WORDS, nullable=False, index=True),
    Column("resources", _WORDS, nullable=False),
    Column("level", _WORDS, nullable=False),
    Column("org_id", _WORDS),
    Column("reason", _WORDS, nullable=False),
    Column("issued_by", _WORDS, nullable=False),
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("expiry_noted", Boolean, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

requests = Table(
    "requests",
    metadata,
    Column("request_id", _WORDS, primary_key=True),
    Column("requester", _WORDS, nullable=False),
    Column("resources", _WORDS, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("kind", _WORDS, nullable=False),
    Column("level", _WORDS, nullable=False),
    Column("waives", _WORDS, nullable=False),
    Column("org_id", _WORDS),
    Column("channel", _WORDS),
    Column("session", _WORDS),
    Column("reason", _WORDS, nullable=False),
    Column("summary", _WORDS, nullable=False),
    Column("original_message", _WORDS, nullable=False),
    Column("tool_call_id", _WORDS),
    Column("context", _WORDS),
    Column("status", _WORDS, nullable=False),
    Column("responder", _WORDS),
    Column("response", _WORDS),
    Column("response_at", Float),
    Column("response_reason", _WORDS, nullable=False, server_default=""),
    Column("grant_id", _WORDS),
    Column("action", _WORDS),
    Column("input_digest", _WORDS),
    Column("snapshot", _WORDS),
    Column("approvals", _WORDS, nullable=False, server_default="[]"),
    Index("ix_requests_requester_status", "requester", "status"),
    Index("ix_requests_status_created_at", "status", "created_at"),
)

request_inputs = Table(
    "request_inputs",
    metadata,
    Column("request_id", _WORDS, ForeignKey("requests.request_id"), primary_key=True),
    Column("input", _WORDS, nullable=False),
)

qualification_results = Table(
    "qualification_results",
    metadata,
    Column("result_id", Integer, primary_key=True, autoincrement=True),
    Column("agent_id", _WORDS, nullable=False, index=True),
    Column("qualification", _WORDS, nullable=False),
    Column("score", Float, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("at", Float, nullable=False),
    Column("expires_at", Float),
    Column("org_id", _WORDS, nullable=False, server_default=""),
    Column("version", BigInteger, nullable=False, index=True),
    Column("sample_size", BigInteger),
    Column("digests", _WORDS, nullable=False, server_default="{}"),
    Column("invalidated_at", Float),
    Column("invalid_reason", _WORDS, nullable=False, server_default=""),
    Column("run", _WORDS, nullable=False, server_default=""),
)

skill_records = Table(
    "skill_records",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("skill", _WORDS, primary_key=True),
    Column("proficiency", Integer, nullable=False),
    Column("acquired_at", Float, nullable=False),
    Column("last_exercised_at", Float),
    Column("exercises", BigInteger, nullable=False),
    Column("source", _WORDS, nullable=False),
    Column("suspended", Boolean, nullable=False),
    Column("decays_from", Float, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

skill_assessments = Table(
    "skill_assessments",
    metadata,
    Column(
        "assessment_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("org_id", _WORDS, nullable=False),
    Column("agent_id", _WORDS, nullable=False),
    Column("skill", _WORDS, nullable=False),
    Column("at", Float, nullable=False),
    Column("activity", _WORDS, nullable=False),
    Column("proficiency", Integer, nullable=False),
    Column("source", _WORDS, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("note", _WORDS, nullable=False),
    Column("result_id", Integer),
    Index("ix_skill_assessments_agent_skill", "org_id", "agent_id", "skill"),
    Index(
        "ix_skill_assessments_result_id",
        "result_id",
        sqlite_where=text("result_id IS NOT NULL"),
        postgresql_where=text("result_id IS NOT NULL"),
    ),
)
"""The history of the levels of each agent: rows are only ever added."""

org_status = Table(
    "org_status",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("kind", _WORDS, primary_key=True),
    Column("value", _WORDS, nullable=False),
    Column("since", Float, nullable=False),
    Column("set_by", _WORDS, nullable=False),
    Column("reason", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)
"""The latest alert and watch of each organization."""

agent_identities = Table(
    "agent_identities",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("did", _WORDS, nullable=False),
    Column("born_at", Float, nullable=False),
    Column("certificate", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
    Index("ix_agent_identities_org_did", "org_id", "did", unique=True),
)
"""Public keys and signed certificates; no private key is ever in a store."""

key_revocations = Table(
    "key_revocations",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("did", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, nullable=False),
    Column("at", Float, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("reason", _WORDS, nullable=False),
)
"""Keys of agents whose certificates are no longer valid."""

commissions = Table(
    "commissions",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("role_id", _WORDS, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("snapshot", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

episodes = Table(
    "episodes",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("org_id", _WORDS, nullable=False),
    Column("episode_id", _WORDS, nullable=False),
    Column("agent_id", _WORDS, nullable=False),
    Column("role_id", _WORDS),
    Column("intent", _WORDS),
    Column("tier", _WORDS),
    Column("cognitive_skill", _WORDS),
    Column("procedure", _WORDS),
    Column("skills", _WORDS, nullable=False),
    Column("tools", _WORDS, nullable=False),
    Column("outcome", _WORDS, nullable=False),
    Column("reference", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False),
    Column("at", Float, nullable=False),
    Index("ix_episodes_org_episode", "org_id", "episode_id", unique=True),
    Index("ix_episodes_org_agent", "org_id", "agent_id", "number"),
)
"""Pieces of work by reference: rows are only ever added."""

agent_service = Table(
    "agent_service",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("successes", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("recent", _WORDS, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)
"""Totals of the episodes of each agent."""

outcome_counts = Table(
    "outcome_counts",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("kind", _WORDS, primary_key=True),
    Column("name", _WORDS, primary_key=True),
    Column("successes", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)

personality_observations = Table(
    "personality_observations",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("org_id", _WORDS, nullable=False),
    Column("agent_id", _WORDS, nullable=False),
    Column("openness", Float, nullable=False),
    Column("conscientiousness", Float, nullable=False),
    Column("extraversion", Float, nullable=False),
    Column("agreeableness", Float, nullable=False),
    Column("neuroticism", Float, nullable=False),
    Column("at", Float, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
    Index("ix_personality_observations_agent", "org_id", "agent_id", "number"),
)
"""Measured personalities: rows are only ever added."""

tool_locks = Table(
    "tool_locks",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("tool_id", _WORDS, primary_key=True),
    Column("holder", _WORDS),
    Column("token", BigInteger, nullable=False),
    Column("acquired_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("reason", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)
"""One row for every tool that was ever locked: its token must keep increasing."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("caller", _WORDS, primary_key=True),
    Column("key", _WORDS, primary_key=True),
    Column("request_digest", _WORDS, nullable=False),
    Column("created_at", Float, nullable=False, index=True),
    Column("status", Integer),
    Column("headers", _WORDS),
    Column("response", _WORDS),
)
"""Responses to requests with an `Idempotency-Key`. They are deleted after a day."""

limit_uses = Table(
    "limit_uses",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("call_id", _WORDS, primary_key=True),
    Column("limit_id", _WORDS, primary_key=True),
    Column("counter", _WORDS, primary_key=True),
    Column("subject", _WORDS, nullable=False),
    Column("tool_id", _WORDS, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    Column("lease_until", Float),
    Column("ended_at", Float),
    Column("is_released", Boolean, nullable=False),
    Index("ix_limit_uses_counted", "org_id", "limit_id", "counter", "at"),
)
"""The amounts that calls are charged to limits: one row for each counter of a call."""

tool_usage = Table(
    "tool_usage",
    metadata,
    Column("agent_id", _WORDS, primary_key=True),
    Column("tool_id", _WORDS, primary_key=True),
    Column("uses", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("first_at", Float, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("seconds", Float, nullable=False),
)

salute_reports = Table(
    "salute_reports",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("org_id", _WORDS, nullable=False),
    Column("role_id", _WORDS, nullable=False),
    Column("agent_id", _WORDS, nullable=False),
    Column("agent_number", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    Column("received_at", Float, nullable=False),
    Column("tier", _WORDS, nullable=False),
    Column("body", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False, unique=True),
    Index("ix_salute_reports_unit", "org_id", "role_id", "agent_id", "agent_number", "at"),
    sqlite_autoincrement=True,
)
"""`number` keeps increasing even if rows are deleted, because followers ask for the reports after a number."""

salute_latest = Table(
    "salute_latest",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("role_id", _WORDS, primary_key=True),
    Column("agent_id", _WORDS, primary_key=True),
    Column("agent_number", BigInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, ForeignKey("salute_reports.number"), nullable=False),
    Column("version", BigInteger, nullable=False, index=True),
)
"""One row for each agent that ever reported in a role: its latest report, which is never deleted."""

contract_records = Table(
    "contract_records",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", _WORDS, nullable=False),
    Column("record_id", _WORDS, nullable=False),
    Column("brief_id", _WORDS),
    Column("session", _WORDS),
    Column("ends", _WORDS),
    Column("at", Float, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("previous", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False),
    Column("body", _WORDS, nullable=False),
    Column("version", BigInteger, nullable=False, server_default="0"),
    Column("dispatch_id", _WORDS, key="handoff_id"),
    Index("ix_contract_records_version", "version"),
    Index("ix_contract_records_record", "org_id", "record_id", unique=True),
    Index("ix_contract_records_ends", "org_id", "ends", unique=True),
    Index("ix_contract_records_kind", "org_id", "kind", "sequence"),
    Index("ix_contract_records_session", "org_id", "session"),
)
"""Rows are only ever added. `ends` is the session whose one result a row is, and `dispatch_id` the hand-off that it belongs
to. `digest` chains the rows of an organization."""

file_claims = Table(
    "file_claims",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("token", BigInteger, primary_key=True, autoincrement=False),
    Column("holder", _WORDS, nullable=False),
    Column("paths", _WORDS, nullable=False),
    Column("session", _WORDS),
    Column("planner", _WORDS),
    Column("claimed_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("reason", _WORDS, nullable=False),
    Column("ended_at", Float),
    Column("brief", _WORDS),
    Column("mission", _WORDS),
    Column("version", BigInteger, nullable=False, server_default="0"),
    Index("ix_file_claims_live", "org_id", "ended_at"),
    Index("ix_file_claims_version", "version"),
    Index("ix_file_claims_brief", "org_id", "brief"),
)
"""One row for every claim, including ended ones, because the tokens of an organization must keep increasing."""

handoffs = Table(
    "dispatches",
    metadata,
    Column("org_id", _WORDS, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("dispatch_id", _WORDS, key="handoff_id", nullable=False),
    Column("sender", _WORDS, nullable=False),
    Column("receiver", _WORDS, nullable=False),
    Column("holder", _WORDS, nullable=False),
    Column("session", _WORDS, nullable=False),
    Column("queue_mode", _WORDS, nullable=False),
    Column("session_key", _WORDS, nullable=False),
    Column("from_session", _WORDS),
    Column("on_behalf_of", _WORDS),
    Column("brief", _WORDS),
    Column("mission", _WORDS),
    Column("depth", BigInteger),
    Column("token", BigInteger),
    Column("at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("code", _WORDS, nullable=False),
    Column("obligations", _WORDS, nullable=False),
    Column("snapshot", _WORDS, nullable=False),
    Column("actor", _WORDS, nullable=False),
    Column("reason", _WORDS, nullable=False),
    Column("previous", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False),
    Index("ix_dispatches_dispatch", "org_id", "handoff_id", unique=True),
    Index("ix_dispatches_brief", "org_id", "brief"),
    Index("ix_dispatches_mission", "org_id", "mission"),
    Index("ix_dispatches_session", "org_id", "session"),
    Index("ix_dispatches_sender", "org_id", "sender", "number"),
)
"""Hand-offs, under the name that the table has had from the beginning. Rows are only ever added. `digest` chains the rows of
an organization."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", _WORDS, primary_key=True),
    Column("name", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False, unique=True),
    Column("scopes", _WORDS, nullable=False),
    Column("agent_id", _WORDS),
    Column("created_by", _WORDS, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("person_id", _WORDS),
    Column("org_ids", _WORDS, nullable=False, server_default="[]"),
)

audit = Table(
    "audit",
    metadata,
    Column("writer", _WORDS, primary_key=True),
    Column("stream", _WORDS, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("previous", _WORDS, nullable=False),
    Column("digest", _WORDS, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", _WORDS, nullable=False),
    Column("activity", _WORDS, nullable=False),
    Column("subject", _WORDS, nullable=False),
    Column("channel", _WORDS, nullable=False),
    Column("relationship", _WORDS, nullable=False),
    Column("record_id", _WORDS, nullable=False),
    Column("body", _WORDS, nullable=False),
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
"""`body` is the entry as canonical JSON, which the chain covers; the other columns are for searching."""
AuditValues = tuple[Any, ...]
"""A row of the audit: a value for each column, in their order."""
