"""An AuthZEN request that omits a property would be allowed more than one that states it.

## What it checks

An action under `authzen.types.actions` maps to a list of entries with conditions, and the first entry whose conditions are met is used.
For every tool that a resource type maps to, no entry requires a higher access level than an entry after it, or than the action that
applies if no conditions are met.

## Why it matters

Conditions read properties that the caller states. A caller that omits them gets the last entry of the list. If that entry requires less,
omitting a property allows a request that would be denied with the property.

## Example

```yaml
authzen:
  types:
    resources:
      record: {kind: tool, ids: {r1: records}}
    actions:
      write:
        - {action: purge, where: {resource.status: archived}}
```

The tool `records` has the actions `write` at the level `write` and `purge` at the level `full`.

## Instead

```yaml
authzen:
  types:
    resources:
      record: {kind: tool, ids: {r1: records}}
    actions:
      write:
        - {action: write, where: {resource.status: active}}
        - {action: purge}
```

## Known limits

Only levels are compared. Policies and restrictions on parts of a tool apply to every action alike.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS, AuthzenTypes
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

# An action that a tool does not have is always refused.
_REFUSED = len(LEVELS)


def check(view: OrgView) -> Iterator[Finding]:
    """Find meanings that require more than the meaning of a request with fewer properties."""
    records = view.records
    types = records.organization.authzen.types
    for name, meanings in types.actions.items():
        later = [meaning.action for meaning in meanings]
        if all(meaning.where or meaning.owner is not None for meaning in meanings):
            later.append(name)
        for tool_id in _iterate_tools(view, types):
            levels = records.tools[tool_id].record.required_levels
            needed = [LEVELS.index(levels[each]) if each in levels else _REFUSED for each in later]
            for number, meaning in enumerate(meanings):
                less = min(needed[number + 1 :], default=_REFUSED)
                if needed[number] > less:
                    other = later[needed.index(less, number + 1)]
                    yield Finding(
                        records.document.place("authzen", "types", "actions", name, number, "action"),
                        f"action {quote(meaning.action)} of tool {quote(tool_id)} requires more than {quote(other)}, "
                        "which applies if the conditions are not met",
                        "put the action that requires more last, without conditions",
                        f"action:{name}",
                    )


def _iterate_tools(view: OrgView, types: AuthzenTypes) -> Iterator[str]:
    """The declared tools that a resource type stands for."""
    declared = view.records.tools
    named: dict[str, None] = {}
    for resource in types.resources.values():
        if resource.kind == "tool":
            chosen = [resource.tool] if resource.tool is not None else [*resource.ids.values()] or [*declared]
            named.update(dict.fromkeys(chosen))
    yield from (each for each in named if each in declared)


RULE = Rule("ORG431", "omitted-property-opens", Severity.ERROR, RuleTarget.ORGANIZATION, check)
