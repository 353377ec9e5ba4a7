"""An agent has every tool because its file does not list any.

## What it checks

An agent of Claude Code or Copilot lists its `tools`, or excludes some under `disallowedTools`.

## Why it matters

If both are missing, the agent has every tool, including tools of MCP servers that are added later. A reviewer that
only has to read may then write, run commands and start other agents. A reader of the file cannot tell whether that
was intended.

## Example

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
---
```

## Instead

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read, Grep, Glob
---
```

## Known limits

The finding is only informational, because omitting `tools` means "all" to these hosts, and some agents need all
tools. Write `tools: "*"` to state that explicitly. A list that names every tool is not reported. An agent in plan
mode is reported by ORG723.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import get_written_words, is_chosen_by_description
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find agents whose tools are not limited."""
    for post in posts:
        words = get_written_words(post)
        is_planner = "plan" in words.get("permissionMode", ())  # ORG723 tells it
        if (
            is_chosen_by_description(post)
            and words.keys().isdisjoint(("tools", "disallowedTools"))
            and not is_planner
        ):
            yield Finding(
                post.document.place("name"),
                f"agent {quote(post.profile.name)} has every tool, because its file does not list `tools`",
                'list the tools that it needs, or write `tools: "*"`',
                f"role:{post.role_id}",
            )


RULE = Rule("ORG750", "every-tool-by-omission", Severity.INFO, RuleTarget.PROFILE, check)
