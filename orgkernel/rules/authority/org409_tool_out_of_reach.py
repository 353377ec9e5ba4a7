"""A role is equipped with a tool that it may not use.

## What it checks

If a tool has `departments`, only roles of these departments list it. If a tool has `restricted_to`, only two kinds of
roles list it: roles that `restricted_to` names, and roles filled by an agent that it names.

## Why it matters

The limit of the tool takes precedence over the list of the role. The role is refused the tool, its plans stop halfway,
and the role looks more capable than it is.

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

The rule ignores tools that are essential to the role, and unknown ids (ORG406, ORG407). It does not know about waivers in
an agent's grants.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Tools that are limited to other roles."""
    for tool in view.records.tools.values():
        departments, users = tool.record.departments, tool.record.restricted_to
        if not (departments or users):
            continue
        for edge in view.list_holders(tool.id):
            role_id = edge.source
            if tool.id in view.list_essential_tools(role_id):
                continue
            about = f"role {quote(role_id)} is equipped with {quote(tool.id)}, which is"
            if departments and view.records.posts[role_id].profile.department not in departments:
                yield Finding(
                    edge.place,
                    f"{about} limited to department{'s' if departments[1:] else ''} {listing(departments)}",
                    "remove the tool from the role, or add the role's department to `departments`",
                    f"role:{role_id}",
                    (Related(tool.place("departments"), "limited here"),),
                )
            agents = (filling.source for filling in view.list_agents_in(role_id))
            if users and {role_id, *agents}.isdisjoint(users):
                yield Finding(
                    edge.place,
                    f"{about} restricted to {listing(users)}",
                    "remove the tool from the role, or add the role to `restricted_to`",
                    f"role:{role_id}",
                    (Related(tool.place("restricted_to"), "restricted here"),),
                )


RULE = Rule("ORG409", "tool-out-of-reach", Severity.ERROR, RuleTarget.ORGANIZATION, check)
