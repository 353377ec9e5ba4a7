"""A hierarchical crew has a manager that no file describes.

## What it checks

A crew of CrewAI whose process is hierarchical names one of its agents as `manager_agent`.

## Why it matters

If the crew uses `manager_llm`, or Python code creates its manager, the manager has no role in orgkernel. Its agents
have no superior, and orgkernel cannot answer what the manager may do. CrewAI supplies the manager's tools and
instructions.

## Example

```jsonc
{
  "name": "News",
  "agents": ["writer"],
  "tasks": [{"name": "write", "description": "Write about {topic}.", "expected_output": "A text."}],
  "process": "hierarchical",
  "manager_llm": "openai/gpt-4o"
}
```

## Instead

```jsonc
{
  "name": "News",
  "agents": ["writer"],
  "tasks": [{"name": "write", "description": "Write about {topic}.", "expected_output": "A text."}],
  "process": "hierarchical",
  "manager_agent": "editor"
}
```

## Known limits

The finding is only informational, because a crew with `manager_llm` works.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import CREWAI, list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find hierarchical crews whose manager is not an agent."""
    for document, words in (
        *list_documents_of_kind(view, "procedure_catalog", CREWAI),
        *list_documents_of_kind(view, "tool_catalog", CREWAI),
    ):
        if words.get("process") == ["hierarchical"] and not words.get("manager"):
            field = next((each for each in ("manager_llm", "manager_agent") if document.has(each)), "process")
            if field == "process" and document.kind != "tool_catalog":
                continue  # refused when it was read
            yield Finding(
                document.place(field),
                "the crew's manager is not defined as an agent, so its agents have no superior",
                "describe the manager as an agent, and name it as `manager_agent`",
                f"organization:{view.org_id}",
            )


RULE = Rule("ORG772", "unnamed-manager", Severity.INFO, RuleTarget.ORGANIZATION, check)
