"""The trigger, a count, a step or an output of a bill is not well-formed.

## What it checks

The trigger of a bill is `manual`, or `alert:`, `schedule:` or `event:` with a name. The count of a bill role is a
number or a range. A step has the fields that its action needs, and none that belong to another action: a tool for
`tool`, a channel for `post_to_channel`, a bill for `sub_bill`, a skill for `cognitive_skill`. Every step but a
`captain_approval` (without one, the owner approves) has a bill role that does it. An output lists its values if and
only if its type is `enum`, and no step has two outputs of one name.

## Why it matters

Otherwise the field has no effect, or the bill cannot continue at that step.

## Example

```yaml
roles:
  hands: {role: mason, count: several}
```

## Instead

```yaml
roles:
  hands: {role: mason, count: 1-3}
```

## Known limits

The rule does not know which alerts, schedules and events a runtime has. Any action may exercise a skill, and any may use
a channel except `tool` and `sub_bill`.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import APPROVAL, get_bill_roles, read_count
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.bills.bill_documents import WrittenBill, read_bill
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_TRIGGER = lazy_pattern(r"manual|(?:alert|schedule|event):[A-Za-z_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_REQUIRED_FIELD = {
    "tool": "tool",
    "post_to_channel": "channel",
    "sub_bill": "sub_bill",
    "cognitive_skill": "skill",
}
_ACTIONS_THAT_READ = {
    "tool": ("tool",),
    "sub_bill": ("sub_bill",),
    "channel": ("post_to_channel", "send_dm", "receive_message", "captain_approval", "cognitive_skill"),
}


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find malformed values, and fields that the action does not use."""
    written = read_bill(document)
    if written is None:
        return
    bill = written.bill
    if not _TRIGGER.fullmatch(bill.activation.trigger):
        yield written.build_finding(
            f"has the trigger {quote(bill.activation.trigger)}",
            "write `manual`, `alert:NAME`, `schedule:NAME` or `event:NAME`",
            "activation",
            "trigger",
        )
    for bill_role, spec in bill.roles.items():
        if read_count(spec.count) is None:
            yield written.build_finding(
                f"has bill role {quote(bill_role)} with the count {quote(spec.count)}",
                'write a number, or a range such as `"1-3"`',
                "roles",
                bill_role,
                "count",
            )
    for number in range(len(bill.steps)):
        yield from _check_step(written, number)
        yield from _check_outputs(written, number)


def _check_step(written: WrittenBill, number: int) -> Iterator[Finding]:
    step = written.bill.steps[number]
    needed = _REQUIRED_FIELD.get(step.action)
    if needed is not None and getattr(step, needed) is None:
        yield written.build_step_finding(
            number, f"has the action {quote(step.action)} but no `{needed}`", f"add `{needed}`", "action"
        )
    for field, actions in _ACTIONS_THAT_READ.items():
        if getattr(step, field) is not None and step.action not in actions:
            message = f"names a {field.replace('_', ' ')}, which the action {quote(step.action)} does not use"
            yield written.build_step_finding(
                number, message, f"remove `{field}`, or change the action", field
            )
    if step.tool is None and step.tool_action != "use":
        yield written.build_step_finding(
            number, "has a `tool_action` but no tool", "remove it", "tool_action"
        )
    if not get_bill_roles(step) and step.action != APPROVAL:
        yield written.build_step_finding(number, "has no bill role to do it", "add `role`")


def _check_outputs(written: WrittenBill, number: int) -> Iterator[Finding]:
    names: set[str] = set()
    for index, output in enumerate(written.bill.steps[number].outputs):
        what = f"output {quote(output.name)}"
        if output.name in names:
            yield written.build_step_finding(
                number,
                f"has two outputs named {quote(output.name)}",
                "give one of them another name",
                "outputs",
                index,
                "name",
            )
        names.add(output.name)
        if output.type == "enum" and not output.values:
            yield written.build_step_finding(
                number, f"has {what} of type `enum` without values", "list its `values`", "outputs", index
            )
        if output.values and output.type != "enum":
            message = f"has {what} of type {quote(output.type)} with values"
            yield written.build_step_finding(
                number, message, "write `type: enum`, or remove them", "outputs", index, "values"
            )


RULE = Rule("ORG639", "malformed-bill", Severity.ERROR, RuleTarget.DOCUMENT, check)
