"""What the clients of `make load` do, for locust: mostly questions, some changes, each on its own connection.

It runs in the environment of locust and imports nothing of ours. The key is in ORGKERNEL_LOAD_KEY.
"""

from __future__ import annotations

import os
import random
import time
from datetime import UTC, datetime
from typing import Any

from locust import FastHttpUser, constant, task

ROLES = (
    "co", "engineering_xo", "research_xo", "codegen_specialist", "bugfix_specialist", "devops_specialist",
    "analysis_specialist", "osint_specialist",
)  # fmt: skip
TOOLS = (
    "text_editor",
    "code_execution_tool",
    "scheduler",
    "search_engine",
    "browser_agent",
    "call_subordinate",
)
DOMAINS = ("codegen", "bugfix", "analysis", "devops", "osint")


def question() -> dict[str, Any]:
    """May this role use that tool?"""
    return {
        "subject": {"type": "role", "id": random.choice(ROLES)},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": random.choice(TOOLS)},
    }


class Caller(FastHttpUser):
    """A client that asks the next question as soon as it has the answer to the last one."""

    wait_time = constant(0)
    concurrency = 1

    def on_start(self) -> None:
        """Take the key."""
        self.key = {"Authorization": f"Bearer {os.environ['ORGKERNEL_LOAD_KEY']}"}
        self.number = 0

    def ask(self, path: str, body: Any = None, name: str = "", expected: tuple[int, ...] = (200,)) -> Any:
        """The answer; any other status than those expected is a failure."""
        method = "GET" if body is None else "POST"
        with self.client.request(
            method, path, json=body, headers=self.key, name=f"{method} {name or path}", catch_response=True
        ) as response:
            if response.status_code in expected:
                response.success()
                return response.json()
            response.failure(f"{response.status_code} {response.text[:200]}")
            return None

    @task(50)
    def evaluate(self) -> None:
        """One decision, audited."""
        self.ask("/access/v1/evaluation", question())

    @task(4)
    def evaluate_several(self) -> None:
        """Five decisions in one request."""
        self.ask("/access/v1/evaluations", {"evaluations": [question() for _ in range(5)]})

    @task(12)
    def read_role(self) -> None:
        """The manifest of a role."""
        self.ask(f"/v1/orgs/software_dev/roles/{random.choice(ROLES)}", name="/v1/orgs/{org}/roles/{role}")

    @task(3)
    def read_crew(self) -> None:
        """The manifest of an organization."""
        self.ask("/v1/orgs/software_dev/manifest", name="/v1/orgs/{org}/manifest")

    @task(8)
    def dispatch(self) -> None:
        """Who takes this?"""
        self.ask(
            "/v1/orgs/software_dev/dispatch", {"domain": random.choice(DOMAINS)}, "/v1/orgs/{org}/dispatch"
        )

    @task(3)
    def search(self) -> None:
        """What may this role use?"""
        asked = question() | {"resource": {"type": "tool"}}
        self.ask("/access/v1/search/resource", asked)

    @task(2)
    def explain(self) -> None:
        """Why?"""
        asked = {
            "subject": f"role:{random.choice(ROLES)}",
            "action": "use",
            "resource": f"tool:{random.choice(TOOLS)}",
        }
        self.ask("/v1/orgs/software_dev/why", asked, "/v1/orgs/{org}/why")

    @task(2)
    def read_audit(self) -> None:
        """The latest rows of the audit."""
        self.ask("/v1/audit?limit=20", name="/v1/audit")

    @task(3)
    def grant_and_revoke(self) -> None:
        """A grant comes and goes."""
        given = {
            "subject": "agent:clerk",
            "resources": ["tool:github"],
            "level": "read",
        }
        grant = self.ask("/v1/orgs/household/grants", given, "/v1/orgs/{org}/grants", (201,))
        if grant is not None:
            done = f"/v1/orgs/household/grants/{grant['grant_id']}/revoke"
            self.ask(done, {"reason": "load"}, "/v1/orgs/{org}/grants/{grant}/revoke")

    @task(2)
    def lock_and_release(self) -> None:
        """An exclusive tool is taken and given back. Somebody else may have it."""
        wanted = {
            "tool": "shell",
            "holder": "person:owner",
            "context": {"peer_kind": "dm"},
        }
        lock = self.ask("/v1/orgs/household/locks", wanted, "/v1/orgs/{org}/locks", (201, 409))
        if lock is not None and "token" in lock:
            back = {"token": lock["token"], "holder": "person:owner"}
            self.ask(
                "/v1/orgs/household/locks/shell/release",
                back,
                "/v1/orgs/{org}/locks/{tool}/release",
                (200, 409),
            )

    @task(3)
    def report(self) -> None:
        """The status of a role."""
        self.number += 1
        self.ask("/v1/orgs/software_dev/salute", self.salute(), "/v1/orgs/{org}/salute", (200,))

    def salute(self) -> dict[str, Any]:
        """A whole report."""
        role = random.choice(ROLES)
        return {
            "_schema": "orgkernel:salute_report",
            "_version": "1.0",
            "status": {"state": "active", "progress": 0.4, "pace_level": "primary", "health": "nominal"},
            "activity": {
                "current_task": f"task {self.number}", "bst_domain": "bugfix", "htn_plan": "bugfix_workflow",
                "htn_step": 2, "htn_total_steps": 5, "current_tool": "text_editor", "iterations_on_current_step": 1,
            },
            "location": {
                "working_directory": "/srv/app", "files_modified": ["parser.py"], "files_read": [],
                "resources_claimed": [],
            },
            "unit": {
                "role_id": role, "role_name": role, "agent_number": 0, "reports_to": None,
                "organization": "software_dev",
            },
            "time": {
                "timestamp": datetime.fromtimestamp(time.time(), UTC).isoformat(), "task_started": None,
                "elapsed_seconds": 60, "turns_elapsed": 6, "turns_since_progress": 1,
                "context_turns_remaining": None,
            },
        }  # fmt: skip
