"""An agent names a tool of an MCP server that no file of its project or plugin declares.

## What it checks

The server in `mcp__SERVER__TOOL` is declared in the `.mcp.json` of the project or plugin, in its `plugin.json`, or under
`mcpServers` of the agent itself.

## Why it matters

On a machine without that server, the agent silently lacks the tool. orgkernel never gives the role this tool, even if
the user's own settings declare the server.

## Example

```markdown
---
name: triager
description: Sorts new issues. Use when issues are open.
tools: Read, mcp__githob__list_issues
---
```

## Instead

```markdown
---
name: triager
description: Sorts new issues. Use when issues are open.
tools: Read, mcp__github__list_issues
---
```

## Known limits

The finding is only informational, because users can declare servers in their own settings, which are not read. Each
server is reported once for each agent. No file lists the tools of a server, so the rest of the name is not checked.
Servers of installed plugins (`mcp__plugin_…`) are not checked, and nothing is reported while `.mcp.json` cannot be
read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import MCP, get_server_tool_id_of
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_OF_PLUGINS = f"{MCP}plugin_"


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared servers that agents use."""
    tools = view.records.tools
    if "tool_catalog" in view.records.incomplete:
        return
    servers = {each.removeprefix(MCP) for each in tools if get_server_tool_id_of(each) == each}
    for post in iterate_agents(view, CLAUDE_CODE):
        words, server_names = get_written_words(post), set()
        for field in ("tools", "disallowedTools"):
            for number, word in enumerate(words.get(field, ())):
                server = get_server_tool_id_of(word)
                if (
                    server is None
                    or server in tools
                    or server in server_names
                    or server.startswith(_OF_PLUGINS)
                ):
                    continue
                server_names.add(server)
                name = server.removeprefix(MCP)
                yield Finding(
                    post.document.place(field, number),
                    f"agent {quote(post.profile.name)} names the MCP server {quote(name)}, which is not declared here",
                    did_you_mean(name, servers)
                    or "declare it in `.mcp.json` so that every user of the project has it",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG753", "unknown-mcp-server", Severity.INFO, RuleTarget.ORGANIZATION, check)
