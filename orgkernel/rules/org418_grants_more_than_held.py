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

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.levels import LEVELS
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """Tools that a role may grant above the level it has."""
    if not post.profile.may_grant:
        return
    held = dict.fromkeys(view.essential_tools_of(post.role_id), len(LEVELS) - 1)
    for edge in view.edges_from(EdgeKind.EQUIPPED_WITH, post.role_id):
        height = next(number for number, level in enumerate(LEVELS) if edge.attribute.endswith(f":{level}"))
        held[edge.target] = max(held.get(edge.target, 0), height)
    for number, use in enumerate(post.profile.may_grant):
        has = held.get(use.tool, 0)
        if LEVELS.index(use.level) > has:
            instead = f"but has it only at {quote(LEVELS[has])}" if has else "but does not have it"
            yield Finding(
                post.place("may_grant", number, "tool"),
                f"role {quote(post.role_id)} may grant {quote(use.tool)} at level {quote(use.level)} {instead}",
                "equip the role with the tool at that level, or lower the level it may grant",
                f"role:{post.role_id}",
            )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts that may grant something."""
    return [post for post, profile in posts.pairs if profile.may_grant]


RULE = Rule("ORG418", "grants-more-than-held", Severity.ERROR, Scope.POST, check, suspects)
