"""A limit counts nothing, or denies every call.

## What it checks

Every limit of access policies states `calls`, `concurrent` or `budget`, names a tool that is declared, and names only roles,
agents and people that are declared. A budget states what a call costs, in `cost` or in `cost_argument`, and the tools have that
argument.

## Why it matters

Such a limit looks like protection and never denies a call, or it denies every call, because no call states a cost that can be
counted.

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

from orgkernel.decisions.access.policies import NamePatterns
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import CallLimit
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.authority.org735_argument_never_compared import list_arguments
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find limits that count nothing, and names in limits that are not declared."""
    for name, definition in view.records.limits.items():
        if not definition.own:
            continue
        what, limit = f"limit {quote(name)}", definition.record
        if limit.calls is None and limit.concurrent is None and limit.budget is None:
            yield Finding(
                definition.place(), f"{what} states neither `calls` nor `concurrent` nor `budget`, so it denies nothing",
                "set `calls` and `per`, or `concurrent`, or a `budget` with the `cost` of a call", f"limit:{name}",
            )  # fmt: skip
        yield from _check_budget(view, name, definition)
        yield from _find_undeclared(view, name, definition)


def _check_budget(view: OrgView, name: str, definition: Definition[CallLimit]) -> Iterator[Finding]:
    limit, what = definition.record, f"limit {quote(name)}"
    stated = [field for field in ("cost", "cost_argument", "unit") if getattr(limit, field)]
    if limit.budget is None:
        if stated:
            text = f"{what} states {listing(stated)}, but no `budget`, so costs are not counted"
            yield Finding(definition.place(stated[0]), text, "set `budget`", f"limit:{name}")
        return
    if limit.cost is None and limit.cost_argument is None:
        text = f"{what} has a budget, but does not state what a call costs, so it denies every call"
        yield Finding(definition.place("budget"), text, "set `cost` or `cost_argument`", f"limit:{name}")
    elif limit.cost is not None and limit.cost_argument is not None:
        text = f"{what} states both `cost` and `cost_argument`, and only the argument is counted"
        yield Finding(definition.place("cost"), text, "leave one of them out", f"limit:{name}")
    if limit.cost_argument is not None:
        yield from _find_missing_argument(view, name, definition, limit.cost_argument)


def _find_missing_argument(
    view: OrgView, name: str, definition: Definition[CallLimit], argument: str
) -> Iterator[Finding]:
    tools = view.records.tools
    missing, known = [], dict[str, None]()
    for tool in (tools[each] for each in tools if each in NamePatterns(definition.record.tools)):
        arguments = list_arguments(tool.record.input_schema)
        if arguments is not None and argument not in arguments:
            missing.append(tool)
            known |= dict.fromkeys(arguments)
    if missing:
        names, one = listing(tool.id for tool in missing), len(missing) == 1
        yield Finding(
            definition.place("cost_argument"),
            f"limit {quote(name)} reads the cost from {quote(argument)}, which {names} {'does' if one else 'do'} not have, so "
            f"every call of {'it' if one else 'them'} is denied",
            did_you_mean(argument, known) or f"leave the tool{'' if one else 's'} out of the limit",
            f"limit:{name}",
            tuple(Related(tool.place(), "the tool") for tool in missing[:3]),
        )


def _find_undeclared(view: OrgView, name: str, definition: Definition[CallLimit]) -> Iterator[Finding]:
    records, limit = view.records, definition.record
    for number, word in enumerate(limit.tools):
        if not any(each in NamePatterns((word,)) for each in records.tools):
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
