"""A role's authority level is not that of its type.

## What it checks

`authority_level`, where it is written, is 1 for a specialist, 2 for an executive and 3 for a commander.

## Why it matters

Dispatch goes by the type and command by the authority. A role that is one by its type and another by its authority is
treated as either, depending on who asks.

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

Where the level also puts the role on a par with its superior or with a subordinate, ORG207 reports it.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.command import TYPE_IN_WORDS, authority_of_type, is_not_outranked, not_outranked
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """A written level that the type does not have."""
    for post in view.posts:
        written, usual = post.profile.chain_of_command.authority_level, authority_of_type(post)
        if written is None or written == usual or _is_reported_with_others(view, post):
            continue
        by_type = TYPE_IN_WORDS[usual]
        yield Finding(
            post.place("chain_of_command", "authority_level"),
            f"role {quote(post.role_id)} is {by_type} with authority level {written}, and {by_type} has {usual}",
            f"leave `authority_level` out, or make the role {TYPE_IN_WORDS[written]}",
            f"role:{post.role_id}",
            (Related(post.place("role_type"), f"the type of role {quote(post.role_id)}"),)
            if post.document.has("role_type")
            else (),
        )


def _is_reported_with_others(view: OrgView, post: RolePost) -> bool:
    """Whether ORG207 speaks of the role, as a superior or as a subordinate."""
    superior = view.records.posts.get(view.superior_of(post.role_id) or "")
    return bool(not_outranked(view, post)) or (
        superior is not None and is_not_outranked(view, superior, post)
    )


RULE = Rule("ORG214", "authority-contradicts-type", Severity.WARNING, Scope.ORGANIZATION, check)
