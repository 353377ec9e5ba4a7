"""A superior's authority is not above that of a direct subordinate.

## What it checks

The authority level of every superior, written or by its role type, is above that of each of its direct subordinates.

## Why it matters

Orders go down and reports up because the one above has more authority. Between equals neither has to follow, and a
conflict between them has nobody to settle it.

## Example

```yaml
role_id: engineering_xo
role_type: executive
chain_of_command:
  authority_level: 1
```

## Instead

```yaml
role_id: engineering_xo
role_type: executive
chain_of_command:
  authority_level: 2
```

## Known limits

With three levels of authority a chain of command has at most three steps. A superior is reported once for all of its
subordinates. A specialist that commands is reported by ORG208, roles in a circle by ORG203.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.command import (
    TYPE_IN_WORDS,
    authority_of_type,
    not_outranked,
    place_of_authority,
    superior_posts,
)
from orgkernel.rules.rule import Finding, Rule, Scope

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """A superior with subordinates it does not outrank."""
    for post in superior_posts(view):
        below = not_outranked(view, post)
        if not below:
            continue
        level, names = post.profile.authority_level, listing(each.role_id for each in below)
        yield Finding(
            place_of_authority(post),
            f"role {quote(post.role_id)} has authority level {level}, which is not above that of its "
            f"subordinate{'s' if below[1:] else ''} {names}",
            _remedy(post, below),
            f"role:{post.role_id}",
            tuple(_authority_of(each) for each in below[:_SHOWN]),
        )


def _authority_of(post: RolePost) -> Related:
    level = post.profile.authority_level
    return Related(place_of_authority(post), f"{quote(post.role_id)} has authority level {level}")


def _remedy(superior: RolePost, below: tuple[RolePost, ...]) -> str:
    """The level of the role's type where that would do."""
    if all(authority_of_type(superior) > each.profile.authority_level for each in below):
        wrong = superior
    elif len(below) == 1 and authority_of_type(below[0]) < superior.profile.authority_level:
        wrong = below[0]
    else:
        return "raise the one or lower the others, or give the subordinates another superior"
    level = authority_of_type(wrong)
    return f"{quote(wrong.role_id)} is {TYPE_IN_WORDS[level]}, which has authority level {level}"


RULE = Rule("ORG207", "authority-not-above", Severity.ERROR, Scope.ORGANIZATION, check)
