"""A specialist hands work to others.

## What it checks

A role of type `specialist` has no subordinates, does not set `chain_of_command.can_delegate`, and may not hand
work to any role: neither through its own `handoff.may_to` nor through another role's `handoff.may_from`.

## Why it matters

A specialist does the work itself. If it passes work on, its superior no longer knows who does what, and the task was
never planned for two roles.

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

ORG203 reports a specialist in a cycle; this rule does not count the roles of the cycle as its subordinates. Agents in
another format have no role type, so they are not checked.

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
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """All the ways in which a specialist delegates, in one finding."""
    senders = {source for source, _ in view.list_ends_of_kind(EdgeKind.MAY_HAND_WORK_TO)}
    for post in view.posts:
        is_assumed = post.document.format and not post.document.has("role_type")
        if post.profile.role_type != "specialist" or is_assumed:
            continue
        ways: list[tuple[Place, str]] = []
        if post.profile.can_delegate:
            ways.append((post.place("chain_of_command", "can_delegate"), "may delegate"))
        if post.role_id in view.subordinates:
            ways += _iterate_command_rights(view, post)
        if post.role_id in senders:
            handoffs = view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, post.role_id)
            ways.append((handoffs[0].place, f"may hand work to {listing(edge.target for edge in handoffs)}"))
        if ways:
            (place, text), *others = ways
            yield Finding(
                place,
                f"role {quote(post.role_id)} is a specialist and {text}",
                "make it an executive, or let its superior assign the work",
                f"role:{post.role_id}",
                tuple(Related(each, f"it {way}") for each, way in others),
            )


def _iterate_command_rights(view: OrgView, post: RolePost) -> Iterator[tuple[Place, str]]:
    below = [edge for edge in view.list_subordinates(post.role_id) if edge.source not in view.roles_in_cycles]
    if below:
        yield below[0].place, f"commands {listing(edge.source for edge in below)}"


RULE = Rule("ORG208", "specialist-delegates", Severity.ERROR, RuleTarget.ORGANIZATION, check)
