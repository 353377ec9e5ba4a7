"""An agent names a tool that Claude Code does not have.

## What it checks

Every name in `tools` and `disallowedTools` of a subagent is a tool of Claude Code (`orgkernel manifest` of an agent
without `tools` lists them) or begins with `mcp__`.

## Why it matters

Claude Code ignores a name that it does not know. If the name is in `tools`, the agent silently lacks the tool. If it
is in `disallowedTools`, the agent keeps a tool that it should not have.

## Example

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read, Greb
---
```

## Instead

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read, Grep
---
```

## Known limits

It is only a warning, because Claude Code can be newer than the list of its tools that comes with orgkernel. Names are
case-sensitive: `read` is not a tool. ORG753 checks the names of MCP servers.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import MCP
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_EVERY = "*"
_VERB = {"tools": "lists", "disallowedTools": "takes away"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown tools."""
    tools = view.records.tools
    own = [tool for tool in tools if not tool.startswith(MCP)]
    for post in iterate_agents(view, CLAUDE_CODE):
        words = get_written_words(post)
        for field, verb in _VERB.items():
            for number, word in enumerate(words.get(field, ())):
                name = word.partition("(")[0].strip()
                if name in tools or name == _EVERY or name.startswith(MCP):
                    continue
                yield Finding(
                    post.document.place(field, number),
                    f"agent {quote(post.profile.name)} {verb} the tool {quote(name)}, which Claude Code does not have",
                    did_you_mean(name, own)
                    or "remove it, or name a tool of an MCP server as `mcp__SERVER__TOOL`",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG752", "unknown-agent-tool", Severity.WARNING, RuleTarget.ORGANIZATION, check)
