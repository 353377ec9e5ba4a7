"""A command names a tool or an agent that does not exist.

## What it checks

In `.claude/commands/*.md`, every name in `allowed-tools` is a tool of Claude Code or begins with `mcp__`, and `agent`
is an agent of the project or one that comes with Claude Code.

## Why it matters

Claude Code ignores an unknown name. The user is asked for a permission that the command was meant to have, or the
command runs in an agent that its author did not intend.

## Example

```markdown
---
description: Looks for dead code.
allowed-tools: Read, Greb
---
```

## Instead

```markdown
---
description: Looks for dead code.
allowed-tools: Read, Grep
---
```

## Known limits

A command uses the tools of its caller, so `allowed-tools` grants no tools in orgkernel. Names with a plugin prefix
(`plugin:agent`) and the text of the command are not checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.claude_code.commands import AGENT, COMMAND, KIND, TOOLS
from orgkernel.loading.formats.claude_code.host_table import list_older_names
from orgkernel.loading.formats.names import MCP
from orgkernel.rules.hosts.foreign_agents import (
    collect_names,
    list_built_in_agents,
    list_documents_of_kind,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find unknown tools and agents in commands."""
    tools = view.records.tools
    own = [tool for tool in tools if not tool.startswith(MCP)]
    agents = collect_names(view.records.posts.values())
    for document, words in list_documents_of_kind(view, KIND):
        if COMMAND not in words:
            continue
        name = words[COMMAND][0]
        for number, word in enumerate(words.get(TOOLS, ())):
            tool = word.partition("(")[0].strip()
            if tool in tools or tool in list_older_names() or tool == "*" or tool.startswith(MCP):
                continue
            yield Finding(
                document.place(TOOLS, number),
                f"command {quote(name)} allows the tool {quote(tool)}, which Claude Code does not have",
                did_you_mean(tool, own) or "remove it",
                f"tool:{tool}",
            )
        for agent in words.get(AGENT, ()):
            if agent in agents or agent in list_built_in_agents() or ":" in agent or view.records.excused:
                continue
            yield Finding(
                document.place(AGENT),
                f"command {quote(name)} runs in the agent {quote(agent)}, which does not exist",
                did_you_mean(agent, agents) or "name an existing agent, or remove the field",
                f"role:{agent}",
            )


RULE = Rule("ORG782", "unknown-command-reference", Severity.WARNING, RuleTarget.ORGANIZATION, check)
