"""No agent can take a bill role.

## What it checks

The organization has a role that fits each bill role. If a bill role names both a role and a department, the role is
in that department. If a roster assigns agents to the organization, enough of them can take the bill role: they fill a
role that fits it, and they start at its lowest rank or above.

## Why it matters

A bill does not start before all its bill roles are taken. A bill with a role that no agent can take never starts. That
is noticed only when the bill is needed.

## Example

```yaml
roles:
  lead: {role: chief, department: watch}
```

## Instead

```yaml
roles:
  lead: {role: chief, department: works}
```

## Known limits

The rule uses the rank at which agents start. It does not use test results, which are in the store; `orgkernel bill
check BILL` uses them. ORG631 reports unknown names, ORG633 bill roles that need the same agents.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import read_count
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.bills.bill_documents import WrittenBill, find_roles, is_declared, iterate_bills
from orgkernel.rules.rule import Finding, Rule, RuleTarget

STATE_SAYS = "TEST_NOT_PASSED"
"""Reason code for a requirement that depends on the store and not on documents."""


def check(view: OrgView) -> Iterator[Finding]:
    """Bill roles that no role, or not enough agents, can take."""
    crew = list_crew(view)
    for written in iterate_bills(view):
        for bill_role, wanted in written.bill.roles.items():
            counts = read_count(wanted.count)
            if counts is None or not is_declared(view, wanted):
                continue
            remedy = "change the requirements of the bill role"
            if not find_roles(view, wanted):
                department = quote(str(wanted.department))
                which = f"{quote(wanted.role)} is not in it" if wanted.role else "no role is in it"
                message = f"has bill role {quote(bill_role)} for department {department}, and {which}"
                yield written.build_finding(message, remedy, "roles", bill_role, key=True)
            elif crew and len(able := find_able_agents(view, written, bill_role, crew)) < counts[0]:
                number = f"{len(able)} agents" if len(able) != 1 else "1 agent"
                message = (
                    f"has bill role {quote(bill_role)}, which takes {counts[0]}, but {number} can take it"
                )
                yield written.build_finding(
                    message, f"{remedy}, or assign more agents", "roles", bill_role, key=True
                )


def list_crew(view: OrgView) -> tuple[str, ...]:
    """The agents that fill roles in the organization. Empty if a roster cannot be read."""
    if "crew_roster" in view.records.incomplete:
        return ()
    return tuple(agent for agent in sorted(view.records.agents) if view.list_roles_filled_by(agent))


def find_able_agents(
    view: OrgView, written: WrittenBill, bill_role: str, crew: tuple[str, ...]
) -> tuple[str, ...]:
    """The agents that can take a bill role, according to the documents alone."""
    # Most organizations have no bills.
    from orgkernel.decisions.evidence.state_view import EMPTY_STATE
    from orgkernel.decisions.work.bills.fitness import iterate_misfits

    return tuple(
        agent
        for agent in crew
        if all(
            reason.code == STATE_SAYS
            for reason in iterate_misfits(view, EMPTY_STATE, written.document, bill_role, agent, 0.0)
        )
    )


RULE = Rule("ORG632", "unfillable-bill-role", Severity.WARNING, RuleTarget.ORGANIZATION, check)
