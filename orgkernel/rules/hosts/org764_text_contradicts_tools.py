"""The text of an agent tells it to use a tool that it does not have.

## What it checks

A tool that the text of an agent says to use (``use `Bash` ``, *with the Bash tool*, *call the Task tool*) is among its
`tools`, and not among its `disallowedTools`.

## Why it matters

The text tells the agent to do something that its host refuses. The agent tries, fails, and improvises.

## Example

```markdown
---
name: checker
description: Runs the checks. Use after every change.
tools: Read, Grep
---

Use the Bash tool to run the checks.
```

## Instead

```markdown
---
name: checker
description: Runs the checks. Use after every change.
tools: Read, Grep, Bash
---

Use the Bash tool to run the checks.
```

## Known limits

The rule guesses from words, so the finding is only informational: the text could be right and the list of tools
wrong. Only names of the host's tools, capitalized or written as `mcp__SERVER__TOOL`, are treated as tools. Part of a
tool (`Bash(git:*)`) is treated as the tool. Sentences with *not*, *never*, *if*, *instead* and the like before the
name, examples and code blocks are ignored.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import TOOL
from orgkernel.rules.hosts.foreign_agents import get_written_words, has_tool, iterate_agents, list_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_CHANGE = {True: "list {} under `tools`", False: "take {} out of `disallowedTools`"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find tools in texts of agents that they do not have, each once per text."""
    known = view.records.tools
    for post in iterate_agents(view):
        for order, references in list_texts(view, post):
            names: set[str] = set()
            for kind, offset, name in references:
                if kind != TOOL or name not in known or name in names or has_tool(post, name):
                    continue
                names.add(name)
                yield Finding(
                    order.document.locate_within(offset, "body"),
                    f"the text of agent {quote(post.profile.name)} says to use the tool {quote(name)}, which it does not have",
                    f"{_CHANGE['tools' in get_written_words(post)].format(quote(name))}, or change the text",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG764", "text-contradicts-tools", Severity.INFO, RuleTarget.ORGANIZATION, check)
