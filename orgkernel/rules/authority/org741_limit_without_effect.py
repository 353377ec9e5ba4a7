"""A limit counts nothing.

## What it checks

Every limit of access policies states `calls` or `concurrent`, names a tool that is declared, and names only roles, agents and
people that are declared.

## Why it matters

Such a limit looks like protection and never denies a call.

## Example

```yaml
limits:
  mails: {tools: [mail], per: 1h}
```

## Instead

```yaml
limits:
  mails: {tools: [mail], calls: 20, per: 1h}
```

## Known limits

Only limits in the organization's own documents are checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CallLimit
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find limits that count nothing, and names in limits that are not declared."""
    for name, definition in view.records.limits.items():
        if not definition.own:
            continue
        what, limit = f"limit {quote(name)}", definition.record
        if limit.calls is None and limit.concurrent is None:
            yield Finding(
                definition.place(), f"{what} states neither `calls` nor `concurrent`, so it denies nothing",
                "set `calls` and `per`, or `concurrent`", f"limit:{name}",
            )  # fmt: skip
        yield from _find_undeclared(view, name, definition)


def _find_undeclared(view: OrgView, name: str, definition: Definition[CallLimit]) -> Iterator[Finding]:
    records, limit = view.records, definition.record
    for number, word in enumerate(limit.tools):
        tools = records.tools
        if not (any(each.startswith(word[:-1]) for each in tools) if word.endswith("*") else word in tools):
            yield _build_finding(definition, name, ("tools", number), f"tool {quote(word)}")
    for kind, field, named, declared in (
        ("role", "roles", limit.subjects.roles, records.posts),
        ("agent", "agents", limit.subjects.agents, records.agents),
        ("person", "people", limit.subjects.people, records.people),
    ):
        for number, word in enumerate(named):
            if word not in declared:
                route = ("subjects", field, number)
                yield _build_finding(definition, name, route, f"{kind} {quote(word)}")


def _build_finding(
    definition: Definition[CallLimit], name: str, route: tuple[str | int, ...], what: str
) -> Finding:
    return Finding(
        definition.place(*route), f"limit {quote(name)} names {what}, which is not declared",
        "declare it, or correct the name", f"limit:{name}",
    )  # fmt: skip


RULE = Rule("ORG741", "limit-without-effect", Severity.ERROR, RuleTarget.ORGANIZATION, check)
