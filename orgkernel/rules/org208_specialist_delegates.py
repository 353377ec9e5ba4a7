"""A specialist hands work to others.

## What it checks

A role of type `specialist` has no subordinates, may dispatch nobody (`dispatch.may_to` of its own, `dispatch.may_from`
of others) and does not set `chain_of_command.can_delegate`.

## Why it matters

A specialist does the work itself. One that passes it on hides from its superior who does what, and nobody has divided
the task.

## Example

```yaml
role_type: specialist
chain_of_command:
  can_delegate: true
```

## Instead

```yaml
role_type: specialist
chain_of_command:
  can_delegate: false
```

## Known limits

A specialist in a circle is reported by ORG203 and not as the superior of its superior.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Everything by which a specialist delegates, in one finding."""
    dispatching = {source for source, _ in view.ends_of(EdgeKind.MAY_DISPATCH)}
    for post in view.posts:
        if post.profile.role_type != "specialist":
            continue
        ways: list[tuple[Place, str]] = []
        if post.profile.can_delegate:
            ways.append((post.place("chain_of_command", "can_delegate"), "may delegate"))
        if post.role_id in view.subordinates:
            ways += _commands(view, post)
        if post.role_id in dispatching:
            dispatched = view.edges_from(EdgeKind.MAY_DISPATCH, post.role_id)
            ways.append((dispatched[0].place, f"may dispatch {listing(edge.target for edge in dispatched)}"))
        if ways:
            (place, text), *others = ways
            yield Finding(
                place,
                f"role {quote(post.role_id)} is a specialist and {text}",
                "make it an executive, or let its superior hand out the work",
                f"role:{post.role_id}",
                tuple(Related(each, f"it {way}") for each, way in others),
            )


def _commands(view: OrgView, post: RolePost) -> Iterator[tuple[Place, str]]:
    below = [edge for edge in view.subordinates_of(post.role_id) if edge.source not in view.circling]
    if below:
        yield below[0].place, f"commands {listing(edge.source for edge in below)}"


RULE = Rule("ORG208", "specialist-delegates", Severity.ERROR, Scope.ORGANIZATION, check)
