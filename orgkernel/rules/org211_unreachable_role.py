"""A role is below no root of its organization.

## What it checks

Following the superiors upwards from any role ends at the top of the organization: not in a circle, and not at a role
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

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Groups of roles that hang on something that is not a top."""
    for circle in view.circles:
        first = circle[0]
        yield from _hanging(
            view,
            [edge.source for edge in circle],
            f"in the circle of {quote(first.source)}",
            "the circle is broken",
            Related(first.place, f"{quote(first.source)} reports to {quote(first.target)}"),
        )
    for role_id, place in view.records.without_profile.items():
        if view.command_of(role_id) is None and not view.is_excused(role_id):
            text = f"{quote(role_id)} has no profile"
            yield from _hanging(
                view, [role_id], f"at {quote(role_id)}, which has no profile",
                f"{quote(role_id)} has its profile", Related(place, text),
            )  # fmt: skip


def _hanging(view: OrgView, ends: list[str], where: str, mended: str, related: Related) -> Iterator[Finding]:
    """What there is to say about the roles beneath these, if there are any."""
    tops = _nearest_roles(view, ends)
    if not tops:
        return
    several = len(tops) > 1
    beneath = sum(map(view.is_role, view.below(edge.source for edge in tops))) - len(tops)
    which = f"role{'s' if several else ''} {listing(edge.source for edge in tops)}"
    if beneath:
        which += f" and {beneath} beneath {'them' if several else 'it'}"
    verb, chain, they = (
        ("are", "their", "they still belong") if several or beneath else ("is", "its", "it still belongs")
    )
    yield Finding(
        tops[0].place,
        f"{which} {verb} below no root: {chain} chain of command ends {where}",
        f"once {mended}, see whether {they} there",
        f"role:{tops[0].source}",
        (related,),
    )


def _nearest_roles(view: OrgView, ends: Iterable[str]) -> list[Edge]:
    """The edges from the roles with a profile that come first beneath these, those of a circle left out."""
    tops: list[Edge] = []
    pending = list(ends)
    for role_id in pending:
        for edge in view.subordinates_of(role_id):
            if edge.source in view.circling:
                continue
            if view.is_role(edge.source):
                tops.append(edge)
            else:
                pending.append(edge.source)
    return tops


RULE = Rule("ORG211", "unreachable-role", Severity.ERROR, Scope.ORGANIZATION, check)
