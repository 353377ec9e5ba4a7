"""`salute_report`: a role's status report in a fixed format.

Source: the kernel specification, "Schema 2: SALUTE Report". Reports are written by a running agent; here they are read
so that `check` can say whether a file is one.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.record import Document, Record

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0.0)]


class Status(Record):
    """How the role is doing."""

    state: Literal["idle", "active", "waiting", "error_recovery", "escalating", "complete", "aborted"]
    progress: Fraction = 0.0
    pace_level: Literal["primary", "alternate", "contingent", "emergency"] = "primary"
    health: Literal["nominal", "degraded", "critical"] = "nominal"


class Activity(Record):
    """What the role is doing."""

    current_task: str = ""
    bst_domain: str = ""
    htn_plan: str = ""
    htn_step: Count = 0
    htn_total_steps: Count = 0
    current_tool: str = ""
    iterations_on_current_step: Count = 0


class Location(Record):
    """Where the role works."""

    working_directory: str = ""
    files_modified: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    resources_claimed: tuple[str, ...] = ()


class Unit(Record):
    """Who reports."""

    role_id: str
    role_name: str = ""
    agent_number: Count = 0
    reports_to: str | None = ""
    organization: str = ""


class Time(Record):
    """When, and for how long."""

    timestamp: str
    """ISO 8601."""
    task_started: str | None = None
    """ISO 8601."""
    elapsed_seconds: Seconds = 0
    turns_elapsed: Count = 0
    turns_since_progress: Count = 0
    context_turns_remaining: Count | None = None


class Environment(Record):
    """What the role runs on."""

    model: str = ""
    context_fill_pct: Annotated[float, Field(ge=0.0)] = 0.0
    context_tokens_used: Count = 0
    context_tokens_max: Count = 0
    gpu_available: bool | None = None
    tool_failures_consecutive: Count = 0
    tool_failures_total: Count = 0
    memory_fragments_stored: Count = 0


class SaluteReport(Document):
    """One SALUTE report."""

    kind: Literal["orgkernel:salute_report"] = Field(default="orgkernel:salute_report", alias="_schema")
    status: Status
    activity: Activity = Activity.model_construct()
    location: Location = Location.model_construct()
    unit: Unit
    time: Time
    environment: Environment = Environment.model_construct()
