"""An agent of CrewAI is given tools that are not part of its role here.

## What it checks

A task does not list `tools`, and the Python of the crew does not give an agent `tools`.

## Why it matters

The tools of a task are there for this task only, and what Python gives is known when the crew runs. Here a role has the tools
that its agent lists, at all times, so that answers are narrower than what CrewAI allows.

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

It is only information: such a crew is right, and only answers about these tools are narrower. To have them decided about,
list the tools under `tools` of the agent.

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

_HELP = "list them under `tools` of the agent if they are to be decided about"


def check(view: OrgView) -> Iterator[Finding]:
    """Tools of tasks, and agents that Python equips."""
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
