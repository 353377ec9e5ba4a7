"""The text of an agent refers to an agent that does not exist.

## What it checks

Every agent that the text of an agent names exists in the files that were read. A reference is `@agent-NAME`, the
value of `subagent_type`, or a name in backticks or bold before the word *agent* or *subagent*. After *the*, a plain
name with a hyphen is a reference too if it is similar to the name of an agent.

## Why it matters

The reference is stale because the agent was renamed or deleted. The call fails in the middle of a task.

## Example

```markdown
When the code is written, ask the `test-runer` agent.
```

## Instead

```markdown
When the code is written, ask the `test-runner` agent.
```

## Known limits

Agents that come with Claude Code (`general-purpose`, `Explore`, `Plan`) are known. Names with a plugin prefix
(`plugin:agent`) are not checked, and nothing is reported while the file of an agent cannot be read. Agents in a
user's own settings are not read. If the agent is there, suppress the finding with the reason.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import AGENT, ALMOST, CALL
from orgkernel.rules.hosts.foreign_agents import (
    collect_names,
    iterate_agents,
    list_built_in_agents,
    list_texts,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find references to unknown agents, each name once per text."""
    posts = list(iterate_agents(view))
    if view.records.excused or not posts:
        return
    known = collect_names(posts) | list_built_in_agents()
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
