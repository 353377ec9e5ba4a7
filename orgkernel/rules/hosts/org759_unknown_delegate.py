"""A field of an agent allows it to start an agent that does not exist.

## What it checks

Every name under `agents`, and in `Agent(NAME)` or `Task(NAME)` among the tools, is the name of an agent that was
read, or of an agent that comes with the host. Every sub-agent that a configuration names by its file (`config_path` of Google ADK, `source` of
the Agent Format) is an agent that was read.

## Why it matters

The agent cannot start an agent of that name, and the host does not report it. If the list has only this name, the
agent can start no one.

## Example

```markdown
---
name: lead
description: Leads a change. Use for work of several steps.
tools: Read, Agent(test-runer)
---
```

## Instead

```markdown
---
name: lead
description: Leads a change. Use for work of several steps.
tools: Read, Agent(test-runner)
---
```

## Known limits

The finding is only a warning, because agents in a user's own settings are not read. Names with a plugin prefix
(`plugin:agent`) are not checked, and nothing is reported while the file of an agent cannot be read. ORG757 checks
names in the text of an agent.

## Since

0.1
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.declared_agents import BELOW
from orgkernel.rules.hosts.foreign_agents import (
    collect_names,
    get_delegates,
    get_written_words,
    iterate_agents,
    list_built_in_agents,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown agents."""
    if view.records.excused:
        return
    posts = list(iterate_agents(view))
    known = collect_names(posts)
    for post in posts:
        delegates = get_delegates(post)
        for field, number, name in (*delegates.named, *delegates.taken):
            if name not in known and name not in list_built_in_agents() and ":" not in name:
                verb = "excludes" if field == "disallowedTools" else "allows"
                yield Finding(
                    post.document.place(field, number),
                    f"agent {quote(post.profile.name)} {verb} the agent {quote(name)}, which does not exist",
                    did_you_mean(name, known) or "name an existing agent, or remove the name",
                    f"role:{post.role_id}",
                )
        yield from _find_unread_files(post, posts, known)


def _find_unread_files(
    post: RolePost, posts: Sequence[RolePost], known: Collection[str]
) -> Iterator[Finding]:
    """Find sub-agents that are in no file that was read, neither by its path nor by the name of an agent."""
    below = get_written_words(post).get(BELOW, ())
    paths = {os.path.normpath(each.document.path) for each in posts} if below else ()
    for number, word in enumerate(below):
        path = os.path.normpath(os.path.join(os.path.dirname(post.document.path), word))
        if path not in paths and word not in known:
            yield Finding(
                post.document.place(BELOW, number),
                f"agent {quote(post.profile.name)} names the sub-agent {quote(word)}, which is not among the agents that were read",
                "correct the path, or check a folder that contains both files",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG759", "unknown-delegate", Severity.WARNING, RuleTarget.ORGANIZATION, check)
