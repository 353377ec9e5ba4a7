"""A type or action of AuthZEN requests maps to a name that is not declared.

## What it checks

Under `authzen.types` of an organization, every id in `ids` must be declared as the kind of its type, every `tool` must
be a declared tool, and every action must be an action of a declared tool.

## Why it matters

A request with a type or action that maps to an undeclared name is always denied. The caller cannot see why, because the request used other words.

## Example

```yaml
authzen:
  types:
    resources:
      todo: {kind: tool, tool: todoes}
```

## Instead

```yaml
authzen:
  types:
    resources:
      todo: {kind: tool, tool: todos}
```

## Known limits

An undeclared id is not reported while a file that could declare it is unreadable.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from orgkernel.decisions.access.resource import ESCALATE, HANDOFF, LOCK, WHOLE, find_named_credentials
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.documents.records import BUILT_IN_ORIGINS, DATA_TIERS, USER
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_STANDS_FOR = "stands for"
_ACTION = "action"
_BUILT_IN_ACTIONS = (*WHOLE, HANDOFF, ESCALATE, LOCK, "read")
# The kind of document that declares each kind of id.
_CATALOG = {
    "tool": "tool_catalog", "agent": "crew_roster", "person": "directory", "system": "directory", "webhook": "directory",
}  # fmt: skip


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared targets of `authzen.types`."""
    records = view.records
    known: dict[str, Collection[str]] = {kind: ids(records) for kind, ids in _DECLARED.items()}
    for kind, references in _map_references(records).items():
        if _CATALOG.get(kind) in records.incomplete:
            continue
        unknown_references = (each for each in references if each.target not in known[kind])

        def suggest_help(word: str, kind: str = kind) -> str:
            return did_you_mean(word, tuple(known[kind]))

        yield from report_undeclared(unknown_references, kind, suggest_help)


def _map_references(records: OrgRecords) -> dict[str, list[Reference]]:
    types, document = records.organization.authzen.types, records.document
    references_by_kind: dict[str, list[Reference]] = {kind: [] for kind in _DECLARED}
    for section, named in (("subjects", types.subjects), ("resources", types.resources)):
        for name, foreign in named.items():
            route = ("authzen", "types", section, name)
            for foreign_id, own in foreign.ids.items():
                place = document.place(*route, "ids", foreign_id)
                references_by_kind[foreign.kind].append(Reference(place, "type", name, _STANDS_FOR, own))
    for name, resource in types.resources.items():
        if resource.tool is not None:
            place = document.place("authzen", "types", "resources", name, "tool")
            references_by_kind["tool"].append(Reference(place, "type", name, _STANDS_FOR, resource.tool))
    for name, meanings in types.actions.items():
        for number, meaning in enumerate(meanings):
            place = document.place("authzen", "types", "actions", name, number, "action")
            references_by_kind[_ACTION].append(Reference(place, _ACTION, name, _STANDS_FOR, meaning.action))
    return references_by_kind


def _list_roles(records: OrgRecords) -> Collection[str]:
    return (*records.posts, *records.without_profile, *records.excused)


def _list_data(records: OrgRecords) -> Collection[str]:
    return dict.fromkeys(
        (*DATA_TIERS, *(each for post in records.posts.values() for each in post.profile.data))
    )


def _list_actions(records: OrgRecords) -> Collection[str]:
    declared = (each for tool in records.tools.values() for each in tool.record.required_levels)
    return dict.fromkeys((*declared, *_BUILT_IN_ACTIONS))


_DECLARED: dict[str, Callable[[OrgRecords], Collection[str]]] = {
    "role": _list_roles,
    "agent": lambda records: records.agents,
    "person": lambda records: (*records.people, USER),
    "system": lambda records: (*BUILT_IN_ORIGINS, *records.system_origins),
    "webhook": lambda records: records.webhooks,
    "tool": lambda records: records.tools,
    "credential": find_named_credentials,
    "data": _list_data,
    _ACTION: _list_actions,
}


RULE = Rule("ORG430", "unknown-authzen-word", Severity.ERROR, RuleTarget.ORGANIZATION, check)
