"""A step of a bill is never reached.

## What it checks

Some way from the first step leads to every step of a bill.

## Why it matters

A step that nothing leads to is never done. Whoever wrote it relies on it.

## Example

```yaml
steps:
  - {id: call, action: send_dm, role: lead, next: end}
  - {id: answer, action: receive_message, role: lead}
```

## Instead

```yaml
steps:
  - {id: call, action: send_dm, role: lead}
  - {id: answer, action: receive_message, role: lead}
```

## Known limits

The rule does not ask whether a condition can be true. Steps that lead to each other in a circle are ORG635.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import Flow
from orgkernel.diagnostics import Severity
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.bills.bill_documents import read_bill
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Steps that no way leads to."""
    written = read_bill(document)
    if written is None:
        return
    flow = Flow(written.bill)
    reached = flow.reached()
    for step_id, number in flow.numbers.items():
        # One cause, one finding: what follows an unreached step is unreached because of it.
        before = [way.source for way in flow.into[step_id]]
        if step_id not in reached and not before:
            yield written.build_step_finding(
                number,
                "is never reached: no step leads to it",
                "name it in `next` or in `branches` of an earlier step",
            )


RULE = Rule("ORG634", "unreached-bill-step", Severity.ERROR, RuleTarget.DOCUMENT, check)
