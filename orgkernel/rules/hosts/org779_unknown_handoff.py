"""An agent hands work to an agent that does not exist.

## What it checks

Every `agent` under `handoffs` of an agent of Copilot is the name of an agent that was read, or of an agent that comes
with VS Code.

## Why it matters

The handoff is stale because the agent was renamed or deleted. Its button does nothing.

## Example

```markdown
---
description: Plans a change. Use when a feature is asked for.
tools: [search]
handoffs:
  - label: Build it
    agent: implementor
---
```

## Instead

```markdown
---
description: Plans a change. Use when a feature is asked for.
tools: [search]
handoffs:
  - label: Build it
    agent: implementer
---
```

## Known limits

An agent is identified by its `name`, or by the name of its file if it has no `name`. Agents in a user's profile are
not read. If the agent is there, suppress the finding with the reason. Nothing is reported while the file of an agent
cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import (
    COPILOT,
    collect_names,
    get_written_words,
    iterate_agents,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_BUILT_IN = frozenset({"agent", "ask", "edit", "explore", "plan"})


def check(view: OrgView) -> Iterator[Finding]:
    """Find handoffs to unknown agents."""
    if view.records.excused:
        return
    posts = [post for post in iterate_agents(view) if post.document.format == COPILOT]
    known = collect_names(posts)
    for post in posts:
        for number, name in enumerate(get_written_words(post).get("handoffs", ())):
            if name and name not in known and name.lower() not in _BUILT_IN:
                yield Finding(
                    post.document.place("handoffs", number, "agent"),
                    f"agent {quote(post.profile.name)} hands work to the agent {quote(name)}, which does not exist",
                    did_you_mean(name, known) or "name an existing agent, or remove the handoff",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG779", "unknown-handoff", Severity.WARNING, RuleTarget.ORGANIZATION, check)
