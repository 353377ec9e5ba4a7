"""A CrewAI agent is given tools that are not part of its role in orgkernel.

## What it checks

A task does not list `tools`, and the Python of the crew gives an agent `tools` only as a list of classes and methods, such as
`[SerperDevTool(), self.search()]`. Such a list is read.

## Why it matters

Tools of a task apply to that task only, and tools that Python code adds are known only when the crew runs. In
orgkernel, a role has exactly the tools that its agent lists, so orgkernel allows less than CrewAI.

## Example

```yaml
research_task:
  description: Find sources about {topic}.
  expected_output: A list of sources.
  agent: researcher
  tools: [search]
```

## Instead

```yaml
research_task:
  description: Find sources about {topic}.
  expected_output: A list of sources.
  agent: researcher
```

## Known limits

The finding is only informational, because the crew is correct. Only orgkernel's answers about these tools are
stricter. To let orgkernel decide about the tools, list them under `tools` of the agent.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import CREWAI, list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_HELP = "list them under `tools` of the agent if orgkernel should decide about them"


def check(view: OrgView) -> Iterator[Finding]:
    """Find tools of tasks, and agents that Python code equips."""
    for document, words in list_documents_of_kind(view, "procedure_catalog", CREWAI):
        given: Any = words.get("task_tools", {})
        for task, tools in given.items():
            text = (
                f"task {quote(task)} has the tools {listing(tools)}, which its agent has for this task only"
            )
            yield Finding(document.place("procedures", task, "tools"), text, _HELP, f"procedure:{task}")
    for document, words in list_documents_of_kind(view, "tool_catalog", CREWAI):
        for number, name in enumerate(words.get("agent_tools", ())):
            text = f"agent {quote(name)} is given tools by Python that its file does not list"
            yield Finding(document.place("agent_tools", number), text, _HELP, f"role:{name}")


RULE = Rule("ORG773", "tools-given-elsewhere", Severity.INFO, RuleTarget.ORGANIZATION, check)
