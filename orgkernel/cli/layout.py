"""The table of commands: six groups, in each the commands with their module and their summary in `orgkernel --help`."""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command: its module below `orgkernel.cli`, with `:NAME` if it is not called `command` there, and its summary."""

    place: str
    summary: str


GROUPS = {
    "Author": {
        "new": CommandEntry("author.new", "Create an organization, or add a role, a tool or a domain."),
        "check": CommandEntry("author.check", "Check documents and organizations."),
        "list": CommandEntry("author.list", "List the organizations here, and agents in other formats."),
        "test": CommandEntry("author.test", "Run the decision cases of an organization."),
        "diff": CommandEntry("author.diff", "Show what each role gained and lost between two versions."),
        "site": CommandEntry("author.site", "Write a copy of the page that needs no server."),
        "upgrade": CommandEntry("author.upgrade", "Upgrade older documents in place."),
        "rule": CommandEntry("author.reference:rule", "Explain a rule, or list all rules."),
        "schema": CommandEntry("author.reference:schema", "Print the JSON Schema of a kind of document."),
    },
    "Ask": {
        "can": CommandEntry("ask.access:can", "Check whether a subject may do an action."),
        "why": CommandEntry("ask.access:why", "Explain an access decision layer by layer."),
        "who-can": CommandEntry("ask.access:who_can", "List the subjects that may do an action."),
        "what-can": CommandEntry("ask.access:what_can", "List what a subject may do."),
        "policy": CommandEntry("ask.policy", "List policies, and show what a policy changes for whom."),
        "dispatch": CommandEntry("ask.dispatch", "Find the role that takes a task, and explain why."),
        "routing": CommandEntry("ask.routing", "Report whether examples and triggers lead to their roles."),
        "handle": CommandEntry("ask.handle", "Find out how a subject handles an intent."),
        "manifest": CommandEntry("ask.manifest", "Show everything that a role, an agent or the crew can do."),
        "graph": CommandEntry("ask.manifest:graph", "Draw the org chart."),
    },
    "Crew": {
        "crew": CommandEntry("crew.crew", "List agents by skill, rank and more; vacancies, alert, watch."),
        "agent": CommandEntry("crew.agent", "List and commission agents, and record what they do."),
        "role": CommandEntry("crew.role", "Show the standing orders or the PACE tier of a role."),
        "skill": CommandEntry("crew.skill", "List and show cognitive skills (SKILL.md)."),
        "bill": CommandEntry("crew.bill", "Show procedures of several roles, and what comes next."),
    },
    "Work": {
        "task": CommandEntry("work.task", "Plan, brief, hand down and report work, and log decisions."),
        "claim": CommandEntry("work.claim", "Claim files, and show who works on which."),
        "ownership": CommandEntry("work.ownership", "Find files that a worker changed without owning them."),
        "command": CommandEntry("work.shell_command", "Find destructive operations in a shell command."),
    },
    "Operate": {
        "serve": CommandEntry("operate.serve", "Serve the page and the HTTP API."),
        "open": CommandEntry("operate.open", "Open the page of a running server in a browser."),
        "grant": CommandEntry("operate.permissions:grant", "Grant and revoke permissions."),
        "restriction": CommandEntry(
            "operate.permissions:restriction", "Restrict permissions, and lift restrictions."
        ),
        "request": CommandEntry(
            "operate.permissions:request", "Request permissions, and approve or refuse requests."
        ),
        "limit": CommandEntry("operate.limit", "List the limits of calls, and what is left of them."),
        "lock": CommandEntry("operate.lock", "List and release locks of exclusive tools."),
        "key": CommandEntry("operate.key", "Manage API keys, and the key that signs agent cards."),
        "salute": CommandEntry("operate.salute", "Show, follow and collect SALUTE reports of roles."),
        "audit": CommandEntry("operate.audit", "Search the audit log, and verify it."),
        "store": CommandEntry("operate.store", "Show, upgrade and back up the store."),
        "doctor": CommandEntry("operate.doctor", "Find what is wrong with this installation."),
        "completion": CommandEntry(
            "operate.completion", "Print the script with which a shell completes commands."
        ),
        "demo": CommandEntry("operate.demo", "Play a scenario on real servers, step by step."),
    },
    "Hosts": {
        "import": CommandEntry("hosts.importing", "Convert agents in another format to orgkernel documents."),
        "export": CommandEntry("hosts.export", "Export an organization to the format of another tool."),
        "mcp": CommandEntry("hosts.mcp", "Serve an agent over MCP; save the tools of MCP servers."),
        "gateway": CommandEntry("hosts.gateway", "Pass on tools of MCP servers, and decide every call."),
        "host": CommandEntry("hosts.host", "Activate an organization in Agent-Zero or Claude Code."),
    },
}
"""The commands as `orgkernel --help` shows them."""

COMMANDS = {name: entry for entries in GROUPS.values() for name, entry in entries.items()}

RENAMED = {
    "batch": ("task",),
    "card-key": ("key card",),
    "contract": ("task",),
    "decisions": ("task log",),
    "dispatch-check": ("task handoff check",),
    "dispatches": ("task handoff",),
    "mcp-tools": ("mcp tools",),
    "org": ("host",),
    "scope": ("claim", "ownership"),
}
"""Commands that older pages name, and where they or their subcommands are now."""

RENAMED_BELOW = {
    "scope claim": "claim add",
    "scope claims": "claim list",
    "org alert": "crew alert",
    "org watch": "crew watch",
    "task dispatch": "task handoff",
}
"""Former subcommands that have another name now; the others are called as before."""

HINTS = {
    "role show": "`orgkernel manifest ROLE` shows a role",
    "role list": "`orgkernel graph` shows the roles",
    "agent show": "`orgkernel manifest --agent AGENT` shows an agent",
    "policy show": "`orgkernel policy explain POLICY` shows what a policy changes, for whom",
    "policy test": "`orgkernel test` runs the decision cases of an organization",
    "org list": "`orgkernel list` shows the organizations",
    "show": "`orgkernel manifest ROLE` shows a role, and `orgkernel graph` all of them",
    "gateway serve": "leave `serve` out: `orgkernel gateway` serves",
    "mcp serve": "leave `serve` out: `orgkernel mcp` serves",
    "scope hook": "an earlier version installed this hook: run `orgkernel ownership install-hooks` again",
}
"""Hints for commands that never existed, or that users do not call themselves."""
