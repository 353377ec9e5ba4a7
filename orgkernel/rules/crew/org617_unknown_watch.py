"""A policy or an assignment names a watch that is not declared.

## What it checks

Every watch that the `match` of a policy or an assignment of an agent names is one of the `watches` of an organization that
sees it. An organization that declares none has `alpha`, `beta` and `gamma`. An assignment without `watches` is in `alpha`.

## Why it matters

A policy for an unknown watch never applies, and an agent that is assigned to one is never on watch.

## Example

```yaml
agents:
  a1: {assignments: [{role: co, watches: [delta]}]}
```

## Instead

```yaml
agents:
  a1: {assignments: [{role: co, watches: [gamma]}]}
```

## Known limits

If several organizations see a policy or a roster, a watch is reported only if none of them declares it. Nothing is reported
while an organization could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.policy_matches import find_status_words
from orgkernel.rules.references import Reference, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_roster, find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Watches that no organization declares."""
    known = list_ids(assembly, lambda records: records.organization.watches)

    def suggest_help(word: str) -> str:
        return did_you_mean(word, known) or f"use one of {listing(known)}"

    for find in (partial(find_status_words, field="watch"), _iterate_assigned):
        yield from report_undeclared(find_unknown_to_all(assembly, find), "watch", suggest_help)


def _iterate_assigned(records: OrgRecords) -> Iterator[tuple[Reference, bool]]:
    for agent in records.agents.values():
        roster = find_roster(records, agent.id)
        for number, assignment in enumerate(agent.record.assignments):
            if (assignment.org or roster.org) not in (None, records.org_id):
                continue
            for position, watch in enumerate(assignment.watches):
                place = agent.place("assignments", number, "watches", position)
                reference = Reference(place, "agent", agent.id, "is assigned to", watch)
                yield reference, watch in records.organization.watches


RULE = Rule("ORG617", "unknown-watch", Severity.ERROR, RuleTarget.TREE, check)
