"""A store with something in every view: requests, grants, reports, hand-offs, claims and blockers, made over HTTP."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from tests.api.keys import bearer
from tests.api.running import Server

BRIEF = "0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55"
ORG = "/v1/orgs/starship"
BRIEF_BODY: dict[str, Any] = {
    "_schema": "orgkernel:brief",
    "id": BRIEF,
    "mission": "Weld the hull",
    "purpose": "It leaks.",
    "context": {},
    "whats_done": [],
    "current_task": "Find the leak",
    "done_criteria": "The pressure stays.",
    "verify_command": "./pressure.sh --at-least 40",
    "key_decisions": [],
    "spec": {"scope": {"files_owned": ["hull/plates.yaml"]}},
    "relevant_memories": [],
    "ship": False,
}


def send(server: Server, path: str, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Make one change. The server has to accept it."""
    answer = server.client.post(path, json=body, headers=bearer(key))
    assert answer.status_code in (200, 201), (path, answer.text)
    done: dict[str, Any] = answer.json()
    return done


def build_report(role: str, state: str, pace: str, health: str, progress: float, task: str) -> dict[str, Any]:
    """A SALUTE report of now."""
    return {
        "_schema": "orgkernel:salute_report",
        "_version": "1.0",
        "status": {"state": state, "progress": progress, "pace_level": pace, "health": health},
        "activity": {"current_task": task, "current_tool": "code_execution_tool"},
        "unit": {"role_id": role, "organization": "starship", "agent_number": 0},
        "time": {
            "timestamp": datetime.fromtimestamp(time.time(), UTC).isoformat().replace("+00:00", "Z"),
            "turns_elapsed": 12,
        },
        "environment": {"context_fill_pct": 0.41, "tool_failures_consecutive": 3 * (pace != "primary")},
    }


def seed_requests(server: Server, key: str, asking: str) -> None:
    """Two pending requests, a denied one, and a grant for the day. Another key makes the requests than answers them."""
    query = {
        "query": "SELECT hour, drift\nFROM sensors\nWHERE drift > 0.2",
        "database": "engineering",
        "password": "riker-omega-3",
    }
    for subject, tool, reason, call in (
        ("agent:kestrel", "scheduler", "plan the survey of the outer moons", {}),
        ("role:scout", "query_metrics", "measure the drift", {"input": query}),
        ("role:counselor", "code_execution_tool", "curiosity", {}),
    ):
        last = send(
            server,
            f"{ORG}/requests",
            {"requester": subject, "resources": [f"tool:{tool}"], "level": "write", "reason": reason, **call},
            asking,
        )
    send(server, f"{ORG}/requests/{last['request_id']}/deny", {"reason": "not your work"}, key)
    send(
        server,
        f"{ORG}/grants",
        {
            "subject": "role:surgeon",
            "resources": ["tool:document_query"],
            "level": "read",
            "expires_at": time.time() + 86_400,
            "reason": "a day of literature",
        },
        key,
    )


def seed_reports(server: Server, key: str) -> None:
    """Roles that work, one in trouble, and most that are silent."""
    for role, state, pace, health, progress, task in (
        ("chief_engineer", "active", "primary", "nominal", 0.2, "Plan the refit"),
        ("chief_engineer", "active", "primary", "nominal", 0.6, "Plan the refit"),
        ("builder", "error_recovery", "alternate", "degraded", 0.35, "Weld the hull"),
        ("surgeon", "idle", "primary", "nominal", 1.0, ""),
    ):
        send(server, f"{ORG}/salute", build_report(role, state, pace, health, progress, task), key)


def seed_work(server: Server, key: str) -> None:
    """A hand-off with claimed files, and a blocker."""
    send(
        server,
        f"{ORG}/handoffs",
        {
            "from": "role:chief_engineer",
            "to": "builder",
            "session": "hull-1",
            "depth": 0,
            "seconds": 3_600,
            "brief": BRIEF_BODY,
        },
        key,
    )
    send(
        server,
        f"{ORG}/claims",
        {"paths": ["docs/*.md"], "holder": "agent:kestrel", "seconds": 1_800, "reason": "the survey"},
        key,
    )
    send(
        server,
        f"{ORG}/contracts",
        {
            "contract": {
                "_schema": "orgkernel:blocker",
                "session": "hull-1",
                "blocked_at": "2026-11-27T12:05:00Z",
                "question": "Which alloy is in store?",
                "best_guess": "Titanium.",
                "fallback_action": "Welding the inner plates.",
                "can_resume_without_answer": True,
                "human_required_for": "credential",
            }
        },
        key,
    )


def seed_calls(server: Server, key: str) -> None:
    """An allowed call, and a tool that is refused twice."""
    for tool in ("query_metrics", "search_engine", "query_metrics"):
        question = {
            "subject": {"type": "role", "id": "scout"},
            "action": {"name": "use"},
            "resource": {"type": "tool", "id": tool},
            "context": {"org": "starship"},
        }
        send(server, "/access/v1/evaluation", question, key)


def seed_everything(server: Server, key: str, asking: str) -> None:
    """All of it."""
    seed_requests(server, key, asking)
    seed_reports(server, key)
    seed_work(server, key)
    seed_calls(server, key)
