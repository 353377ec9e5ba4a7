"""A coordinator can change files itself, like the agents that it hands work to.

## What it checks

The rule applies to agents that may start other agents (`Agent` or `Task` among their tools, `agents`, or subordinates) and
whose name or description contains a word such as coordinate, orchestrate or delegate. Such an agent must not list a tool that
writes files if one of the other agents has the same tool. If its instructions say that it never writes files itself, it must
have no such tool at all, listed or inherited by leaving out `tools`.

## Why it matters

A coordinator that can write tends to do the work itself, without the specialist, its rules and its review. If it
lacks the tool, it has to delegate.

## Example

```markdown
---
name: lead
description: Coordinates a feature and delegates its parts. Use for work of several steps.
tools: Agent, Read, Edit
---
```

A second agent, `coder`, has `Edit` too.

## Instead

```markdown
---
name: lead
description: Coordinates a feature and delegates its parts. Use for work of several steps.
tools: Agent, Read
---
```

## Known limits

The finding is only informational, because some coordinators write a plan or a report of their own. Tools that can
change files in other ways, such as `Bash`, are ORG728. Only English is understood.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import (
    COORDINATES,
    get_delegates,
    get_written_words,
    is_coordinator_that_never_writes,
    iterate_agents,
    list_writing_tools,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find coordinators with a tool that writes files, if an agent below them has the same tool, or their text forbids it."""
    posts = list(iterate_agents(view))
    writing = list_writing_tools(view)
    for post in posts:
        words, name = get_written_words(post), post.profile.name
        own = [tool for tool in writing if tool in post.profile.capabilities.tools_primary]
        never_writes = bool(own) and is_coordinator_that_never_writes(view, post)
        is_named = COORDINATES.search(f"{name} {post.profile.description}") is not None
        if not own or not (never_writes or (is_named and "tools" in words)):
            continue
        below = _list_workers_below(view, post, posts) if is_named else []
        other = next((each for each in below if _list_common(own, each)), None)
        written = own if other is None else _list_common(own, other)
        written = [tool for tool in written if tool in words.get("tools", ())] or written
        place = post.document.place("tools" if "tools" in words else "name")
        if other is not None:
            yield Finding(
                place,
                f"agent {quote(name)} coordinates others, and can change files itself with {listing(written)}, "
                f"as {quote(other.profile.name)} can",
                "leave these tools to the agents that it hands work to",
                f"role:{post.role_id}",
                (Related(other.document.place("tools"), f"the tools of {quote(other.profile.name)}"),),
            )
        elif never_writes:
            yield Finding(
                place,
                f"agent {quote(name)} coordinates others and never writes, according to its text, and can change files with {listing(written)}",
                "list the tools that it needs, without these",
                f"role:{post.role_id}",
            )


def _list_common(tools: list[str], other: RolePost) -> list[str]:
    """The tools that another agent has, too."""
    return [tool for tool in tools if tool in other.profile.capabilities.tools_primary]


def _list_workers_below(view: OrgView, post: RolePost, posts: list[RolePost]) -> list[RolePost]:
    """The agents to which it may hand work and that are not coordinators themselves."""
    delegates = get_delegates(post)
    names = {name for _, _, name in delegates.named}
    subordinates = {edge.source for edge in view.list_subordinates(post.role_id)}
    anyone = delegates.anyone or "tools" not in get_written_words(post)
    agents = [
        each
        for each in posts
        if each is not post
        and (anyone or each.profile.name in names or each.role_id in subordinates)
        and not COORDINATES.search(f"{each.profile.name} {each.profile.description}")
    ]
    # The message names the first one. An agent that lists its tools is the clearest example.
    return sorted(agents, key=lambda each: "tools" not in get_written_words(each))


RULE = Rule("ORG758", "coordinator-writes", Severity.INFO, RuleTarget.ORGANIZATION, check)
