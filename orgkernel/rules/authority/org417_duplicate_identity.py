"""Two people have the same identity.

## What it checks

No two people in a directory have the same id in the same space of a platform. An identity without a `space` is valid in
all spaces.

## Why it matters

The sender of a message decides what is allowed. If two people share an identity, it depends on which one is found first.

## Example

```yaml
owner: {relationship: owner, identities: [{platform: slack, id: U1}]}
friend: {relationship: friend, identities: [{platform: slack, id: U1}]}
```

## Instead

```yaml
owner: {relationship: owner, identities: [{platform: slack, id: U1}]}
friend: {relationship: friend, identities: [{platform: slack, id: U2}]}
```

## Known limits

Ids are compared letter by letter. The rule cannot tell that two ids belong to the same account.

## Since

0.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Person
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find identities that another person already has."""
    taken: dict[tuple[str, str], list[tuple[Definition[Person], int]]] = defaultdict(list)
    for person in view.records.people.values():
        for number, identity in enumerate(person.record.identities):
            others = taken[identity.platform, identity.id]
            for other, other_number in others:
                space = other.record.identities[other_number].space
                if other is not person and (None in (space, identity.space) or space == identity.space):
                    yield Finding(
                        person.place("identities", number),
                        f"person {quote(person.id)} has the identity {quote(identity.id)} on "
                        f"{quote(identity.platform)}, which {quote(other.id)} also has",
                        "remove the identity from one of the two people",
                        f"person:{person.id}",
                        (Related(other.place("identities", other_number), "the other identity"),),
                    )
                    break
            others.append((person, number))


RULE = Rule("ORG417", "duplicate-identity", Severity.ERROR, RuleTarget.CATALOG, check)
