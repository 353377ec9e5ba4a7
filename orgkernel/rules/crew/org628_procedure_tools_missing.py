"""A role performs a procedure but lacks a tool that a step calls.

## What it checks

A role that performs a procedure is equipped with every tool in the `required_tools` of its steps, or the tool is
essential to the role. If a step names an action, the tool has this action.

## Why it matters

The step is refused, so `orgkernel handle` never chooses the procedure for this role.

## Example

```yaml
capabilities: {procedures: [publish_post]}
```

## Instead

```yaml
capabilities: {procedures: [publish_post], tools_primary: [post_api]}
```

## Known limits

The rule ignores levels, ranks and grants: `orgkernel handle` decides with them. ORG303 reports tools that no catalog
declares.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import Procedure, ToolNeed
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Procedures that the role cannot finish, and steps with actions that their tools do not have."""
    tools = view.records.tools
    for procedure in view.records.procedures.values():
        yield from _find_unknown_actions(view, procedure)
        called: dict[str, Edge] = {}
        for edge in view.list_edges_from(EdgeKind.CALLS, procedure.id):
            if edge.target in tools:
                called.setdefault(edge.target, edge)
        holders = {tool: view.get_holder_levels(tool).keys() for tool in called}
        performing = {edge.source: edge for edge in view.list_edges_to(EdgeKind.PERFORMS, procedure.id)}
        for role_id, edge in performing.items():
            lacked = [tool for tool in called if role_id not in holders[tool]]
            always = view.list_essential_tools(role_id) if lacked else ()
            missing = [called[tool] for tool in lacked if tool not in always]
            if missing:
                yield Finding(
                    edge.place,
                    f"role {quote(role_id)} performs procedure {quote(procedure.id)} "
                    f"but lacks tools that it calls: {listing(each.target for each in missing)}",
                    "equip the role with them",
                    f"role:{role_id}",
                    (
                        Related(
                            missing[0].place,
                            f"step {quote(missing[0].attribute)} calls {quote(missing[0].target)}",
                        ),
                    ),
                )


def _find_unknown_actions(view: OrgView, procedure: Definition[Procedure]) -> Iterator[Finding]:
    for number, step in enumerate(procedure.record.steps):
        for place, need in enumerate(step.required_tools):
            tool = view.records.tools.get(need.tool) if isinstance(need, ToolNeed) else None
            if tool is None or not isinstance(need, ToolNeed) or need.action is None:
                continue
            if need.action not in tool.record.required_levels:
                yield Finding(
                    procedure.place("steps", number, "required_tools", place, "action"),
                    f"step {quote(step.id)} of procedure {quote(procedure.id)} calls the action {quote(need.action)}, "
                    f"which tool {quote(tool.id)} does not have",
                    did_you_mean(need.action, tool.record.required_levels)
                    or f"use one of {listing(tool.record.required_levels)}",
                    f"procedure:{procedure.id}",
                )


RULE = Rule("ORG628", "procedure-tools-missing", Severity.ERROR, RuleTarget.ORGANIZATION, check)
