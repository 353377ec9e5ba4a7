"""The flow between the steps of a bill is not defined.

## What it checks

- A bill has steps, and each has an id of its own. `next` and `branches` name steps of the bill.
- A step with the gateway `parallel`, `xor` or `or` has branches and no `next`. A step with the gateway `sequential` has
  no branches.
- Branches of `xor` and `or` have conditions, except for the last branch, which is taken if no other is.
- Branches of `parallel` have no conditions.

## Why it matters

If the flow is not defined, two readers of the bill disagree about the next step, and in one of the readings no step follows.

## Example

```yaml
  - id: vote
    action: send_dm
    role: lead
    outputs: [{name: ok, type: boolean}]
    gateway: xor
    branches: [{to: go, condition: vote.ok}, {to: stop, condition: NOT vote.ok}]
```

## Instead

```yaml
  - id: vote
    action: send_dm
    role: lead
    outputs: [{name: ok, type: boolean}]
    gateway: xor
    branches: [{to: go, condition: vote.ok}, stop]
```

## Known limits

The last branch must have no condition even if the others cover every case, because an output that was not reported
leaves all of their conditions unknown.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import Flow
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import Branch
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.bills.bill_documents import WrittenBill, read_bill
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_CHOOSING = ("xor", "or")


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find steps whose next steps are not defined."""
    written = read_bill(document)
    if written is None:
        return
    bill, flow = written.bill, Flow(written.bill)
    if not bill.steps:
        yield written.build_finding("has no steps", "write its first step under `steps`", "slug")
    for number, step in enumerate(bill.steps):
        if flow.numbers[step.id] != number:
            yield written.build_step_finding(number, "has the id of an earlier step", "give it a unique id")
        if step.branches and step.gateway == "sequential":
            yield written.build_step_finding(
                number, "has branches but no gateway", "add `gateway: parallel`, `xor` or `or`", "branches"
            )
        if not step.branches and step.gateway != "sequential":
            yield written.build_step_finding(
                number, f"has the gateway {quote(step.gateway)} but no branches", "add `branches`", "gateway"
            )
        if step.branches and step.next is not None:
            yield written.build_step_finding(
                number, "has both branches and `next`", "remove `next`: only the branches are used", "next"
            )
        yield from _check_branches(written, number)
    for way in flow.unknown:
        number = flow.numbers[way.source]
        route = ("next",) if way.branch is None else ("branches", way.branch)
        help = did_you_mean(way.target, flow.steps) or "name a step of the bill, or `next: end`"
        yield written.build_step_finding(
            number, f"leads to {quote(way.target)}, which is not a step of the bill", help, *route
        )


def _check_branches(written: WrittenBill, number: int) -> Iterator[Finding]:
    step = written.bill.steps[number]
    last = len(step.branches) - 1
    for place, entry in enumerate(step.branches):
        condition = entry.condition if isinstance(entry, Branch) else None
        if step.gateway == "parallel" and condition is not None:
            message, help = (
                "has a branch with a condition, but a parallel gateway takes all branches",
                "remove it, or use `gateway: or`",
            )
        elif step.gateway in _CHOOSING and place < last and condition is None:
            message, help = "has a branch without a condition that is not the last one", "add its `condition`"
        elif step.gateway in _CHOOSING and place == last and condition is not None:
            message = "has a condition on its last branch, so it may take none"
            help = "add a last branch without a condition: it is taken if no other is"
        else:
            continue
        yield written.build_step_finding(number, message, help, "branches", place)


RULE = Rule("ORG636", "broken-bill-flow", Severity.ERROR, RuleTarget.DOCUMENT, check)
