"""An agent has, or is denied, only part of a tool, which orgkernel cannot express.

## What it checks

Names in `tools` and `disallowedTools` of a subagent have no argument such as in `Bash(git:*)`. There is one
exception. Tools that write files may list paths, as in `Edit(docs/**)`, if all of them list the same paths and no
other tool of the agent can write files.

## Why it matters

orgkernel decides about whole tools of Claude Code, and about paths that an agent may write. If a name has another
argument, orgkernel treats the agent as not having the tool at all, under `tools` as well as under `disallowedTools`.
Claude Code itself allows more.

## Example

```markdown
---
name: committer
description: Writes commits. Use when a change is done.
tools: Read, Bash(git:*)
---
```

## Instead

```markdown
---
name: committer
description: Writes commits. Use when a change is done.
tools: Read, Bash
---
```

## Known limits

It is only information, because the file is correct. Only orgkernel's answers about this tool are stricter than Claude
Code. A tool that is also listed without an argument is not reported.

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

_SAYS = {
    "tools": "lists only part of the tool {tool}, so it is treated as not having {tool}",
    "disallowedTools": "is denied part of the tool {tool}, so it is treated as not having {tool}",
}


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find tools with arguments."""
    for post in posts:
        words = get_written_words(post) if post.document.format == CLAUDE_CODE else {}
        for field, says in _SAYS.items():
            listed = frozenset(words.get(field, ()))
            for number, word in enumerate(words.get(field, ())):
                tool, has_argument, _ = word.partition("(")
                is_kept = field == "tools" and tool in post.profile.capabilities.tools_primary
                if has_argument and tool not in listed and not is_kept:
                    clause = says.format(tool=quote(tool.strip()))
                    yield Finding(
                        post.document.place(field, number),
                        f"agent {quote(post.profile.name)} {clause}",
                        f"list {quote(tool.strip())} if the whole tool is meant",
                        f"role:{post.role_id}",
                    )


RULE = Rule("ORG755", "part-of-a-tool", Severity.INFO, RuleTarget.PROFILE, check)
