"""The text of an agent refers to an agent that is not there.

## What it checks

Agents that the text of an agent names are among those that were read. Named are `@agent-NAME`, the value of
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

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import AGENT, ALMOST, CALL
from orgkernel.rules.hosts.foreign_agents import BUILT_IN_AGENTS, iterate_agents, list_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """References in texts of agents, each name once for each text."""
    if view.records.excused:
        return
    posts = list(iterate_agents(view))
    known = {name for post in posts for name in (post.profile.name, post.role_id)} | BUILT_IN_AGENTS
    for post in posts:
        for order, references in list_texts(view, post):
            names: set[str] = set()
            for kind, offset, name in references:
                if kind not in (AGENT, CALL, ALMOST) or name in known or name in names or ":" in name:
                    continue
                if kind == ALMOST and suggest(name, known) is None:
                    continue
                names.add(name)
                yield Finding(
                    order.document.locate_within(offset, "body"),
                    f"the text of agent {quote(post.profile.name)} refers to the agent {quote(name)}, which does not exist",
                    did_you_mean(name, known) or "name an existing agent, or remove the reference",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG757", "unknown-agent-reference", Severity.WARNING, RuleTarget.ORGANIZATION, check)
