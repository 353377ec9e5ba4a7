"""A policy names a principal that is not declared.

## What it checks

The person, system origin, webhook, agent and role that the `match` of a policy names are declared: in a directory, in a
roster, or by an organization that uses the policy. The system origins `cron`, `runtime`, `boot`, `restart`, `node` and
`clock` are always declared.

## Why it matters

A policy about an unknown principal never matches. If it is meant to deny, the intended principal is not denied.

## Example

```yaml
payments:
  effect: allow
  match: {principal: {webhook: strpe}}
  permissions: {tools: [notify_user]}
```

## Instead

```yaml
payments:
  effect: allow
  match: {principal: {webhook: stripe}}
  permissions: {tools: [notify_user]}
```

## Known limits

Nothing is reported while a directory, a roster or an organization could not be read. `*` stands for any principal,
declared or not.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.documents.records import BUILT_IN_ORIGINS, STAR
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import does_know_agent, does_know_role, find_unknown_to_all, list_ids

_WORDS = {
    "person_id": "person",
    "system": "system origin",
    "webhook": "webhook",
    "agent": "agent",
    "role": "role",
}


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find undeclared principals."""
    for field, what in _WORDS.items():
        unknown = find_unknown_to_all(assembly, partial(_iterate_references, field=field))
        yield from report_undeclared(unknown, what, partial(_suggest, assembly, field))


def _suggest(assembly: Assembly, field: str, word: str) -> str:
    return did_you_mean(word, list_ids(assembly, partial(_list_declared, field=field)))


def _iterate_references(records: OrgRecords, field: str) -> Iterator[tuple[Reference, bool]]:
    for policy in records.policies.values():
        word = getattr(policy.record.match.principal, field, None)
        if word in (None, STAR):
            continue
        place = policy.place("match", "principal", field)
        yield Reference(place, "policy", policy.id, "matches", word), _knows(records, field, word)


def _knows(records: OrgRecords, field: str, word: str) -> bool:
    if field == "role":
        return does_know_role(records, word)
    if field == "agent":
        return does_know_agent(records, word)
    return "directory" in records.incomplete or word in _list_declared(records, field)


def _list_declared(records: OrgRecords, field: str) -> Collection[str]:
    return {
        "person_id": records.people,
        "system": {*records.system_origins, *BUILT_IN_ORIGINS},
        "webhook": records.webhooks,
        "agent": records.agents,
        "role": records.posts,
    }[field]


RULE = Rule("ORG415", "unknown-principal", Severity.ERROR, RuleTarget.TREE, check)
