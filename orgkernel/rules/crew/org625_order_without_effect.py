"""A file of standing orders applies to no one.

## What it checks

The place of a file in `standing_orders` determines its audience: `federation.md` in the folder that contains the
organizations, `organization.md` in the folder of an organization, `departments/ID.md` and `roles/ID.md` for a
department or a role that an organization declares.

## Why it matters

The author believes that agents follow these orders, but no agent is given them.

## Example

With orders in `standing_orders/departments/desk.md`:

```yaml
departments: {press: {}}
```

## Instead

```yaml
departments: {press: {}, desk: {}}
```

## Known limits

Nothing is reported while a file that could declare a role or an organization cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import StandingOrder
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find orders that apply to no role of any organization that sees them."""
    if not assembly.strays_are_known or any(records.excused for records in assembly.organizations):
        return
    followed: set[int] = set()
    seen: dict[int, tuple[SourceDocument, OrgRecords]] = {}
    for records in assembly.organizations:
        followed |= {
            id(each.document)
            for orders in records.orders.values()
            for each in orders
            if _reaches(records, each.record)
        }
        for document in records.catalogs:
            # Orders of an agent in another format are in its own file, and ORG703 reports an agent that no organization includes.
            if isinstance(document.record, StandingOrder) and not (document.shared or document.format):
                seen.setdefault(id(document), (document, records))
    for key, (document, records) in seen.items():
        if key not in followed:
            assert isinstance(document.record, StandingOrder)
            text, help = _describe(records, document.record)
            yield Finding(document.place(), text, help, f"standing_order:{document.name}")


def _reaches(records: OrgRecords, order: StandingOrder) -> bool:
    if order.audience == "department":
        return order.target in records.organization.departments
    return (
        order.audience != "role" or order.target in records.posts or order.target in records.without_profile
    )


def _describe(records: OrgRecords, order: StandingOrder) -> tuple[str, str]:
    if order.audience == "unknown":
        names = ("federation", "organization", "departments/ID", "roles/ID")
        help = (
            did_you_mean(order.target, names[:2])
            or f"use one of {', '.join(f'`{each}.md`' for each in names)}"
        )
        return f"the name {quote(order.target)} does not identify an audience for the orders", help
    if order.audience == "federation":
        return (
            "orders for the federation are in an organization's folder",
            "move them to the folder that contains the organization, or name them `organization.md`",
        )
    if order.audience == "organization":
        return (
            "orders for an organization are not in an organization's folder",
            "move them to the organization's folder, or name them `federation.md`",
        )
    known = records.organization.departments if order.audience == "department" else records.posts
    return (
        f"the orders are for the {order.audience} {quote(order.target)}, which is not declared",
        did_you_mean(order.target, known),
    )


RULE = Rule("ORG625", "order-without-effect", Severity.ERROR, RuleTarget.TREE, check)
