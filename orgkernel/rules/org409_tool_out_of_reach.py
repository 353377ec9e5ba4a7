"""A role is equipped with a tool that it may not use.

## What it checks

If a tool has `departments`, only roles of these departments list it. If a tool has `restricted_to`, only the roles named
there list it, or roles filled by an agent named there.

## Why it matters

The limit decides. The role is refused the tool it lists, its plans stop halfway, and the role looks more capable than it
is.

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

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """Tools that are limited to other roles."""
    tools = view.records.tools
    for edge in view.tools_of(post.role_id):
        tool = tools.get(edge.target)
        if tool is None or not (tool.record.departments or tool.record.restricted_to):
            continue
        if tool.id in view.essential_tools_of(post.role_id):
            continue
        about = f"role {quote(post.role_id)} is equipped with {quote(tool.id)}, which is"
        if tool.record.departments and post.profile.department not in tool.record.departments:
            yield Finding(
                edge.place,
                f"{about} limited to {_departments(tool.record.departments)}",
                "remove the tool from the role, or add the role's department to `departments`",
                f"role:{post.role_id}",
                (Related(tool.place("departments"), "limited here"),),
            )
        users = {post.role_id, *(filling.source for filling in view.agents_in(post.role_id))}
        if tool.record.restricted_to and users.isdisjoint(tool.record.restricted_to):
            yield Finding(
                edge.place,
                f"{about} restricted to {listing(tool.record.restricted_to)}",
                "remove the tool from the role, or add the role to `restricted_to`",
                f"role:{post.role_id}",
                (Related(tool.place("restricted_to"), "restricted here"),),
            )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts with a tool that is limited at all."""
    limited = {
        tool.id
        for tool in posts.records.tools.values()
        if tool.record.departments or tool.record.restricted_to
    }
    if not limited:
        return []
    return [
        post
        for post, profile in posts.pairs
        for able in (profile.capabilities,)
        if not limited.isdisjoint(
            (*able.tools_primary, *able.tools_secondary, *(use.tool for use in able.tools))
        )
    ]


def _departments(departments: tuple[str, ...]) -> str:
    return f"department{'s' if departments[1:] else ''} {listing(departments)}"


RULE = Rule("ORG409", "tool-out-of-reach", Severity.ERROR, Scope.POST, check, suspects)
