"""The findings about roles and agents that an error takes out of service, one row each (docs/adr/0094)."""

from __future__ import annotations

from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.diagnostic import Severity

ROLE_OUT_OF_SERVICE = Row(
    "ORG725", "role-out-of-service", Severity.INFO,
    "A role is out of service, because its own file has an error.",
    "The other roles of the organization answer. Every question about this role is refused, and names the error.",
    "Correct the error at this place. The role answers again with the next load.",
)  # fmt: skip
AGENT_OUT_OF_SERVICE = Row(
    "ORG726", "agent-out-of-service", Severity.INFO,
    "An agent is out of service, because a role that it fills is.",
    "The file of that role could limit the agent, so the agent can do nothing until the file can be used.",
    "Correct the error in the file of the role, or end the assignment.",
)  # fmt: skip

SERVICE_ROWS: dict[str, Row] = {row.code: row for row in (ROLE_OUT_OF_SERVICE, AGENT_OUT_OF_SERVICE)}
