"""A role follows a plan but lacks tools that the plan needs.

## What it checks

Every role that follows a plan is equipped with each tool that the plan or one of its steps needs, at any level above
`none`.

## Why it matters

The role starts the plan and is refused a call in the middle of it. The work is half done, and the failure looks like a
failure of the tool.

## Example

```yaml
htn_plans: [bugfix_workflow]
tools_primary: [code_execution_tool, memory_load]
```

## Instead

```yaml
htn_plans: [bugfix_workflow]
tools_primary: [code_execution_tool, memory_load, memory_save]
```

## Known limits

The rule ignores the level that a step needs. A tool that the missing one falls back to does not count. ORG303 reports
tools that no catalog declares and tools that the role misspells.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """Plans that the role cannot finish."""
    tools = view.records.tools
    for plan, edge in {edge.target: edge for edge in reversed(view.plans_of(post.role_id))}.items():
        missing = [need for need in view.missing_tools(post.role_id, plan) if need.target in tools]
        if missing:
            held = (tool.target for tool in view.tools_of(post.role_id) if tool.target not in tools)
            meant = {suggest(word, tools) for word in held}
            missing = [need for need in missing if need.target not in meant]
        if missing:
            needed = listing(need.target for need in missing)
            yield Finding(
                edge.place,
                f"role {quote(post.role_id)} follows plan {quote(plan)} but lacks tools that it needs: {needed}",
                "equip the role with them, or remove the plan from `htn_plans`",
                f"role:{post.role_id}",
                (Related(missing[0].place, f"plan {quote(plan)} needs {quote(missing[0].target)}"),),
            )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts that lack a tool of a plan and may not have it always."""
    view = posts.view
    always = {tool.id for tool in posts.records.tools.values() if tool.record.essential is True}
    needed: dict[str, frozenset[str]] = {}
    found = []
    for post, profile in posts.following:
        able = profile.capabilities
        held = {
            *able.tools_primary,
            *able.tools_secondary,
            *(use.tool for use in able.tools if use.level != "none"),
        }
        for plan in able.htn_plans:
            if plan not in needed:
                needed[plan] = frozenset(edge.target for edge in view.tools_needed_by(plan)) - always
            if not held.issuperset(needed[plan]):
                found.append(post)
                break
    return found


RULE = Rule("ORG309", "plan-tools-missing", Severity.ERROR, Scope.POST, check, suspects)
