"""An agent has no tool, because its file excludes every one.

## What it checks

`disallowedTools` of an agent of Claude Code does not contain `*`, and leaves at least one of the tools under `tools`.

## Why it matters

An agent without tools can only answer from its prompt: it cannot read a file. The author of `*` often meant to exclude all other
tools, but an exclusion takes precedence over the list.

## Example

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read, Grep
disallowedTools: "*"
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

An agent with an empty list under `tools` is not reported, because such a list states explicitly that it has no tool. Excluded parts of tools, such as
`Bash(rm:*)`, are not counted.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, EVERY, get_written_words
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_TOOLS, _EXCLUDED = "tools", "disallowedTools"


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find agents whose exclusions leave no tool."""
    for post in posts:
        words = get_written_words(post)
        excluded = words.get(_EXCLUDED, ())
        if post.document.format != CLAUDE_CODE or not excluded:
            continue
        listed = words.get(_TOOLS, ())
        if EVERY in excluded or (listed and set(listed) <= set(excluded)):
            yield Finding(
                post.document.place(_EXCLUDED),
                f"agent {quote(post.profile.name)} has no tool, because `{_EXCLUDED}` excludes every one",
                f"remove `{_EXCLUDED}`, and list the tools that the agent needs under `{_TOOLS}`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG724", "every-tool-excluded", Severity.WARNING, RuleTarget.PROFILE, check)
