"""Roles of a source have no superior, because no file names one.

## What it checks

Every role of an organization's `sources` has a superior: in the source, in the hierarchy, or in an overlay. A role
that has none reports to `user`.

## Why it matters

orgkernel does not guess a superior, so such a role reports directly to the user. A role that is added to a source
later stays outside the chain of command unnoticed.

## Example

```yaml
_schema: orgkernel:organization
org_id: shop
sources:
  - {format: claude-code, path: agents}
hierarchy: {}
```

## Instead

```yaml
_schema: orgkernel:organization
org_id: shop
sources:
  - {format: claude-code, path: agents}
hierarchy:
  lead: {subordinates: [code-reviewer, test-runner]}
```

## Known limits

The finding is only informational, because a team without a superior is valid. A role is treated as placed if the
hierarchy of the organization names it, even at the top, or if its overlay sets `reports_to: user`.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Report all roles without a superior together."""
    organization, document = view.records.organization, view.records.document
    if not organization.sources or len(view.roles) < 2:
        return
    own = document.parts[0]
    commanded = {each for entry in organization.hierarchy.values() for each in entry.subordinates}
    unplaced = [
        post.role_id
        for post in view.posts
        if post.document.format
        and post.role_id not in commanded
        and not own.has("hierarchy", post.role_id)
        and not post.document.has("chain_of_command", "reports_to")
    ]
    if not unplaced:
        return
    more = f" and {len(unplaced) - _SHOWN} more" if len(unplaced) > _SHOWN else ""
    yield Finding(
        document.place("sources", key=True),
        f"the sources have {len(unplaced)} role{'s' * (len(unplaced) > 1)} without a superior, "
        f"so `user` commands {'them' if unplaced[1:] else 'it'}: "
        f"{listing(unplaced[:_SHOWN])}{more}",
        "name each in the hierarchy, as a key or among `subordinates`",
        f"organization:{view.org_id}",
    )


RULE = Rule("ORG786", "unplaced-roles", Severity.INFO, RuleTarget.ORGANIZATION, check)
