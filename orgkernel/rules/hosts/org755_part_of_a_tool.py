"""An agent has, or is denied, only part of a tool, which orgkernel cannot express.

## What it checks

Names in `tools` and `disallowedTools` of a Claude Code subagent have no argument such as in `Bash(git:*)`. There is
one exception. Tools that write files may list paths, as in `Edit(docs/**)`, if all of them list the same paths and no
other tool of the agent can write files.

The permissions of an OpenCode agent deny a whole tool or none of it. For `bash`, they may also deny some commands.

## Why it matters

Claude Code reads only the name: an agent that lists `Bash(git:*)` may run every command, and one that is denied
`Bash(rm:*)` has no `Bash`. orgkernel reads these names in the same way. There is one difference: in Claude Code,
`Agent(NAME)` does limit which agents may be started. orgkernel ignores that limit.

A rule of OpenCode can apply to some files, addresses or commands of a tool. It can also exempt some of them from a
denial. Of these rules, orgkernel can express only a denial of commands. If it cannot express a rule, it requires an
approval for every use of that tool.

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

The finding is only informational, because the file is correct. A tool that is also listed without an argument is not
reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.claude_code.file_scopes import is_file_part
from orgkernel.loading.formats.coding_agents import PARTLY, PARTS, RULES
from orgkernel.loading.formats.words import get_list_words
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, get_written_words
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SAYS = {
    "tools": "lists only part of the tool {tool}, but has all of {tool}",
    "disallowedTools": "is denied only part of the tool {tool}, but has nothing of {tool}",
}


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find tools with arguments."""
    for post in posts:
        yield from _find_inexpressible(post)
        words = get_written_words(post) if post.document.format == CLAUDE_CODE else {}
        for field, says in _SAYS.items():
            listed = frozenset(words.get(field, ()))
            for number, word in enumerate(words.get(field, ())):
                tool, has_argument, _ = word.partition("(")
                is_kept = field == "tools" and bool(post.profile.file_scope) and is_file_part(word)
                if has_argument and tool not in listed and not is_kept:
                    clause = says.format(tool=quote(tool.strip()))
                    yield Finding(
                        post.document.place(field, number),
                        f"agent {quote(post.profile.name)} {clause}",
                        f"list {quote(tool.strip())} if the whole tool is meant",
                        f"role:{post.role_id}",
                    )


def _find_inexpressible(post: RolePost) -> Iterator[Finding]:
    """Find the permissions because of which a whole tool asks."""
    words = get_list_words(post.document) if post.document.format else {}
    for number in map(int, words.get(PARTLY, ())):
        tool = quote(words[RULES][number])
        yield Finding(
            post.document.place(RULES, number),
            f"the permission of agent {quote(post.profile.name)} for {quote(words[PARTS][number])} covers only part of {tool}, so every use of {tool} requires an approval",
            f"allow, deny or ask about all of {tool}",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG755", "part-of-a-tool", Severity.INFO, RuleTarget.PROFILE, check)
