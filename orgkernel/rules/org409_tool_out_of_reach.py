"""A role is equipped with a tool that is kept from it.

## What it checks

A tool that is limited to `departments` or `restricted_to` roles and agents is listed only by roles of these
departments and among these roles, or by roles that one of these agents fills.

## Why it matters

The limit decides: the role is refused the tool it is said to have, its plans stop half-way, and the role looks more
capable than it is.

## Example

```yaml
role_id: codegen
capabilities: {tools_primary: [deploy]}
```

## Instead

```yaml
role_id: devops
capabilities: {tools_primary: [deploy]}
```

## Known limits

Tools that are essential to the role are not looked at, and neither are ids that nothing declares (ORG406, ORG407). An
agent's grant with a waiver is not known here.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Tools that are limited to others."""
    for tool in view.records.tools.values():
        departments, users = tool.record.departments, tool.record.restricted_to
        if not (departments or users):
            continue
        for edge in view.holders_of(tool.id):
            role_id = edge.source
            if tool.id in view.essential_tools_of(role_id):
                continue
            about = f"role {quote(role_id)} is equipped with {quote(tool.id)}, which is"
            if departments and view.records.posts[role_id].profile.department not in departments:
                yield Finding(
                    edge.place,
                    f"{about} for department{'s' if departments[1:] else ''} {listing(departments)} only",
                    "take the tool from the role, or let its department see it",
                    f"role:{role_id}",
                    (Related(tool.place("departments"), "limited here"),),
                )
            agents = (filling.source for filling in view.agents_in(role_id))
            if users and {role_id, *agents}.isdisjoint(users):
                yield Finding(
                    edge.place,
                    f"{about} restricted to {listing(users)}",
                    "take the tool from the role, or add the role to `restricted_to`",
                    f"role:{role_id}",
                    (Related(tool.place("restricted_to"), "restricted here"),),
                )


RULE = Rule("ORG409", "tool-out-of-reach", Severity.ERROR, Scope.ORGANIZATION, check)
