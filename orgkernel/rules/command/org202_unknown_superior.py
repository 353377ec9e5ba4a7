"""A role reports to a role that its organization does not have.

## What it checks

The superior of every role is a role of the organization, `user`, or an id that the organization lists under `external`.
It comes from `chain_of_command.reports_to` or from the hierarchy.

## Why it matters

The role gets no orders, and its escalations reach no one. When it fails, no superior can take over its work.

## Example

```yaml
chain_of_command:
  reports_to: enginering_xo
```

## Instead

```yaml
chain_of_command:
  reports_to: engineering_xo
```

## Known limits

A superior is not reported if it appears to be declared in a file that could not be read. ORG205 reports a superior
that only another organization declares. If several organizations share a profile, the rule ignores the profile's
superior if the hierarchy gives the role one. ORG201 reports a superior that the hierarchy misspells.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find superiors that are not declared."""
    for post in view.posts:
        superior = post.profile.chain_of_command.reports_to
        if superior is None or superior in view.external or view.does_name_role(superior):
            continue
        if superior in view.records.elsewhere or _is_only_a_default(view, post, superior):
            continue
        yield Finding(
            post.place("chain_of_command", "reports_to"),
            f"role {quote(post.role_id)} reports to {quote(superior)}, which is not declared",
            did_you_mean(superior, view.roles),
            f"role:{post.role_id}",
        )


def _is_only_a_default(view: OrgView, post: RolePost, superior: str) -> bool:
    """Whether the profile's superior is only a default: the profile is shared, or ORG201 reports the hierarchy's
    spelling.
    """
    edge = view.get_superior_edge(post.role_id)
    if edge is None or edge.attribute != "hierarchy":
        return False
    placed_under = edge.target
    return post.shared_profile or (
        placed_under in view.records.without_profile and suggest(superior, [placed_under]) is not None
    )


RULE = Rule("ORG202", "unknown-superior", Severity.ERROR, RuleTarget.ORGANIZATION, check)
