"""Write the SALUTE report of a role whose subagent has ended."""

from __future__ import annotations

import os
import time
from typing import Any, Final

from orgkernel.project.hooks.claude_hook.activated import FOLDER, ActiveOrganization
from orgkernel.project.hooks.claude_hook.deciding import get_caller
from orgkernel.runtime.report_files import remove_stale, write_report
from orgkernel.runtime.salute import Situation, compute_report

REPORTS: Final = f"{FOLDER}/reports"


def report_end(active: ActiveOrganization, call: dict[str, Any]) -> str:
    """Report that the work of a subagent is complete, if its role sends such reports. Returns the problem, or an empty string."""
    role = active.get_role(get_caller(call) or "")
    if role is None or role not in active.data["reporting"]:
        return ""
    cwd = call.get("cwd")
    now = time.time()
    situation = Situation(
        role_id=role,
        now=now,
        role_name=active.data["names"][role],
        org_id=active.data["org_id"],
        reports_to=active.data["superiors"][role],
        agent_number=1,
        state="complete",
        working_directory=cwd if isinstance(cwd, str) else "",
    )
    folder = os.path.join(active.project, REPORTS)
    return write_report(folder, compute_report(situation)).problem or remove_stale(folder, now).problem
