"""What the routes about SALUTE reports say."""

from __future__ import annotations

import msgspec

from orgkernel.reports.board import BoardLine, ReportDetail


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """How each role stands, by organization, role and agent."""

    lines: tuple[BoardLine, ...]
    next: str | None
    """Cursor of the next page; null on the last."""
    last_number: int
    """Number of the report stored last: follow `/v1/salute/stream?after=` from here."""


class ReportPage(msgspec.Struct, frozen=True, kw_only=True):
    """Reports of one role, those that were stored last first."""

    reports: tuple[ReportDetail, ...]
    next: str | None
    """Cursor of the next page; null on the last."""
