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

The rule ignores the level that a step needs. A tool that the missing one falls back to is not enough. ORG303 reports
tools that no catalog declares and tools that the role misspells.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Plans that the role cannot finish."""
    tools = view.records.tools
    for plan in view.list_targets_of_kind(EdgeKind.FOLLOWS):
        needed = [need for need in view.list_tools_needed_by(plan) if need.target in tools]
        holders = [view.get_holder_levels(need.target).keys() for need in needed]
        for edge in view.list_followers(plan):
            role_id = edge.source
            lacked = [need for need, held_by in zip(needed, holders, strict=True) if role_id not in held_by]
            missing = list(_find_truly_missing(view, role_id, lacked)) if lacked else ()
            if missing:
                yield Finding(
                    edge.place,
                    f"role {quote(role_id)} follows plan {quote(plan)} "
                    f"but lacks tools that it needs: {listing(need.target for need in missing)}",
                    "equip the role with them, or remove the plan from `htn_plans`",
                    f"role:{role_id}",
                    (Related(missing[0].place, f"plan {quote(plan)} needs {quote(missing[0].target)}"),),
                )


def _find_truly_missing(view: OrgView, role_id: str, lacked: list[Edge]) -> Iterator[Edge]:
    """The tools that the role does not list, except those that it always has or lists under a misspelled id."""
    tools, always = view.records.tools, view.list_essential_tools(role_id)
    meant = {suggest(each.target, tools) for each in view.list_tools(role_id) if each.target not in tools}
    return (need for need in lacked if need.target not in always and need.target not in meant)


RULE = Rule("ORG309", "plan-tools-missing", Severity.ERROR, RuleTarget.ORGANIZATION, check)
