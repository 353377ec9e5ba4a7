"""A step of a bill is never reached.

## What it checks

Every step of a bill can be reached from the first step.

## Why it matters

A step that cannot be reached is never done, although the author relies on it.

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

The rule does not check whether a condition can be true. ORG635 reports cycles of steps.

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
    """Find steps that cannot be reached."""
    written = read_bill(document)
    if written is None:
        return
    flow = Flow(written.bill)
    reached = flow.find_reached()
    for step_id, number in flow.numbers.items():
        # One cause, one finding: what follows an unreached step is unreached because of it.
        before = [way.source for way in flow.into[step_id]]
        if step_id not in reached and not before:
            yield written.build_step_finding(
                number,
                "cannot be reached: no step leads to it",
                "name it in `next` or in `branches` of an earlier step",
            )


RULE = Rule("ORG634", "unreached-bill-step", Severity.ERROR, RuleTarget.DOCUMENT, check)
