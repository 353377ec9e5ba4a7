"""The text of an agent refers to an agent that the agent may not start.

## What it checks

If the fields of an agent limit which agents it may start (`agents`, or `Agent(NAME)` among its allowed or disallowed
tools), its text names no other agent.

## Why it matters

The text tells the agent to hand work to another agent, and the host refuses the call in the middle of a task.

## Example

```markdown
---
name: lead
description: Leads a change. Use for work of several steps.
tools: Read, Agent(test-runner)
---

When the tests pass, start @agent-code-reviewer.
```

## Instead

```markdown
---
name: lead
description: Leads a change. Use for work of several steps.
tools: Read, Agent(test-runner, code-reviewer)
---

When the tests pass, start @agent-code-reviewer.
```

## Known limits

The finding is only a warning, because a text can mention an agent without starting it. Agents that have no tool to
start others are not checked, because their text mentions agents only for the reader of their answer. Sentences with
*not* or *never* before the name are ignored.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import AGENT, CALL, is_denied
from orgkernel.rules.hosts.foreign_agents import (
    collect_names,
    get_delegates,
    iterate_agents,
    list_names,
    list_texts,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of existing agents that the fields do not allow."""
    posts = list(iterate_agents(view))
    known = collect_names(posts)
    for post in posts:
        delegates = get_delegates(post)
        if not (delegates.is_limited or delegates.taken):
            continue
        allowed = {name for _, _, name in delegates.named}
        taken = {name for _, _, name in delegates.taken}
        for order, references in list_texts(view, post):
            names = {*list_names(post)}
            for kind, offset, name in references:
                if kind not in (AGENT, CALL) or name not in known or name in names:
                    continue
                forbidden = name in taken or (delegates.is_limited and name not in allowed)
                if forbidden and not is_denied(order.record.body, offset):
                    names.add(name)
                    yield Finding(
                        order.document.locate_within(offset, "body"),
                        f"the text of agent {quote(post.profile.name)} refers to the agent {quote(name)}, which it may not start",
                        f"allow {quote(name)} in the agent's list of agents that it may start, or remove the reference",
                        f"role:{post.role_id}",
                    )


RULE = Rule("ORG760", "forbidden-delegation", Severity.WARNING, RuleTarget.ORGANIZATION, check)
