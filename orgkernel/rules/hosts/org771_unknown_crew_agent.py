"""A crew, its code or one of its tasks names an agent that does not exist.

## What it checks

Every agent under `agents` and `manager_agent` of a `crew.jsonc` has a file `agents/NAME.jsonc`. Every `agent` of a task is
an agent of the crew, and so is every `self.agents_config["NAME"]` in its code.

## Why it matters

CrewAI refuses to start a crew with an unknown agent. orgkernel gives the task to no role.

## Example

```yaml
research_task:
  description: Find sources about {topic}.
  expected_output: A list of sources.
  agent: reseacher
```

## Instead

```yaml
research_task:
  description: Find sources about {topic}.
  expected_output: A list of sources.
  agent: researcher
```

## Known limits

A task without `agent` is not reported, because a manager assigns it, or Python code names the agent. Nothing is
reported while the file of an agent cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hosts.foreign_agents import (
    CREWAI,
    collect_names,
    list_documents_of_kind,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown agents."""
    if view.records.excused:
        return
    known = collect_names(view.records.posts.values())
    for document, words in list_documents_of_kind(view, "procedure_catalog", CREWAI):
        for what, name, route in _iterate_names(words):
            if convert_to_id(name) not in known:
                yield _build_finding(view, document, what, name, route)
    for document, words in list_documents_of_kind(view, "tool_catalog", CREWAI):
        for number, name in enumerate(words.get("configured", ())):
            if convert_to_id(name) not in known:
                yield _build_finding(view, document, "the code of the crew", name, ("configured", number))


def _iterate_names(words: Any) -> Iterator[tuple[str, str, tuple[RouteStep, ...]]]:
    for number, name in enumerate(words.get("agents", ())):
        yield "the crew", name, ("agents", number)
    for name in words.get("manager", ()):
        yield "the crew", name, ("manager_agent",)
    for task, name in words.get("doing", {}).items():
        yield f"task {quote(task)}", name, ("procedures", task, "agent")


def _build_finding(
    view: OrgView, document: SourceDocument, what: str, name: str, route: tuple[RouteStep, ...]
) -> Finding:
    posts = view.records.posts
    is_json = document.name.endswith((".json", ".jsonc"))
    where = f"`agents/{name}.jsonc`" if is_json else "`agents.yaml`"
    return Finding(
        document.place(*route),
        f"{what} names the agent {quote(name)}, which does not exist",
        did_you_mean(name, posts) or f"describe the agent in {where}, or name another one",
        f"role:{convert_to_id(name)}",
    )


RULE = Rule("ORG771", "unknown-crew-agent", Severity.ERROR, RuleTarget.ORGANIZATION, check)
