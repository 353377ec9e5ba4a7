"""`decision_cases`: a user's own tests for their organisation, run by `orgkernel test`. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.record import Document, Id, OrgId, Record, ToolId


class DispatchQuestion(Record, frozen=True, kw_only=True):
    """Who takes this?"""
    domain: Id
    needs: tuple[ToolId, ...] = ()


class DispatchCase(Record, frozen=True, kw_only=True):
    """A question with the answer that is expected; lists are complete where they are written."""
    ask: DispatchQuestion
    outcome: Literal['role', 'not_applicable']
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    tools: tuple[ToolId, ...] | None = None
    because: tuple[str, ...] | None = None


class Case(Record, frozen=True, kw_only=True):
    """Expectations about one organisation, under a sentence that says what is true."""
    name: str
    org: OrgId
    dispatch: tuple[DispatchCase, ...]


class DecisionCases(Document, frozen=True, kw_only=True):
    """Cases."""
    kind: Literal['orgkernel:decision_cases'] = msgspec.field(default='orgkernel:decision_cases', name='_schema')
    description: str = ''
    cases: tuple[Case, ...]
