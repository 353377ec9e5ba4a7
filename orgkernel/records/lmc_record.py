"""`lmc_record`: the attempts of a lead, a manager and a checker. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Confidence, Contract
from orgkernel.records.record import Record
AgentName = str


class ManagerOutput(Record, frozen=True, kw_only=True):
    """What the manager delivers."""
    agent: AgentName
    brief: str = ''
    status: Literal['DONE', 'PARTIAL', 'BLOCKED']
    confidence: Confidence
    artifacts: tuple[str, ...] = ()


class CheckerVerdict(Record, frozen=True, kw_only=True):
    """What an independent checker says about it."""
    agent: AgentName
    decision: Literal['PASS', 'FAIL']
    confidence: Confidence
    issues: tuple[str, ...] = ()
    feedback: str | None = None


class LmcAttempt(Record, frozen=True, kw_only=True):
    """One attempt."""
    manager: ManagerOutput | None = None
    checker: CheckerVerdict | None = None


class LmcRecord(Contract, frozen=True, kw_only=True):
    """One record of lead, manager and checker."""
    kind: Literal['orgkernel:lmc_record'] = msgspec.field(default='orgkernel:lmc_record', name='_schema')
    brief: str | None = None
    mode: Literal['full', 'lite', 'direct']
    lead: AgentName
    attempts: tuple[LmcAttempt, ...] = ()
    escalated_to: str | None = None
