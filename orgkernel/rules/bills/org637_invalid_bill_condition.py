"""A condition or an input of a bill cannot be known.

## What it checks

A condition is valid in the language of conditions. It names outputs of earlier steps, and compares them with
constants of their type. The condition of a branch may also name outputs of its own step. The source of an input is an
output of an earlier step, or `activation.NAME`, a value that is given when the bill starts.

## Why it matters

An unknown condition is neither true nor false. The branch is never taken, and the step never starts.

## Example

```yaml
steps:
  - {id: vote, action: send_dm, role: lead, outputs: [{name: ok, type: boolean}]}
  - {id: go, action: send_dm, role: lead, condition: vote.okay}
```

## Instead

```yaml
steps:
  - {id: vote, action: send_dm, role: lead, outputs: [{name: ok, type: boolean}]}
  - {id: go, action: send_dm, role: lead, condition: vote.ok}
```

## Known limits

The rule does not check whether the step that yields an output is always done. If that step is skipped, the condition
stays unknown. The first mistake in the syntax of a condition hides the ones after it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.conditions import (
    ConditionProblem,
    OutputName,
    describe_misfit,
    list_comparisons,
    parse_condition,
)
from orgkernel.decisions.work.bills.flow import ACTIVATION, Flow
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import Branch, StepOutput
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.bills.bill_documents import WrittenBill, read_bill
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find conditions and inputs that depend on values that are never known."""
    written = read_bill(document)
    if written is None:
        return
    flow = Flow(written.bill)
    if flow.sort_steps() is None:
        return
    outputs = {(step.id, output.name): output for step in flow.steps.values() for output in step.outputs}
    for step_id, number in flow.numbers.items():
        step, before = flow.steps[step_id], flow.find_before(step_id)
        known = {name: output for name, output in outputs.items() if name[0] in before}
        if step.condition is not None:
            yield from _check_condition(written, number, step.condition, known, "condition")
        own = known | {name: output for name, output in outputs.items() if name[0] == step_id}
        for place, branch in enumerate(step.branches):
            if isinstance(branch, Branch) and branch.condition is not None:
                yield from _check_condition(
                    written, number, branch.condition, own, "branches", place, "condition"
                )
        for place, given in enumerate(step.inputs):
            source, dot, name = given.source.partition(".")
            if not (dot and name and (source == ACTIVATION or (source, name) in known)):
                message = f"takes {quote(given.source)}, which no earlier step yields"
                help = (
                    _suggest_output((source, name), known)
                    or "write STEP.OUTPUT of an earlier step, or `activation.NAME`"
                )
                yield written.build_step_finding(number, message, help, "inputs", place, "source")


def _check_condition(
    written: WrittenBill,
    number: int,
    text: str,
    known: dict[OutputName, StepOutput],
    *route: RouteStep,
) -> Iterator[Finding]:
    condition = parse_condition(text)
    if isinstance(condition, ConditionProblem):
        message = f"has a condition that is not valid: {condition.message}"
        yield written.build_step_finding(number, message, condition.help, *route)
        return
    for comparison in list_comparisons(condition):
        name = ".".join(comparison.name)
        if comparison.name not in known:
            message = f"has a condition on {quote(name)}, which no earlier step yields"
            help = _suggest_output(comparison.name, known) or "name an output of an earlier step"
            yield written.build_step_finding(number, message, help, *route)
        elif misfit := describe_misfit(comparison, known[comparison.name]):
            message = f"compares {quote(name)} with a value that it cannot have: {misfit}"
            yield written.build_step_finding(number, message, "compare it with a value of its type", *route)


def _suggest_output(name: OutputName, known: dict[OutputName, StepOutput]) -> str:
    return did_you_mean(".".join(name), [".".join(each) for each in known])


RULE = Rule("ORG637", "invalid-bill-condition", Severity.ERROR, RuleTarget.DOCUMENT, check)
