"""The text of an agent refers to an agent that is not there.

## What it checks

Agents that the text of a subagent of Claude Code names are among those that were read. Named are `@agent-NAME`, the value of
`subagent_type`, and a name in backticks or bold before the word *agent* or *subagent*. After *the*, a name
with a hyphen counts without such marks if it is nearly the name of an agent.

## Why it matters

The reference is stale: somebody renamed or deleted the agent, and the call fails when it is made, in the middle of a task.

## Example

```markdown
When the code is written, ask the `test-runer` agent.
```

## Instead

```markdown
When the code is written, ask the `test-runner` agent.
```

## Known limits

Agents that Claude Code brings along (`general-purpose`, `Explore`, `Plan`) are known. Names with a plugin in front
(`plugin:agent`) are not checked, and nothing is said while the file of an agent could not be read. An agent in the settings
of a user is not seen; suppress the finding with the reason.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.rules.foreign_agents import agents_of
from orgkernel.rules.rule import Finding, Rule, RuleScope

_NAME = r"[A-Za-z0-9][A-Za-z0-9_:-]*"
_REFERENCE = re.compile(
    rf"@agent-(?P<at>{_NAME})"
    rf"|subagent_type[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"'`](?P<type>{_NAME})[\"'`]"
    rf"|(?:`(?P<code>{_NAME})`|\*\*(?P<bold>{_NAME})\*\*)\s(?:sub-?)?agent\b"
    r"|\bthe (?P<plain>[a-z0-9]+(?:-[a-z0-9]+)+) (?:sub-?)?agent\b"
)
_BUILT_IN = frozenset(
    {
        "general-purpose",
        "Explore",
        "Plan",
        "claude",
        "statusline-setup",
        "output-style-setup",
        "claude-code-guide",
    }
)


def check(view: OrgView) -> Iterator[Finding]:
    """References in texts of agents, each name once for each text."""
    if view.records.excused:
        return
    posts = list(agents_of(view))
    known = {name for post in posts for name in (post.profile.name, post.role_id)} | _BUILT_IN
    orders = view.records.orders
    for post in posts:
        for order in orders.get(("role", post.role_id), ()):
            said: set[str] = set()
            body = order.record.body
            for found in _REFERENCE.finditer(body) if "agent" in body else ():
                kind = str(found.lastgroup)
                name = found[kind]
                if name in known or name in said or ":" in name:
                    continue
                if kind == "plain" and suggest(name, known) is None:
                    continue
                said.add(name)
                yield Finding(
                    order.document.place_within(found.start(kind), "body"),
                    f"the text of agent {quote(post.profile.name)} refers to the agent {quote(name)}, which is not there",
                    did_you_mean(name, known) or "name an agent that is there, or remove the reference",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG757", "unknown-agent-reference", Severity.WARNING, RuleScope.ORGANIZATION, check)
