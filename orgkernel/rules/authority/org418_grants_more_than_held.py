"""A role may grant a tool at a level that it does not have.

## What it checks

A role may grant a tool (`may_grant`) at most at the level at which the role itself is equipped with it.

## Why it matters

Otherwise the role could give itself the tool through another agent and raise its own permissions without limit.

## Example

```yaml
capabilities: {tools: [{tool: text_editor, level: read}]}
may_grant: [{tool: text_editor, level: write}]
```

## Instead

```yaml
capabilities: {tools: [{tool: text_editor, level: write}]}
may_grant: [{tool: text_editor, level: write}]
```

## Known limits

The rule does not know the grants that an agent has. They are compared when the agent grants something.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Tools that a role may grant above the level it has."""
    for post in view.posts:
        if not post.profile.may_grant:
            continue
        held = dict(view.get_tool_levels(post.role_id))
        held |= dict.fromkeys(view.list_essential_tools(post.role_id), LEVELS[-1])
        for number, use in enumerate(post.profile.may_grant):
            has = held.get(use.tool, "none")
            if LEVELS.index(use.level) <= LEVELS.index(has):
                continue
            instead = "but does not have it" if has == "none" else f"but has it only at {quote(has)}"
            yield Finding(
                post.place("may_grant", number, "tool"),
                f"role {quote(post.role_id)} may grant {quote(use.tool)} at level {quote(use.level)} {instead}",
                "equip the role with the tool at that level, or lower the level it may grant",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG418", "grants-more-than-held", Severity.ERROR, RuleTarget.ORGANIZATION, check)
