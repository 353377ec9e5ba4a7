"""A team refers to a component that is not in any of the files, or that is not an agent.

## What it checks

In Open Agent Spec, the manager and the workers of a `ManagerWorkers`, and both ends of each relationship of a
`Swarm`, are agents or teams in the files that are read.

## Why it matters

The team cannot be loaded, or depends on a file that was not read. In orgkernel, the chain of command has a gap.

## Example

```yaml
workers:
  - $component_ref: agent-42
```

## Instead

```yaml
workers:
  - $component_ref: agent-7
```

## Known limits

The finding is only a warning, because a program can add components when it loads the team, and because a `Flow` as a
worker is not an agent. Nothing is reported while the file of an agent cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import (
    AGENT_SPEC,
    collect_names,
    list_documents_of_kind,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find edges of teams to unknown components."""
    if view.records.excused:
        return
    known = collect_names(view.records.posts.values())
    for document, words in list_documents_of_kind(view, "tool_catalog", AGENT_SPEC):
        edges: Any = words.get("edges", ())
        for number in words.get("unresolved", ()):
            _, *ends = edges[int(number)]
            text = next((each for each in ends if each and each not in known), None)
            named = f"the component {quote(text.rpartition(' ')[2])}" if text else "a component"
            yield Finding(
                document.place("edges", int(number)),
                f"the team refers to {named}, which is not an agent in these files",
                "name an existing agent, or also read the file that defines it",
                f"organization:{view.org_id}",
            )


RULE = Rule("ORG775", "unknown-component", Severity.WARNING, RuleTarget.ORGANIZATION, check)
