"""A role states, or an action requires, a tool level that no rank has.

## What it checks

The highest rank reaches every level that a role states for a tool (`tools: [{tool, level}]`), and every level that an
action of an organization's own tool requires. The matrix that applies to the tool decides which level the rank
reaches.

## Why it matters

Ranks cap levels. A level above the highest rank's cannot be used. The role never gets the level it states, or no
agent can perform the action without a waiver.

## Example

```yaml
shell: {type: computer_use, actions: {run: full}, rank_matrix: {commander: write}}
```

## Instead

```yaml
shell: {type: computer_use, actions: {run: full}, rank_matrix: {commander: write, senior: full}}
```

## Known limits

`tools_primary` and `tools_secondary` state no level. Essential tools are not capped. ORG404 reports unknown matrices, and
ORG401 reports unknown ranks in a matrix.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RankRow
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Levels above the level of the highest rank."""
    rows = {
        tool_id: row
        for tool_id, tool in view.records.tools.items()
        if not tool.record.essential
        and (row := view.records.get_rank_row(tool_id)) is not None
        and row.declared
        and all(rank_id in row.levels for rank_id in row.declared)
    }
    if rows:
        yield from _check_actions(view, rows)
        yield from _check_roles(view, rows)


def _check_actions(view: OrgView, rows: Mapping[str, RankRow]) -> Iterator[Finding]:
    for tool_id, row in rows.items():
        tool = view.records.tools[tool_id]
        for action, level in tool.record.required_levels.items() if tool.own else ():
            if LEVELS.index(level) > _find_highest_level(row):
                yield Finding(
                    tool.place("actions", action) if tool.record.actions else tool.place(),
                    f"action {quote(action)} of tool {quote(tool_id)} requires level {quote(level)}, which no rank has",
                    "give a rank this level, or lower the level that the action requires",
                    f"tool:{tool_id}",
                    _find_related(row),
                )


def _check_roles(view: OrgView, rows: Mapping[str, RankRow]) -> Iterator[Finding]:
    for post in view.records.posts.values():
        for number, use in enumerate(post.profile.capabilities.tools):
            row = rows.get(use.tool)
            if row is not None and LEVELS.index(use.level) > _find_highest_level(row):
                yield Finding(
                    post.place("capabilities", "tools", number, "level"),
                    f"role {quote(post.role_id)} is equipped with {quote(use.tool)} at level {quote(use.level)}, "
                    "which no rank has",
                    "give a rank this level, or equip the role at a lower level",
                    f"role:{post.role_id}",
                    _find_related(row),
                )


def _find_highest_level(row: RankRow) -> int:
    return max(LEVELS.index(level) for level in row.levels.values())


def _find_related(row: RankRow) -> tuple[Related, ...]:
    top = max(row.levels.values(), key=LEVELS.index)
    return (Related(row.place, f"the highest level of a rank is {quote(top)}"),)


RULE = Rule("ORG408", "level-above-every-rank", Severity.WARNING, RuleTarget.ORGANIZATION, check)
