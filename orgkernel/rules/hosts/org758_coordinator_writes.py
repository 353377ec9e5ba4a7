"""A coordinator can change files itself, like the agents that it hands work to.

## What it checks

The rule applies to agents that may start other agents (`Agent` or `Task` among their tools, `agents`, or subordinates) and
whose name or description contains a word such as coordinate, orchestrate or delegate. Such an agent must not list a tool that
writes files if one of the other agents has the same tool. If its instructions say that it never writes files itself, it must
also not inherit such a tool by leaving out `tools`.

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
change files in other ways, such as `Bash`, are ignored. Only English is understood.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import get_delegates, get_written_words, iterate_agents, list_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_LOCAL = "deterministic_function"
_COORDINATES = lazy_pattern(
    r"\b(?:co-?ordinat|orchestrat|delegat)(?:e|es|ing|ors?)\b|\b(?:dispatcher|conductor)\b", re.IGNORECASE
)
_NEVER_WRITES = lazy_pattern(
    r"\b(?:never|do not|don't|must not) (?:\w+ ){0,2}(?:write|edit|implement|modify|change|touch) (?:[\w-]+ ){0,4}"
    r"(?:yourself|code|files?)\b",
    re.IGNORECASE,
)


def check(view: OrgView) -> Iterator[Finding]:
    """Find coordinators with a tool that writes files, if an agent below them has the same tool."""
    posts = list(iterate_agents(view))
    writing = [
        tool
        for tool, each in view.records.tools.items()
        if each.record.side_effects == "write" and each.record.opens_files and each.record.type == _LOCAL
    ]
    for post in posts:
        if not _COORDINATES.search(f"{post.profile.name} {post.profile.description}"):
            continue
        words = get_written_words(post)
        below = _list_workers_below(view, post, posts)
        if not below or ("tools" not in words and not _does_never_write(view, post)):
            continue
        own = [tool for tool in writing if tool in post.profile.capabilities.tools_primary]
        for other in below:
            both = [tool for tool in own if tool in other.profile.capabilities.tools_primary]
            if both:
                written = [tool for tool in both if tool in words.get("tools", ())] or both
                yield Finding(
                    post.document.place("tools" if "tools" in words else "name"),
                    f"agent {quote(post.profile.name)} coordinates others, and can change files itself with {listing(written)}, "
                    f"as {quote(other.profile.name)} can",
                    "leave these tools to the agents that it hands work to",
                    f"role:{post.role_id}",
                    (Related(other.document.place("tools"), f"the tools of {quote(other.profile.name)}"),),
                )
                break


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
        and not _COORDINATES.search(f"{each.profile.name} {each.profile.description}")
    ]
    # The message names the first one. An agent that lists its tools is the clearest example.
    return sorted(agents, key=lambda each: "tools" not in get_written_words(each))


def _does_never_write(view: OrgView, post: RolePost) -> bool:
    return any(_NEVER_WRITES.search(order.record.body) for order, _ in list_texts(view, post))


RULE = Rule("ORG758", "coordinator-writes", Severity.INFO, RuleTarget.ORGANIZATION, check)
