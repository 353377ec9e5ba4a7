"""An organization with tools of servers, a file of accepted tools, and calls that were decided and written down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.context import Actor
from orgkernel.operations.decisions import decide_and_wait
from orgkernel.operations.permits import Permits, record_use
from orgkernel.state.location import parse_location
from orgkernel.state.store import Store
from orgkernel.toolbox.upstream_tools import build_call_request
from tests.support.trees import write_tree

DAY = 86_400.0
ORG = """\
_schema: orgkernel:organization
_version: "1.0"
org_id: shop
hierarchy:
  lead: {subordinates: [dev, clerk]}
  dev: {}
  clerk: {}
"""
LEAD = """\
_schema: orgkernel:role_profile
role_id: lead
role_type: commander
description: Leads.
capabilities:
  tools_primary: [web_search]
"""
DEV = """\
_schema: orgkernel:role_profile
role_id: dev
description: Writes code.
capabilities:
  # What it works with.
  tools_primary:
    - tracker          # issues and their history
    - web_search       # nobody remembers why
  tools:
    - {tool: wiki, level: full}   # the handbook
"""
CLERK = """\
_schema: orgkernel:role_profile
role_id: clerk
description: Keeps records.
capabilities:
  tools_primary: [wiki]
"""
TOOLS = """\
_schema: orgkernel:tool_catalog
_version: "1.0"
tools:
  tracker:
    description: Issues.
    type: mcp_server
    provider: tracker
    actions: {list_issues: read, create_issue: write, delete_issue: full}
  web_search:
    description: Searches the web.
    type: mcp_server
    provider: search
    side_effects: read
  wiki:
    description: The handbook.
    type: mcp_server
    provider: wiki
    actions: {read_page: read, write_page: write}
"""
ROSTER = """\
_schema: orgkernel:crew_roster
_version: "1.0"
org: shop
agents:
"""
CREW = (
    ROSTER
    + """\
  ada: {assignments: [{role: dev}]}
  bob: {assignments: [{role: clerk}]}
  cleo: {assignments: [{role: lead}]}
"""
)
FILES = {
    "org.yaml": ORG,
    "roles/lead.yaml": LEAD,
    "roles/dev.yaml": DEV,
    "roles/clerk.yaml": CLERK,
    "tools.yaml": TOOLS,
    "crew.yaml": CREW,
}
SERVERS = {
    "tracker": ("list_issues", "create_issue", "delete_issue"),
    "search": ("web_search",),
    "wiki": ("read_page", "write_page"),
}


def definition(name: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": f"What to {name}."}},
    }
    return {"name": name, "description": f"Does {name} on a server that others run.", "inputSchema": schema}


def lock_text() -> str:
    servers = {
        server: {"tools": {name: definition(name) for name in names}} for server, names in SERVERS.items()
    }
    return json.dumps({"version": 1, "servers": servers})


def write_shop(folder: Path, **changed: str) -> Path:
    """The files of the shop beside a file of accepted tools; `roles_dev` is another `roles/dev.yaml`."""
    files = FILES | {name.replace("_", "/", 1) + ".yaml": text for name, text in changed.items()}
    commands = {name: {"command": "no-such-program"} for name in SERVERS}
    more = {"gateway.lock.json": lock_text(), "mcp.json": json.dumps({"mcpServers": commands})}
    return write_tree(folder, files | more)


class Calls:
    """Calls that were decided and written down as the gateway does it, some days ago."""

    def __init__(self, kernel: Kernel, store: Store, now: float) -> None:
        self._kernel, self._store, self._now = kernel, store, now

    def make(
        self, subject: str, tool: str, action: str, name: str, *, server: str = "", days: float = 0.0, times: int = 1,
        failed: str = "", org: str = "shop",
    ) -> list[str]:  # fmt: skip
        """The outcomes. Uses are noted now, as they are in life, where a call takes no days."""
        at = self._now - days * DAY
        permits = Permits(self._kernel, self._store, wall_clock=lambda: at)
        about = {"server": server or tool, "tool": name}
        outcomes = []
        for _ in range(times):
            request = build_call_request(AccessRequest(subject, "", ""), tool, action, b"{}")
            ruling = permits.decide(org, request, b"{}", about=about)
            outcomes.append(ruling.decision.outcome)
            if ruling.decision.outcome == "allow":
                record_use(
                    self._store,
                    "shop",
                    subject,
                    tool,
                    action,
                    code=failed,
                    seconds=0.1,
                    decision=ruling.audit_id,
                )
        return outcomes

    def ask(self, subject: str, tool: str, action: str) -> None:
        """Ask whether a tool may be used, which is no call."""
        request = AccessRequest(subject, action, f"tool:{tool}")
        decide_and_wait(self._kernel, self._store, "shop", request, Actor(subject, subject))


@contextmanager
def calling(folder: Path, now: float) -> Iterator[Calls]:
    with open_store(parse_location(str(folder / "state.db"), str(folder))) as store:
        yield Calls(Kernel.open(folder), store, now)
