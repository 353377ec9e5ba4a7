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

The finding is only a warning, because Claude Code can be newer than the list of its tools that comes with orgkernel.
Names are case-sensitive: `read` is not a tool. If a list has more than two names that are similar to no tool,
they are reported as one finding. ORG753 checks the names of MCP servers.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import MCP
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, SAME_TOOL, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_EVERY = "*"
_VERB = {"tools": "lists", "disallowedTools": "excludes"}
_HELP = "remove it, or name a tool of an MCP server as `mcp__SERVER__TOOL`"
_MAX_ONE_BY_ONE = 2
"""The number of unknown tools of a list that are reported one by one."""


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown tools. If several names of a list are similar to no tool, such as the tools of another host, they are one
    finding.
    """
    tools = view.records.tools
    own = [tool for tool in tools if not tool.startswith(MCP)]
    for post in iterate_agents(view, CLAUDE_CODE):
        words = get_written_words(post)
        for field, verb in _VERB.items():
            unknown: dict[int, str] = {}
            for number, word in enumerate(words.get(field, ())):
                name = word.partition("(")[0].strip()
                known = name in tools or SAME_TOOL.get(name) in tools
                if not known and name != _EVERY and not name.startswith(MCP):
                    unknown[number] = name
            helps = {number: did_you_mean(name, own) for number, name in unknown.items()}
            others = {number: name for number, name in unknown.items() if not helps[number]}
            is_one_finding = len(others) > _MAX_ONE_BY_ONE
            for number, name in unknown.items():
                if is_one_finding and number in others:
                    if number != next(iter(others)):
                        continue
                    names = dict.fromkeys(others.values())
                    text = f"the tools {listing(names)}, which Claude Code does not have"
                else:
                    text = f"the tool {quote(name)}, which Claude Code does not have"
                yield Finding(
                    post.document.place(field, number),
                    f"agent {quote(post.profile.name)} {verb} {text}",
                    helps[number] or _HELP,
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG752", "unknown-agent-tool", Severity.WARNING, RuleTarget.ORGANIZATION, check)
