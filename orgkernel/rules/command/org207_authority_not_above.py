"""A superior has no more authority than a direct subordinate.

## What it checks

Every superior has a higher authority level than each of its direct subordinates. The level is the written one, or else
the one of the role type.

## Why it matters

Orders go down and reports go up because the superior has more authority. Between equals neither has to obey, and no
one can settle a conflict.

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
subordinates. ORG208 reports a specialist that commands, and ORG203 reports roles in a cycle.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.command.role_types import (
    TYPE_IN_WORDS,
    find_not_outranked,
    get_authority_of_type,
    iterate_superior_posts,
    place_of_authority,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """A superior with subordinates it does not outrank."""
    if view.records.document.format:  # files in other formats name superiors, but no levels
        return
    for post in iterate_superior_posts(view):
        below = find_not_outranked(view, post)
        if not below:
            continue
        level, names = post.profile.authority_level, listing(each.role_id for each in below)
        yield Finding(
            place_of_authority(post),
            f"role {quote(post.role_id)} has authority level {level}, which is not above the level of its "
            f"subordinate{'s' if below[1:] else ''} {names}",
            _suggest_level(post, below),
            f"role:{post.role_id}",
            tuple(_relate_authority(each) for each in below[:_SHOWN]),
        )


def _relate_authority(post: RolePost) -> Related:
    level = post.profile.authority_level
    return Related(place_of_authority(post), f"{quote(post.role_id)} has authority level {level}")


def _suggest_level(superior: RolePost, below: tuple[RolePost, ...]) -> str:
    """The level of the role's type, if that level is enough."""
    if all(get_authority_of_type(superior) > each.profile.authority_level for each in below):
        wrong = superior
    elif len(below) == 1 and get_authority_of_type(below[0]) < superior.profile.authority_level:
        wrong = below[0]
    else:
        return "raise the superior, lower the subordinates, or give them another superior"
    level = get_authority_of_type(wrong)
    return f"give {quote(wrong.role_id)} authority level {level}, the level of {TYPE_IN_WORDS[level]}"


RULE = Rule("ORG207", "authority-not-above", Severity.ERROR, RuleTarget.ORGANIZATION, check)
