"""Agents may hand a task to one another in a cycle.

## What it checks

The names under `agents`, and in `Agent(NAME)` or `Task(NAME)` among the tools, do not lead back to the agent itself.

## Why it matters

The agents could pass a task around without finishing it. Each round costs a new context, and no agent is responsible for the result.

## Example

```markdown
---
name: lead
description: Leads a change. Use for work of several steps.
tools: Read, Agent(reviewer)
---
```

and

```markdown
---
name: reviewer
description: Reviews a change. Use after every change.
tools: Read, Agent(lead)
---
```

## Instead

```markdown
---
name: reviewer
description: Reviews a change. Use after every change.
tools: Read
---
```

## Known limits

The finding is only a warning, because a host can limit how deep agents start one another. A cycle is reported once,
with its shortest path. An agent that may start every agent names none, so the rule ignores it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.structure import find_cycles, find_shortest_cycle
from orgkernel.rules.hosts.foreign_agents import get_delegates, iterate_agents, list_names
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Find cycles of names."""
    posts = {post.profile.name: post for post in iterate_agents(view)}
    full_names = {name: post.profile.name for post in posts.values() for name in reversed(list_names(post))}
    at = {
        (own, full_names[name]): (field, number)
        for own, post in posts.items()
        for field, number, name in get_delegates(post).named
        if name in full_names
    }
    for group in find_cycles(tuple(at)) if at else ():
        names = find_shortest_cycle(tuple(at), group)
        steps = list(zip(names, (*names[1:], names[0]), strict=True))
        first, *others = [
            (posts[source].document.place(*at[source, target]), target) for source, target in steps
        ]
        shown = [quote(name) for name in names[:_SHOWN]]
        more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        path = ": " + " → ".join([*shown, *more, shown[0]]) if others else ""
        yield Finding(
            first[0],
            f"agent {quote(names[0])} may start itself{' through others' if others else ''}{path}",
            "remove one of the names",
            f"role:{posts[names[0]].role_id}",
            tuple(
                Related(place, f"{quote(source)} may start {quote(target)}")
                for source, (place, target) in zip(names[1:_SHOWN], others, strict=False)
            ),
        )


RULE = Rule("ORG761", "circular-delegation", Severity.WARNING, RuleTarget.ORGANIZATION, check)
