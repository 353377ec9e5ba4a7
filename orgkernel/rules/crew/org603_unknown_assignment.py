"""An agent is assigned to a role that does not exist.

## What it checks

The role of every assignment is a role of the assignment's organization. That is the organization named by the
assignment or else by the roster. If neither names one, it is any organization that uses the roster.

## Why it matters

The agent fills no role by this assignment, and the intended role stays vacant.

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

A role is not reported if it appears to be declared in a file that could not be read. Nothing is reported while an
organization could not be read. An unknown organization is reported only in an organization's own roster, because a shared
roster may name organizations elsewhere.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import does_know_role, find_roster, find_wrong_for_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Assignments to roles or organizations that do not exist."""
    organizations = {records.org_id: records for records in assembly.organizations}

    def assignments(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
        for agent in records.agents.values():
            roster = find_roster(records, agent.id)
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
                if does_know_role(home, assignment.role):
                    yield place, None
                    continue
                of = (
                    "no organization has" if org_id is None else f"organization {quote(org_id)} does not have"
                )
                roles = list_ids(assembly, lambda each: each.posts) if org_id is None else tuple(home.posts)
                yield (
                    place,
                    Finding(
                        place,
                        f"agent {quote(agent.id)} fills role {quote(assignment.role)}, which {of}",
                        did_you_mean(assignment.role, roles),
                        f"agent:{agent.id}",
                    ),
                )

    yield from find_wrong_for_all(assembly, assignments)


RULE = Rule("ORG603", "unknown-assignment", Severity.ERROR, RuleTarget.TREE, check)
