"""A step of a bill uses a tool or a channel that its bill role cannot use.

## What it checks

For every bill role that does a step, some role whose holders can take the bill role may use the tool of the step with its action,
and may speak in its channel.

## Why it matters

The step is refused to every agent that could do it. The steps after it never start.

## Example

```yaml
roles:
  guard: {role: guard}
steps:
  - {id: sound, action: tool, tool: horn, role: guard}
```

## Instead

```yaml
roles:
  lead: {role: chief}
steps:
  - {id: sound, action: tool, tool: horn, role: lead}
```

## Known limits

The rule ignores a rank that is too low, a missing test and unknown circumstances, because they can change. It also
ignores unknown names (ORG631).

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.bills.flow import get_bill_roles
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import BillStep
from orgkernel.graph.questions import OrgView
from orgkernel.rules.bills.bill_documents import find_roles, iterate_bills
from orgkernel.rules.rule import Finding, Rule, RuleTarget

LASTING = frozenset(
    {
        "ACTION_UNKNOWN", "NOT_BOUND_TO_ROLE", "NOT_VISIBLE", "POLICY_CEILING", "POLICY_DENY", "POSITION_CAP",
        "TOOL_DISABLED",
    }
)  # fmt: skip
"""Refusal codes that only another document or a grant can change."""


def check(view: OrgView) -> Iterator[Finding]:
    """Find steps that are refused to every agent that could do them."""
    records = view.records
    for written in iterate_bills(view):
        for number, step in enumerate(written.bill.steps):
            for bill_role in get_bill_roles(step):
                wanted = written.bill.roles.get(bill_role)
                roles = () if wanted is None else find_roles(view, wanted)
                if not roles:
                    continue
                which = f"role{'s' if roles[1:] else ''} {listing(roles)}"
                if step.tool in records.tools and not any(_may_use(view, role_id, step) for role_id in roles):
                    message = f"uses tool {quote(step.tool)} with action {quote(step.tool_action)}, which no agent in {which} is allowed to do as {quote(bill_role)}"
                    yield written.build_step_finding(
                        number,
                        message,
                        "equip a role with the tool, or let another bill role do the step",
                        "tool",
                    )
                channels = records.organization.communication_channels
                if step.channel in channels and not _may_speak(view, str(step.channel), roles):
                    message = f"speaks in channel {quote(step.channel)}, in which no agent in {which} is allowed to speak as {quote(bill_role)}"
                    yield written.build_step_finding(
                        number, message, "add a pair to the channel, or use another one", "channel"
                    )


def _may_speak(view: OrgView, channel: str, roles: tuple[str, ...]) -> bool:
    from orgkernel.decisions.work.bills.fitness import may_speak  # most organizations have no bills

    return may_speak(view, channel, roles)


def _may_use(view: OrgView, role_id: str, step: BillStep) -> bool:
    from orgkernel.decisions.access.request import AccessRequest
    from orgkernel.decisions.evidence.state_view import EMPTY_STATE
    from orgkernel.decisions.members.tool_use import decide_tool_use

    tool = view.records.tools.get(step.tool or "")
    if tool is None or step.tool_action not in ("use", *tool.record.actions):
        return True
    request = AccessRequest(f"role:{role_id}", "", "")
    use = decide_tool_use(view, EMPTY_STATE, request, tool.id, step.tool_action)
    return use.outcome != "deny" or LASTING.isdisjoint(use.codes)


RULE = Rule("ORG638", "bill-step-out-of-reach", Severity.ERROR, RuleTarget.ORGANIZATION, check)
