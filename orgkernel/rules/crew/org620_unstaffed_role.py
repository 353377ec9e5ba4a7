"""No agent that fills a role is active.

## What it checks

At least one agent that fills a role is active. An agent on probation is treated as active if the role is open to
probation. Registered, suspended and decommissioned agents are not active.

## Why it matters

The roster looks complete, but work that is dispatched to the role reaches no agent. Its superior has to cover for it.

## Example

```yaml
a1: {assignments: [{role: co}]}
```

while `a1` is suspended in the store.

## Instead

```yaml
a1: {assignments: [{role: co}]}
```

with `a1` active again (`orgkernel agent move a1 active`). You can also assign another agent. `orgkernel crew
vacancies` suggests some.

## Known limits

ORG601 reports a role that no agent fills. The rule needs the store, so only `orgkernel agent list` and `GET
/v1/diagnostics` report it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find roles without an active agent."""
    # Few checks compare with a store.
    from orgkernel.decisions.access.layers.identity import is_at_work
    from orgkernel.decisions.access.tables import get_access_tables

    for view in views:
        state, tables = states[view.org_id], get_access_tables(view)
        away = set()
        for agent_id in state.agents:
            subject = tables.find_subject(f"agent:{agent_id}")
            if subject is not None and not is_at_work(subject, state):
                away.add(agent_id)
        if not away:
            continue
        roles = dict.fromkeys(
            edge.target for agent_id in sorted(away) for edge in view.list_roles_filled_by(agent_id)
        )
        for role_id in roles:
            holders = [edge.source for edge in view.list_agents_in(role_id)]
            if away.issuperset(holders):
                yield Finding(
                    view.get_place(role_id),
                    f"no active agent fills role {quote(role_id)} of organization {quote(view.org_id)}: "
                    f"{listing(holders)} {'is' if len(holders) == 1 else 'are'} not at work",
                    "assign an agent that is at work; `orgkernel crew vacancies` names some",
                    f"role:{role_id}",
                )


RULE = Rule("ORG620", "unstaffed-role", Severity.WARNING, RuleTarget.STATE, check)
