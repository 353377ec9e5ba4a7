"""An agent names agents that it may start, but has no tool to start them with.

## What it checks

An agent of Copilot with a list of `agents` has the tool `agent`: its `tools` list `agent`, or it has no field
`tools`.

## Why it matters

The list has no effect. The agent cannot start other agents, so it does their work itself.

## Example

```markdown
---
description: Plans a change. Use when a feature is asked for.
tools: [read, search]
agents: [implementer]
---
```

## Instead

```markdown
---
description: Plans a change. Use when a feature is asked for.
tools: [read, search, agent]
agents: [implementer]
---
```

## Known limits

An empty list means that the agent starts no other agents, so it needs no tool.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.copilot.words import STARTER, holds
from orgkernel.rules.hosts.foreign_agents import COPILOT, get_written_words
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Lists of agents without effect."""
    for post in posts:
        if post.document.format != COPILOT or not get_written_words(post).get("agents"):
            continue
        if not any(
            tool == STARTER or holds(STARTER, tool) for tool in post.profile.capabilities.tools_primary
        ):
            yield Finding(
                post.document.place("agents", key=True),
                f"agent {quote(post.profile.name)} lists `agents`, but has no tool to start them with",
                "add `agent` to its `tools`, or remove the list",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG778", "agents-without-tool", Severity.WARNING, RuleTarget.PROFILE, check)
