"""`salute_report`: a role's status report in a fixed format. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Document, Record
Fraction = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0.0)]


class Status(Record, frozen=True, kw_only=True):
    """The status of the role."""
    state: Literal['idle', 'active', 'waiting', 'error_recovery', 'escalating', 'complete', 'aborted']
    progress: Fraction = 0.0
    pace_level: Literal['primary', 'alternate', 'contingent', 'emergency'] = 'primary'
    health: Literal['nominal', 'degraded', 'critical'] = 'nominal'


class Activity(Record, frozen=True, kw_only=True):
    """The current activity of the role."""
    current_task: str = ''
    bst_domain: str = ''
    htn_plan: str = ''
    htn_step: Count = 0
    htn_total_steps: Count = 0
    current_tool: str = ''
    iterations_on_current_step: Count = 0


class Location(Record, frozen=True, kw_only=True):
    """The place where the role works."""
    working_directory: str = ''
    files_modified: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    resources_claimed: tuple[str, ...] = ()


class Unit(Record, frozen=True, kw_only=True):
    """The role that reports."""
    role_id: str
    role_name: str = ''
    agent_number: Count = 0
    reports_to: str | None = ''
    organization: str = ''


class Time(Record, frozen=True, kw_only=True):
    """The times of the report and the task."""
    timestamp: str
    task_started: str | None = None
    elapsed_seconds: Seconds = 0
    turns_elapsed: Count = 0
    turns_since_progress: Count = 0
    context_turns_remaining: Count | None = None


class Environment(Record, frozen=True, kw_only=True):
    """The environment of the role."""
    model: str = ''
    context_fill_pct: Annotated[float, msgspec.Meta(ge=0.0)] = 0.0
    context_tokens_used: Count = 0
    context_tokens_max: Count = 0
    gpu_available: bool | None = None
    tool_failures_consecutive: Count = 0
    tool_failures_total: Count = 0
    memory_fragments_stored: Count = 0


class SaluteReport(Document, frozen=True, kw_only=True):
    """One SALUTE report."""
    kind: Literal['orgkernel:salute_report'] = msgspec.field(default='orgkernel:salute_report', name='_schema')
    status: Status
    activity: Activity = Activity()
    location: Location = Location()
    unit: Unit
    time: Time
    environment: Environment = Environment()
