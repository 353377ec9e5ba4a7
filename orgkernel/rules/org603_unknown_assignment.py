"""An agent is assigned to a role that does not exist.

## What it checks

The role of every assignment is one of the organization it is in: the one the assignment names, or the roster, or else
any that sees the roster.

## Why it matters

The agent fills nothing there, and the role it was meant for stays vacant.

## Example

```yaml
agents:
  a1: {assignments: [{role: codgen}]}
```

## Instead

```yaml
agents:
  a1: {assignments: [{role: codegen}]}
```

## Known limits

A role that a file which could not be read seems to declare is not reported, and nothing is while an organization
could not be read. An organization that is not among those read is reported only in an organization's own roster; one
that is shared may speak of organizations elsewhere.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, Scope
from orgkernel.rules.visibility import ids_of, knows_role, roster_of, wrong_for_all


def check(assembly: Assembly) -> Iterator[Finding]:
    """Assignments that lead nowhere."""
    organizations = {records.org_id: records for records in assembly.organizations}

    def assignments(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
        for agent in records.agents.values():
            roster = roster_of(records, agent.id)
            for number, assignment in enumerate(agent.record.assignments):
                org_id = assignment.org or roster.org
                if org_id is not None and org_id not in organizations:
                    if agent.own:
                        route = ("assignments", number, "org")
                        place = agent.place(*route) if assignment.org else agent.document.place("org")
                        message = (
                            f"agent {quote(agent.id)} fills a role of organization {quote(org_id)}, "
                            "which is not declared"
                        )
                        help = did_you_mean(org_id, organizations)
                        yield place, Finding(place, message, help, f"agent:{agent.id}")
                    continue
                home = records if org_id is None else organizations[org_id]
                place = agent.place("assignments", number, "role")
                if knows_role(home, assignment.role):
                    yield place, None
                    continue
                of = (
                    "no organization has" if org_id is None else f"organization {quote(org_id)} does not have"
                )
                roles = ids_of(assembly, lambda each: each.posts) if org_id is None else tuple(home.posts)
                yield (
                    place,
                    Finding(
                        place,
                        f"agent {quote(agent.id)} fills role {quote(assignment.role)}, which {of}",
                        did_you_mean(assignment.role, roles),
                        f"agent:{agent.id}",
                    ),
                )

    yield from wrong_for_all(assembly, assignments)


RULE = Rule("ORG603", "unknown-assignment", Severity.ERROR, Scope.TREE, check)
