"""Only the mode of an agent keeps it from changing files, and it has every tool.

## What it checks

An agent of Claude Code with `permissionMode: plan` lists its `tools`, or excludes some under `disallowedTools`.

## Why it matters

The mode only asks the agent to plan first. A session that skips permissions overrides it, and the agent leaves it when a plan is
accepted. Then it has every tool, because its file does not list any. orgkernel decides by the tools, not by the mode.

## Example

```markdown
---
name: planner
description: Plans work. Use before a change.
permissionMode: plan
---
```

## Instead

```markdown
---
name: planner
description: Plans work. Use before a change.
tools: Read, Grep, Glob
permissionMode: plan
---
```

## Known limits

An agent that lists tools that write is not reported, because its author chose them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, get_written_words
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_MODE, _PLAN = "permissionMode", "plan"


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find agents in plan mode whose tools are not limited."""
    for post in posts:
        words = get_written_words(post)
        is_plan = post.document.format == CLAUDE_CODE and tuple(words.get(_MODE, ())) == (_PLAN,)
        if is_plan and words.keys().isdisjoint(("tools", "disallowedTools")):
            yield Finding(
                post.document.place(_MODE),
                f"agent {quote(post.profile.name)} has `{_MODE}: {_PLAN}` and every tool, so only the mode keeps it from changes",
                "list tools that only read, such as `tools: Read, Grep, Glob`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG723", "plan-mode-without-tools", Severity.INFO, RuleTarget.PROFILE, check)
