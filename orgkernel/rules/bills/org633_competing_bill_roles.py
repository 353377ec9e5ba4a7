"""Bill roles need the same agents.

## What it checks

If a roster assigns agents to the organization, the bill roles can all be taken at once, with each agent in one bill role
only.

## Why it matters

Each bill role looks as if it could be filled. The bill still never starts, because an agent with two bill roles does
not count toward either.

## Example

```yaml
roles:
  lead: {role: chief}
  aide: {department: works}
```

## Instead

```yaml
roles:
  lead: {role: chief}
  aide: {department: watch}
```

## Known limits

The rule compares agents by the rank at which they start, and uses no test results. It reports nothing while ORG632
reports a bill role.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import read_count
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.matching import match_seats
from orgkernel.graph.questions import OrgView
from orgkernel.rules.bills.bill_documents import is_declared, iterate_bills
from orgkernel.rules.bills.org632_unfillable_bill_role import find_able_agents, list_crew
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Bills whose bill roles cannot all be taken at once."""
    crew = list_crew(view)
    for written in iterate_bills(view) if crew else ():
        counts = {bill_role: read_count(wanted.count) for bill_role, wanted in written.bill.roles.items()}
        needed = {bill_role: each[0] for bill_role, each in counts.items() if each is not None}
        if len(needed) < len(counts) or not all(
            is_declared(view, each) for each in written.bill.roles.values()
        ):
            continue
        able = {bill_role: find_able_agents(view, written, bill_role, crew) for bill_role in needed}
        if any(len(able[bill_role]) < least for bill_role, least in needed.items()):
            continue
        taken = match_seats(needed, able)
        short = [bill_role for bill_role, least in needed.items() if len(taken[bill_role]) < least]
        if short:
            rivals = [
                bill_role
                for bill_role in needed
                if any(set(able[bill_role]) & set(able[each]) for each in short)
            ]
            agents = {agent for bill_role in rivals for agent in able[bill_role]}
            seats = sum(needed[bill_role] for bill_role in rivals)
            yield written.build_finding(
                f"has bill roles {listing(rivals)}, which take {seats} agents, and only {listing(sorted(agents))} can take them",
                "change the requirements of the bill roles, or assign more agents",
                "roles",
                short[0],
                key=True,
            )


RULE = Rule("ORG633", "competing-bill-roles", Severity.WARNING, RuleTarget.ORGANIZATION, check)
