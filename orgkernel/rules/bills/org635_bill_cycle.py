"""A bill leads back to itself.

## What it checks

No step of a bill leads back to itself, and no bill runs itself, directly or through other bills.

## Why it matters

A step that waits for itself never starts, and a bill that runs itself never ends.

## Example

```yaml
steps:
  - {id: ask, action: send_dm, role: lead}
  - {id: wait, action: receive_message, role: lead, next: ask}
```

## Instead

```yaml
steps:
  - {id: ask, action: send_dm, role: lead}
  - {id: wait, action: receive_message, role: lead}
```

## Known limits

To repeat something, start the bill again: an instance does each step at most once.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import Flow
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.structure import find_cycles, find_shortest_cycle
from orgkernel.rules.bills.bill_documents import WrittenBill, iterate_bills
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find cycles of steps, and of bills."""
    bills = {written.bill.slug: written for written in iterate_bills(view)}
    for written in bills.values():
        yield from _find_step_cycles(written)
    pairs = [
        (slug, step.sub_bill)
        for slug, written in bills.items()
        for step in written.bill.steps
        if step.sub_bill in bills
    ]
    for group in find_cycles(pairs):
        cycle = find_shortest_cycle(pairs, group)
        written, following = bills[cycle[0]], (*cycle[1:], cycle[0])[0]
        number = next(n for n, step in enumerate(written.bill.steps) if step.sub_bill == following)
        yield written.build_finding(
            f"runs itself{_render_path(cycle)}", "remove one of these steps", "steps", number, "sub_bill"
        )


def _find_step_cycles(written: WrittenBill) -> Iterator[Finding]:
    flow = Flow(written.bill)
    pairs = flow.list_ways()
    for group in find_cycles(pairs):
        cycle = find_shortest_cycle(pairs, group)
        number = flow.numbers[cycle[0]]
        yield written.build_step_finding(
            number,
            f"leads back to itself{_render_path(cycle)}",
            "give one of these steps a `next` that is later, or `end`",
        )


def _render_path(cycle: tuple[str, ...]) -> str:
    return ": " + " → ".join(quote(each) for each in (*cycle, cycle[0])) if cycle[1:] else ""


RULE = Rule("ORG635", "bill-cycle", Severity.ERROR, RuleTarget.CATALOG, check)
