"""Parts of a bill need the same agents.

## What it checks

If a roster assigns agents to the organization, the parts of a bill can all be taken at once, with each agent in one part
only.

## Why it matters

Each part alone looks as if it could be taken. The bill still never starts, since an agent that has two parts counts for
none of them.

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

The rule uses the rank at which agents start, and no results of tests. It is silent while ORG632 reports a part of the bill.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import read_count
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.matching import match_parts
from orgkernel.graph.questions import OrgView
from orgkernel.rules.bills.bill_documents import bills_of, is_declared
from orgkernel.rules.bills.org632_unfillable_bill_part import able_for, crew_of
from orgkernel.rules.rule import Finding, Rule, RuleScope


def check(view: OrgView) -> Iterator[Finding]:
    """Bills whose parts cannot all be taken at once."""
    crew = crew_of(view)
    for written in bills_of(view) if crew else ():
        counts = {part: read_count(wanted.count) for part, wanted in written.bill.roles.items()}
        needed = {part: each[0] for part, each in counts.items() if each is not None}
        if len(needed) < len(counts) or not all(
            is_declared(view, each) for each in written.bill.roles.values()
        ):
            continue
        able = {part: able_for(view, written, part, crew) for part in needed}
        if any(len(able[part]) < least for part, least in needed.items()):
            continue
        taken = match_parts(needed, able)
        short = [part for part, least in needed.items() if len(taken[part]) < least]
        if short:
            rivals = [part for part in needed if any(set(able[part]) & set(able[each]) for each in short)]
            agents = {agent for part in rivals for agent in able[part]}
            seats = sum(needed[part] for part in rivals)
            yield written.find(
                f"has parts {listing(rivals)}, which take {seats} agents, and only {listing(sorted(agents))} can take them",
                "change what the parts ask for, or assign more agents",
                "roles",
                short[0],
                key=True,
            )


RULE = Rule("ORG633", "competing-bill-parts", Severity.WARNING, RuleScope.ORGANIZATION, check)
