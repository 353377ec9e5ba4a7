"""A role follows a plan that needs tools the role is not equipped with.

## What it checks

Every tool that a plan or one of its steps needs is among the tools of every role that follows the plan, at any level
above `none`.

## Why it matters

The role starts the plan and is refused a call in the middle of it: work is half done, and the failure looks like one of
the tool.

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

The level a step needs is not looked at. A tool the missing one falls back to does not count. Tools that no catalog
declares, and those the role seems to misspell, are left to ORG303.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Plans the role cannot finish."""
    tools = view.records.tools
    for plan in view.targets_of(EdgeKind.FOLLOWS):
        needed = [need for need in view.tools_needed_by(plan) if need.target in tools]
        holders = [view.holder_levels_of(need.target).keys() for need in needed]
        for edge in view.followers_of(plan):
            role_id = edge.source
            lacked = [need for need, held_by in zip(needed, holders, strict=True) if role_id not in held_by]
            missing = list(_truly_missing(view, role_id, lacked)) if lacked else ()
            if missing:
                yield Finding(
                    edge.place,
                    f"role {quote(role_id)} follows plan {quote(plan)} "
                    f"and lacks tools it needs: {listing(need.target for need in missing)}",
                    "equip the role with them, or take the plan out of `htn_plans`",
                    f"role:{role_id}",
                    (Related(missing[0].place, f"plan {quote(plan)} needs {quote(missing[0].target)}"),),
                )


def _truly_missing(view: OrgView, role_id: str, lacked: list[Edge]) -> Iterator[Edge]:
    """Of the tools that the role does not list, those that it neither always has nor lists under a misspelled id."""
    tools, always = view.records.tools, view.essential_tools_of(role_id)
    meant = {suggest(each.target, tools) for each in view.tools_of(role_id) if each.target not in tools}
    return (need for need in lacked if need.target not in always and need.target not in meant)


RULE = Rule("ORG309", "plan-tools-missing", Severity.ERROR, Scope.ORGANIZATION, check)
