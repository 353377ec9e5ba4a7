"""A bill names something that is not declared.

## What it checks

A bill is a procedure for several roles. A bill role is a part that an agent takes in it. The rule checks
each name in a bill:

- A bill role names only declared roles, departments, ranks and tests.
- A step names only declared skills, tools, actions, channels and bills. Each of its bill roles is declared under
  `roles`.
- The `gate` of a step, which says who must approve the step, is a bill role or a declared role.
- The alert that starts the bill is declared. The `authority` that may start it is a declared role or
  `department_chief`.

## Why it matters

No agent meets an unknown rank or test, and a step with an unknown tool is always refused. The bill stops there,
usually in an emergency.

## Example

```yaml
roles:
  lead: {role: cheif}
```

## Instead

```yaml
roles:
  lead: {role: chief}
```

## Known limits

A bill in a folder that several organizations share is checked for each of them. Nothing is reported while a file that
could declare the name cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from orgkernel.decisions.work.bills.flow import CHIEF, get_bill_roles
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.marks import RouteStep
from orgkernel.rules.bills.bill_documents import WrittenBill, iterate_bills, list_departments
from orgkernel.rules.rule import Finding, Rule, RuleTarget


class _Named(NamedTuple):
    """A name in a bill, its expected kind, and the declared names of that kind."""

    what: str
    name: str | None
    known: Collection[str]
    catalog: str
    """The kind of document that declares it, which can be unreadable."""
    route: tuple[RouteStep, ...]


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared names in bills."""
    for written in iterate_bills(view):
        for named in _iterate_names(view, written):
            excused = named.catalog in view.records.incomplete or (
                named.catalog == "role_profile" and view.does_name_role(str(named.name))
            )
            if named.name is None or named.name in named.known or excused:
                continue
            help = did_you_mean(named.name, named.known) or f"declare the {named.what}, or name another one"
            yield written.build_finding(
                f"names {quote(named.name)}, which is not a declared {named.what}", help, *named.route
            )


def _iterate_names(view: OrgView, written: WrittenBill) -> Iterator[_Named]:
    records, bill = view.records, written.bill
    roles, departments = view.roles, list_departments(view)
    ranks = [rank.id for rank in records.ranks]
    authority = bill.activation.authority
    event, _, alert = bill.activation.trigger.partition(":")
    if event == "alert" and alert:
        yield _Named("alert", alert, records.organization.alerts, "", ("activation", "trigger"))
    if authority != CHIEF:
        yield _Named("role", authority, roles, "role_profile", ("activation", "authority"))
    for bill_role, wanted in bill.roles.items():
        yield _Named("role", wanted.role, roles, "role_profile", ("roles", bill_role, "role"))
        yield _Named("department", wanted.department, departments, "", ("roles", bill_role, "department"))
        yield _Named("rank", wanted.min_rank, ranks, "rank_ladder", ("roles", bill_role, "min_rank"))
        for number, each in enumerate(wanted.qualifications):
            route = ("roles", bill_role, "qualifications", number)
            yield _Named("qualification", each, records.qualifications, "qualification_catalog", route)
    for number, step in enumerate(bill.steps):
        here = ("steps", number)
        for bill_role in get_bill_roles(step):
            field = ("role",) if bill_role == step.role else ("roles", step.roles.index(bill_role))
            yield _Named("bill role", bill_role, bill.roles, "", (*here, *field))
        skills = {**records.skills, **records.cognitive_skills}
        yield _Named("skill", step.skill, skills, "skill_catalog", (*here, "skill"))
        yield _Named("tool", step.tool, records.tools, "tool_catalog", (*here, "tool"))
        tool = records.tools.get(step.tool or "")
        if tool is not None:
            actions = ("use", *tool.record.actions)
            yield _Named("action of the tool", step.tool_action, actions, "", (*here, "tool_action"))
        channels = records.organization.communication_channels
        yield _Named("channel", step.channel, channels, "", (*here, "channel"))
        yield _Named("bill", step.sub_bill, records.bills, "bill", (*here, "sub_bill"))
        if step.gate not in bill.roles:
            yield _Named("role or bill role", step.gate, roles, "role_profile", (*here, "gate"))


RULE = Rule("ORG631", "unknown-bill-reference", Severity.ERROR, RuleTarget.ORGANIZATION, check)
