"""An organization has more than one root.

## What it checks

At most one role of an organization has subordinates and no superior.

## Why it matters

An organization has one mission and one role in charge of it. Two chains of command have no common superior, so no
role can settle which of them takes a task, and an escalation stops at the top of its own chain.

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

The rule assumes that the root with the highest authority is the intended one; among equals, the first one. A role
whose superior is not declared (ORG202, ORG205) is not a root. A role without subordinates is an orphan (ORG210), not
a root. Nothing is reported while a role has no profile, because its name may be a misspelled root.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """A second role at the top, with roles below it."""
    # A folder in another format can contain several teams.
    if view.records.without_profile or view.records.document.format:
        return
    posts = view.records.posts
    # Nor do several teams have to be one where the organization only names them as its sources.
    own = view.records.document.parts[0]
    roots = [
        role
        for role in view.list_roots()
        if view.list_subordinates(role) and (not posts[role].document.format or own.has("hierarchy", role))
    ]
    if len(roots) < 2:
        return
    roots.sort(key=lambda role: -posts[role].profile.authority_level)
    leader, *others = roots
    yield Finding(
        view.get_place(others[0]),
        f"organization {quote(view.org_id)} has {len(roots)} roots: {listing(roots)}",
        f"list {listing(others)} among the subordinates of the role {'they report' if others[1:] else 'it reports'} to",
        f"organization:{view.org_id}",
        tuple(
            Related(view.get_place(role), f"{quote(role)} also has subordinates and no superior")
            for role in (leader, *others[1:])[:_SHOWN]
        ),
    )


RULE = Rule("ORG204", "several-roots", Severity.ERROR, RuleTarget.ORGANIZATION, check)
