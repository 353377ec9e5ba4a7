"""An agent of Copilot lists a tool that is neither built in nor declared by the project.

## What it checks

Every name in `tools` of a `.agent.md` is a tool or a set of tools of GitHub Copilot or VS Code (`edit`,
`search/codebase`, including older names and aliases such as `Bash`), or a tool of an MCP server that
`.vscode/mcp.json`, `.mcp.json` or the agent itself declares (`SERVER/TOOL`, `SERVER/*`).

## Why it matters

Copilot ignores an unknown name, so the agent silently lacks the tool. orgkernel does not give it the tool either.

## Example

```markdown
---
description: Reviews changes. Use after every change.
tools: [read, serch]
---
```

## Instead

```markdown
---
description: Reviews changes. Use after every change.
tools: [read, search]
---
```

## Known limits

The finding is only informational, because the tool can exist: a file can name tools of products other than Copilot, of
extensions (`PUBLISHER.EXTENSION/TOOL`), or of servers in a user's own settings, and orgkernel reads none of these. No file lists the tools of a
server, so that part of a name is not checked. Nothing is reported while a file of servers cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.copilot.words import EVERY, SETS, convert_tool_id, get_tool_name
from orgkernel.loading.formats.names import get_server_tool_id_of
from orgkernel.rules.hosts.foreign_agents import COPILOT, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown tools."""
    tools = view.records.tools
    if "tool_catalog" in view.records.incomplete:
        return
    known = (*SETS, *(get_tool_name(tool) for tool in tools if tool.partition(".")[0] in SETS))
    for post in iterate_agents(view, COPILOT):
        for number, word in enumerate(get_written_words(post).get("tools", ())):
            tool = convert_tool_id(word)
            if tool in tools or word == EVERY or get_server_tool_id_of(tool) in tools:
                continue
            yield Finding(
                post.document.place("tools", number),
                f"agent {quote(post.profile.name)} lists the tool {quote(word)}, which is not declared here",
                did_you_mean(word, known) or "remove it, or declare its server in `.vscode/mcp.json`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG777", "unknown-copilot-tool", Severity.INFO, RuleTarget.ORGANIZATION, check)
