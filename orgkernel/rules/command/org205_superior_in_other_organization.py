"""A role reports to a role of another organization.

## What it checks

The superior that `chain_of_command.reports_to` names is a role of the same organization, not only of another one.

## Why it matters

One organization is active at a time. A superior in another organization can neither give orders nor take an escalation.

## Example

```yaml
role_id: driver
chain_of_command:
  reports_to: captain
```

## Instead

```yaml
role_id: driver
chain_of_command:
  reports_to: dispatcher
```

## Known limits

The rule knows only the organizations that were read. ORG202 reports a superior that none of them includes. If several
organizations share a profile, the rule ignores the profile's superior if the hierarchy gives the role one.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.command.role_types import is_placed
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """A superior that only other organizations include."""
    for post in view.posts:
        superior = post.profile.chain_of_command.reports_to
        if superior is None or superior in view.external or view.does_name_role(superior):
            continue
        others = view.records.elsewhere.get(superior)
        if not others or (post.shared_profile and is_placed(view, post.role_id)):
            continue
        of = f"organization{'s' if others[1:] else ''} {listing(others)}"
        yield Finding(
            post.place("chain_of_command", "reports_to"),
            f"role {quote(post.role_id)} reports to {quote(superior)}, "
            f"which is a role of {of}, not of {quote(view.org_id)}",
            f"name a superior in {quote(view.org_id)}, or list {quote(superior)} under its `external`",
            f"role:{post.role_id}",
        )


RULE = Rule("ORG205", "superior-in-other-organization", Severity.ERROR, RuleTarget.ORGANIZATION, check)
