"""SALUTE reports for tests."""

from __future__ import annotations

from typing import Any

from orgkernel.runtime.utc import as_utc


def salute(
    role: str = "bugfix_specialist",
    tier: str = "primary",
    at: float = 1_000_000.0,
    *,
    org: str = "software_dev",
    agent: int = 0,
    state: str = "active",
    task: str = "fix the parser",
    **time: Any,
) -> dict[str, Any]:
    """A whole report of a role, made at a second."""
    health = {"primary": "nominal", "alternate": "degraded"}.get(tier, "critical")
    return {
        "_schema": "orgkernel:salute_report",
        "_version": "1.0",
        "status": {"state": state, "progress": 0.4, "pace_level": tier, "health": health},
        "activity": {
            "current_task": task, "bst_domain": "bugfix", "htn_plan": "bugfix_workflow", "htn_step": 2,
            "htn_total_steps": 5, "current_tool": "text_editor", "iterations_on_current_step": 1,
        },
        "location": {
            "working_directory": "/srv/app", "files_modified": ["parser.py"], "files_read": [], "resources_claimed": [],
        },
        "unit": {
            "role_id": role, "role_name": role.replace("_", " ").title(), "agent_number": agent,
            "reports_to": "engineering_xo", "organization": org,
        },
        "time": {
            "timestamp": as_utc(at), "task_started": None, "elapsed_seconds": 60, "turns_elapsed": 6,
            "turns_since_progress": 1, "context_turns_remaining": None, **time,
        },
        "environment": {
            "model": "any", "context_fill_pct": 0.2, "context_tokens_used": 2000, "context_tokens_max": 10000,
            "gpu_available": None, "tool_failures_consecutive": 0, "tool_failures_total": 1, "memory_fragments_stored": 0,
        },
    }  # fmt: skip
