"""A role's authority level does not match its role type.

## What it checks

If `authority_level` is written, it is 1 for a specialist, 2 for an executive and 3 for a commander.

## Why it matters

Dispatch uses the role type, and the chain of command uses the authority level. If the two disagree, the role is treated as one
type by dispatch and as another by its superiors and subordinates.

## Example

```yaml
role_type: specialist
chain_of_command:
  authority_level: 2
```

## Instead

```yaml
role_type: executive
chain_of_command:
  authority_level: 2
```

## Known limits

If the level also makes the role equal to its superior or to a subordinate, ORG207 reports that instead.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.command.role_types import (
    TYPE_IN_WORDS,
    find_not_outranked,
    get_authority_of_type,
    is_not_outranked,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find levels that differ from the level of the role type."""
    for post in view.posts:
        written, usual = post.profile.chain_of_command.authority_level, get_authority_of_type(post)
        if written is None or written == usual or _is_reported_with_others(view, post):
            continue
        by_type = TYPE_IN_WORDS[usual]
        yield Finding(
            post.place("chain_of_command", "authority_level"),
            f"role {quote(post.role_id)} is {by_type} with authority level {written}, "
            f"but {by_type} has level {usual}",
            f"leave `authority_level` out, or make the role {TYPE_IN_WORDS[written]}",
            f"role:{post.role_id}",
            (Related(post.place("role_type"), f"the type of role {quote(post.role_id)}"),)
            if post.document.has("role_type")
            else (),
        )


def _is_reported_with_others(view: OrgView, post: RolePost) -> bool:
    """Whether ORG207 reports the role, as a superior or as a subordinate."""
    superior = view.records.posts.get(view.get_superior(post.role_id) or "")
    return bool(find_not_outranked(view, post)) or (
        superior is not None and is_not_outranked(view, superior, post)
    )


RULE = Rule("ORG214", "authority-contradicts-type", Severity.WARNING, RuleTarget.ORGANIZATION, check)
