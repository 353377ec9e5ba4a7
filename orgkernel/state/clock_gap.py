"""Whether the clock may have jumped: the time between now and the newest row of the audit that is not of these minutes."""

from __future__ import annotations

from sqlalchemy import Connection, select

from orgkernel.state.tables import audit

FAR_SECONDS = 7 * 86_400.0
"""A clock that is further beyond the newest row was perhaps ahead: it ends and lowers nothing for good at once."""
RECENT_SECONDS = 600.0
"""Rows of so many seconds can be of the same jump as the present moment, so they prove nothing."""


def measure_gap(connection: Connection, now: float, recent: float = RECENT_SECONDS) -> float:
    """The seconds by which a clock is beyond the newest row that is older than `recent` seconds. Zero without such a row."""
    query = select(audit.c.at).where(audit.c.at < now - recent).order_by(audit.c.at.desc()).limit(1)
    newest: float | None = connection.scalar(query)
    return 0.0 if newest is None else now - newest
