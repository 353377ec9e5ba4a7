"""A role's chain of command does not reach a root of its organization.

## What it checks

Following superiors upward from any role ends at the top of the organization. It does not end in a cycle or at a role
without a profile.

## Why it matters

The mission never reaches these roles, and their reports never reach the role in charge, although their own entries look
right.

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

All roles below one cycle or one missing profile are reported together. ORG203 reports the roles of the cycle itself,
and ORG201 reports the missing profile. A role is treated as a top if its superior is not declared (ORG202) or if its
own profile could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Groups of roles below a cycle or below a role without a profile."""
    for cycle in view.command_cycles:
        first = cycle[0]
        yield from _find_roles_below(
            view,
            [edge.source for edge in cycle],
            f"in the cycle of {quote(first.source)}",
            "break the cycle",
            Related(first.place, f"{quote(first.source)} reports to {quote(first.target)}"),
        )
    for role_id, place in view.records.without_profile.items():
        if view.get_superior_edge(role_id) is None and not view.is_excused(role_id):
            text = f"{quote(role_id)} has no profile"
            yield from _find_roles_below(
                view, [role_id], f"at {quote(role_id)}, which has no profile",
                f"write the profile of {quote(role_id)}", Related(place, text),
            )  # fmt: skip


def _find_roles_below(
    view: OrgView, ends: list[str], where: str, mended: str, related: Related
) -> Iterator[Finding]:
    """The finding about the roles below `ends`, if there are any."""
    tops = _find_nearest_roles(view, ends)
    if not tops:
        return
    several = len(tops) > 1
    beneath = sum(map(view.is_role, view.find_below(edge.source for edge in tops))) - len(tops)
    which = f"role{'s' if several else ''} {listing(edge.source for edge in tops)}"
    if beneath:
        which += f" and {beneath} below {'them' if several else 'it'}"
    verb, chain, they = (
        ("do", "their", "they still belong") if several or beneath else ("does", "its", "it still belongs")
    )
    yield Finding(
        tops[0].place,
        f"{which} {verb} not reach a root: {chain} chain of command ends {where}",
        f"{mended}, then check whether {they} there",
        f"role:{tops[0].source}",
        (related,),
    )


def _find_nearest_roles(view: OrgView, ends: Iterable[str]) -> list[Edge]:
    """The edges from the nearest roles with a profile below `ends`. Roles of a cycle are omitted."""
    tops: list[Edge] = []
    pending = list(ends)
    for role_id in pending:
        for edge in view.list_subordinates(role_id):
            if edge.source in view.roles_in_cycles:
                continue
            if view.is_role(edge.source):
                tops.append(edge)
            else:
                pending.append(edge.source)
    return tops


RULE = Rule("ORG211", "unreachable-role", Severity.ERROR, RuleTarget.ORGANIZATION, check)
