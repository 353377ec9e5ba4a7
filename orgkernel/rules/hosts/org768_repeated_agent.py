"""An agent is word for word the same in several places.

## What it checks

No two agents have the same description, the same lists, the same model and the same text, whatever they are called. Agents of several
plugins or folders that form one organization are compared with each other.

## Why it matters

A host that loads both cannot tell which of them to choose. Copies also drift: a correction reaches one of them only.

## Example

```markdown
---
name: reviewer
description: Reviews a change. Use after code was written.
tools: Read, Grep
---
List the bugs.
```

in the plugins `web` and `mobile`.

## Instead

Keep the agent in one plugin, or say in each copy what only this one is for:

```markdown
---
name: reviewer
description: Reviews a change of pages. Use after a template was changed.
tools: Read, Grep
---
List the bugs.
```

## Known limits

All copies of an agent are one finding, at the second of them. Agents that differ in a word are compared by their descriptions
(ORG751).

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import group_identical_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Find agents with copies, each once."""
    for posts in group_identical_agents(view):
        first, second = posts[0], posts[1]
        name = quote(first.profile.name)
        others = [each for each in posts if each is not second][:_SHOWN]
        yield Finding(
            second.document.place("description"),
            f"agent {quote(second.profile.name)} is word for word the same as {name}"
            + (f" and {len(posts) - 2} more" if len(posts) > 2 else ""),
            "keep one of them, or describe in each what only that agent is for",
            f"role:{second.role_id}",
            tuple(
                Related(each.document.place("description"), f"agent {quote(each.profile.name)}")
                for each in others
            ),
        )


RULE = Rule("ORG768", "repeated-agent", Severity.WARNING, RuleTarget.ORGANIZATION, check)
