"""`blocker`: a question to a human, asked while the work goes on. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Contract, WrittenTime


class Blocker(Contract, frozen=True, kw_only=True):
    """One blocker."""
    kind: Literal['orgkernel:blocker'] = msgspec.field(default='orgkernel:blocker', name='_schema')
    session: str
    id: str | None = None
    agent: str | None = None
    brief: str | None = None
    blocked_at: WrittenTime
    question: str | None = None
    best_guess: str | None = None
    fallback_action: str | None = None
    can_resume_without_answer: bool | None = None
    human_required_for: Literal['credential', 'destructive op', 'scope expansion'] | None = None
