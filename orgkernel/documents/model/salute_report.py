"""`salute_report`: a role's status report in a fixed format.

Source: the kernel specification, "Schema 2: SALUTE Report". A running agent writes reports. orgkernel reads them so
that `check` can validate a report file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.record import Document, Record

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0.0)]


class Status(Record):
    """The status of the role."""

    state: Literal["idle", "active", "waiting", "error_recovery", "escalating", "complete", "aborted"]
    progress: Fraction = 0.0
    pace_level: Literal["primary", "alternate", "contingent", "emergency"] = "primary"
    health: Literal["nominal", "degraded", "critical"] = "nominal"


class Activity(Record):
    """The current activity of the role."""

    current_task: str = ""
    bst_domain: str = ""
    htn_plan: str = ""
    htn_step: Count = 0
    htn_total_steps: Count = 0
    current_tool: str = ""
    iterations_on_current_step: Count = 0


class Location(Record):
    """The place where the role works."""

    working_directory: str = ""
    files_modified: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    resources_claimed: tuple[str, ...] = ()
    """Resources that the role claims for itself. Not yet: no command compares claims."""


class Unit(Record):
    """The role that reports."""

    role_id: str
    role_name: str = ""
    agent_number: Count = 0
    reports_to: str | None = ""
    organization: str = ""


class Time(Record):
    """The times of the report and the task."""

    timestamp: str
    """Time of the report, ISO 8601."""
    task_started: str | None = None
    """Time when the task began, ISO 8601."""
    elapsed_seconds: Seconds = 0
    turns_elapsed: Count = 0
    turns_since_progress: Count = 0
    context_turns_remaining: Count | None = None


class Environment(Record):
    """The environment of the role."""

    model: str = ""
    context_fill_pct: Annotated[float, Field(ge=0.0)] = 0.0
    context_tokens_used: Count = 0
    context_tokens_max: Count = 0
    gpu_available: bool | None = None
    tool_failures_consecutive: Count = 0
    tool_failures_total: Count = 0
    memory_fragments_stored: Count = 0


class SaluteReport(Document):
    """A status report of a role (SALUTE: status, activity, location, unit, time, environment)."""

    kind: Literal["orgkernel:salute_report"] = Field(default="orgkernel:salute_report", alias="_schema")
    status: Status
    activity: Activity = Activity.model_construct()
    location: Location = Location.model_construct()
    unit: Unit
    time: Time
    environment: Environment = Environment.model_construct()
