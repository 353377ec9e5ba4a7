"""A role is below no root of its organisation.

## What it checks

Following the superiors upwards from any role ends at the top of the organisation: not in a circle, and not at a role
that has no profile.

## Why it matters

The mission never reaches these roles and what they report never reaches who answers for it, although their own place
looks right.

## Example

```yaml
planning:
  subordinates: [review]
review:
  subordinates: [planning, tester]
```

## Instead

```yaml
planning:
  subordinates: [review]
review:
  subordinates: [tester]
```

## Known limits

All roles that hang on one circle or one missing profile are reported at once. The roles of the circle itself are
reported by ORG203, the missing profile by ORG201. A role whose superior is not declared (ORG202) counts as the top of
those below it, and so does one whose profile could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Groups of roles that hang on something that is not a top."""
    missing = view.records.without_profile
    circle_of = {edge.source: circle for circle in view.circles for edge in circle}
    if not missing and not circle_of:
        return
    hanging: dict[str, list[str]] = defaultdict(list)
    for role_id in view.roles:
        superior = view.superior_of(role_id)
        if role_id in circle_of or (superior not in circle_of and superior not in missing):
            continue
        end = view.chain_above(role_id)[-1].target
        if end in circle_of:
            hanging[circle_of[end][0].source].append(role_id)
        elif end in missing and not view.is_excused(end):
            hanging[end].append(role_id)
    for end, tops in hanging.items():
        is_circle = end in circle_of
        first = view.chain_above(tops[0])
        if is_circle:
            entry = next(edge.target for edge in first if edge.target in circle_of)
            at, why = f"in a circle at {quote(entry)}", "the circle is broken"
        else:
            at, why = f"at {quote(end)}, which has no profile", f"{quote(end)} has its profile"
        ...


RULE = Rule("ORG211", "unreachable-role", Severity.ERROR, Scope.ORGANIZATION, check)
