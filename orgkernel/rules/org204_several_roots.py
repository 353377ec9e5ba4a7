"""An organization is led by more than one role.

## What it checks

At most one role has subordinates and no superior in the organization.

## Why it matters

An organization has one mission and one role that answers for it. What lies between two chains of command belongs to
nobody: no common superior can settle who takes a task, and an escalation stops half-way.

## Example

```yaml
hierarchy:
  co:
    subordinates: [planner]
  engineering_xo:
    subordinates: [codegen]
```

## Instead

```yaml
hierarchy:
  co:
    subordinates: [planner, engineering_xo]
  engineering_xo:
    subordinates: [codegen]
```

## Known limits

The root with the highest authority, and of several the first, is taken for the one that is meant. A role whose superior
is not declared (ORG202, ORG205) is not a root, and a role that commands nobody is no root but an orphan (ORG210).
Nothing is said while a role has no profile: its name may be a misspelling of a root's.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, Scope

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """A second role at the top, with roles beneath it."""
    if view.records.without_profile:
        return
    posts = view.records.posts
    roots = [role for role in view.roots() if view.subordinates_of(role)]
    if len(roots) < 2:
        return
    roots.sort(key=lambda role: -posts[role].profile.authority_level)
    leader, *others = roots
    yield Finding(
        view.place_of(others[0]),
        f"organization {quote(view.org_id)} has {len(roots)} roots: {listing(roots)}",
        f"list {listing(others)} among the subordinates of the role {'they report' if others[1:] else 'it reports'} to",
        f"organization:{view.org_id}",
        tuple(
            Related(view.place_of(role), f"{quote(role)} has subordinates and no superior, too")
            for role in (leader, *others[1:])[:_SHOWN]
        ),
    )


RULE = Rule("ORG204", "several-roots", Severity.ERROR, Scope.ORGANIZATION, check)
