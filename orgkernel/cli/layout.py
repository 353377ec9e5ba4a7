"""The table of commands: six groups, in each the commands with their module and their summary in `orgkernel --help`."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command: its module below `orgkernel.cli`, with `:NAME` if it is not called `command` there, and its summary."""

    place: str
    summary: str


GROUPS = {
    "Author": {
        "new": Entry("author.new", "Create an organization, or add a role, a tool or a domain."),
        "check": Entry("author.check", "Check documents and organizations."),
        "list": Entry("author.list", "List the organizations and the agents of others here."),
        "test": Entry("author.test", "Run the decision cases of an organization."),
        "diff": Entry("author.diff", "Show what each role gained and lost between two trees."),
        "upgrade": Entry("author.upgrade", "Upgrade older documents in place."),
        "rule": Entry("author.reference:rule", "Explain a rule, or list all rules."),
        "schema": Entry("author.reference:schema", "Print the JSON Schema of a kind of document."),
    },
    "Ask": {
        "can": Entry("ask.access:can", "Check whether a subject may do an action."),
        "why": Entry("ask.access:why", "Explain an access decision layer by layer."),
        "who-can": Entry("ask.access:who_can", "List the subjects that may do an action."),
        "what-can": Entry("ask.access:what_can", "List what a subject may do."),
        "dispatch": Entry("ask.dispatch", "Find the role that takes a task, and explain why."),
        "handle": Entry("ask.handle", "Find out how a subject handles an intent."),
        "manifest": Entry("ask.manifest", "Show everything that a role, an agent or the crew can do."),
        "graph": Entry("ask.manifest:graph", "Draw the org chart."),
    },
    "Crew": {
        "crew": Entry("crew.crew", "List agents by skill, rank and more; vacancies, alert, watch."),
        "agent": Entry("crew.agent", "List and commission agents, and record what they do."),
        "role": Entry("crew.role", "Show the standing orders or the PACE tier of a role."),
        "skill": Entry("crew.skill", "List and show cognitive skills (SKILL.md)."),
        "bill": Entry("crew.bill", "Show procedures of several roles, and what comes next."),
    },
    "Work": {
        "task": Entry("work.task", "Plan, brief, dispatch and report work, and log decisions."),
        "claim": Entry("work.claim", "Claim files, and show who works on which."),
        "ownership": Entry("work.ownership", "Find files changed by others than their owners; hooks."),
        "command": Entry("work.shell_command", "Find destructive operations in a shell command."),
    },
    "Operate": {
        "serve": Entry("operate.serve", "Serve the HTTP API."),
        "grant": Entry("operate.permissions:grant", "Grant and revoke permissions."),
        "restriction": Entry(
            "operate.permissions:restriction", "Restrict permissions, and lift restrictions."
        ),
        "request": Entry(
            "operate.permissions:request", "Request permissions, and approve or refuse requests."
        ),
        "lock": Entry("operate.lock", "List and release locks of exclusive tools."),
        "key": Entry("operate.key", "Manage API keys, and the key that signs agent cards."),
        "salute": Entry("operate.salute", "Show, follow and collect SALUTE reports of roles."),
        "audit": Entry("operate.audit", "Search the audit log, and verify it."),
        "store": Entry("operate.store", "Show, upgrade and back up the store."),
        "doctor": Entry("operate.doctor", "Find what is wrong with this installation."),
        "demo": Entry("operate.demo", "Play a scenario on real servers, step by step."),
    },
    "Hosts": {
        "import": Entry("hosts.importing", "Write agents of others as documents of ours."),
        "export": Entry("hosts.export", "Export an organization to the format of another tool."),
        "mcp": Entry("hosts.mcp", "Serve an agent over MCP; save the tools of MCP servers."),
        "gateway": Entry("hosts.gateway", "Pass tools of MCP servers on, and decide every call."),
        "host": Entry("hosts.host", "Activate an organization in Agent-Zero or Claude Code."),
    },
}
"""The commands as `orgkernel --help` shows them."""

COMMANDS = {name: entry for entries in GROUPS.values() for name, entry in entries.items()}

RENAMED = {
    "batch": "task",
    "card-key": "key card",
    "contract": "task",
    "decisions": "task log",
    "dispatch-check": "task dispatch check",
    "dispatches": "task dispatch",
    "mcp-tools": "mcp tools",
    "org": "host",
    "scope": "claim` or `orgkernel ownership",
}
"""Commands that older pages name, and where they are, if no subcommand is called like it."""
