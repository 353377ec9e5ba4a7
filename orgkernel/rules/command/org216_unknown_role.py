"""Something refers to a role that the organization does not have.

## What it checks

The roles named under `communication_channels`, `domain_routing`, `separations`, `overrides`, and a role's `handoff` and
`deputy` are roles of the organization. Channels and `handoff` may also name `user` and ids declared external.

## Why it matters

A reference to an unknown role has no effect: two roles cannot speak with each other, a preference is ignored, an override
changes nothing. No other rule reports it.

## Example

```yaml
communication_channels:
  lateral:
    allowed_pairs:
      - [codgen, bugfix]
```

## Instead

```yaml
communication_channels:
  lateral:
    allowed_pairs:
      - [codegen, bugfix]
```

## Known limits

Superiors, subordinates and escalations have rules of their own, and ORG201 reports a role without a profile. Two cases
are not reported: a role that appears to be declared in a file that could not be read, and a role of another organization
that shares the profile and that the profile names.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


class _Reference(NamedTuple):
    role_id: str
    place: Place
    text: str
    subject: str


def check(view: OrgView) -> Iterator[Finding]:
    """References to roles that the organization does not have."""
    for role_id, place, text, subject in (
        *_iterate_organization_references(view),
        *_iterate_profile_references(view),
    ):
        others = view.records.elsewhere.get(role_id, ())
        if others:
            of = f"organization{'s' if others[1:] else ''} {listing(others)}"
            what, help = f"which is a role of {of}, not of {quote(view.org_id)}", ""
        else:
            what, help = "which is not declared", did_you_mean(role_id, view.roles)
        yield Finding(place, f"{text} {quote(role_id)}, {what}", help, subject)


def _iterate_organization_references(view: OrgView) -> Iterator[_Reference]:
    organization, document, subject = (
        view.records.organization,
        view.records.document,
        f"organization:{view.org_id}",
    )
    for channel_id, channel in organization.communication_channels.items():
        for number, pair in enumerate(channel.allowed_pairs):
            for side, role_id in enumerate(pair):
                if not (view.does_name_role(role_id) or role_id in view.external):
                    place = document.place(
                        "communication_channels", channel_id, "allowed_pairs", number, side
                    )
                    yield _Reference(role_id, place, f"channel {quote(channel_id)} names role", subject)
    for domain_id, role_ids in organization.domain_routing.items():
        for number, role_id in enumerate(role_ids):
            if not view.does_name_role(role_id):
                place = document.place("domain_routing", domain_id, number)
                text = f"`domain_routing` of {quote(domain_id)} names role"
                yield _Reference(role_id, place, text, f"domain:{domain_id}")
    for name, separation in organization.separations.items():
        for number, role_id in enumerate(separation.roles):
            if not view.does_name_role(role_id):
                place = document.place("separations", name, "roles", number)
                yield _Reference(role_id, place, f"separation {quote(name)} names role", subject)
    for role_id in organization.overrides:
        if not view.does_name_role(role_id):
            yield _Reference(
                role_id, document.place("overrides", role_id, key=True), "`overrides` names role", subject
            )


def _iterate_profile_references(view: OrgView) -> Iterator[_Reference]:
    for post in view.records.posts.values():
        deputy = post.profile.deputy
        is_of_a_sharer = post.shared_profile and deputy in view.records.elsewhere
        if deputy is not None and not (view.does_name_role(deputy) or is_of_a_sharer):
            text = f"the deputy of role {quote(post.role_id)} is role"
            yield _Reference(deputy, post.place("deputy"), text, f"role:{post.role_id}")
        for field, verb in (("may_to", "may hand work to"), ("may_from", "may get work from")):
            for number, role_id in enumerate(getattr(post.profile.handoff, field)):
                is_of_a_sharer = post.shared_profile and role_id in view.records.elsewhere
                if not (view.does_name_role(role_id) or role_id in view.external or is_of_a_sharer):
                    text = f"role {quote(post.role_id)} {verb}"
                    yield _Reference(
                        role_id, post.place("handoff", field, number), text, f"role:{post.role_id}"
                    )


RULE = Rule("ORG216", "unknown-role", Severity.ERROR, RuleTarget.ORGANIZATION, check)
