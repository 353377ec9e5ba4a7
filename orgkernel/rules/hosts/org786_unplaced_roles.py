"""Roles of a source have no superior, because nobody names one.

## What it checks

The roles of the `sources` of an organization that neither its hierarchy nor an overlay gives a superior, and whose source
does not name one. They report to `user`.

## Why it matters

Nothing is invented, so such a role answers to the user alone. A role that was added to a source later stands there
unnoticed, beside the chain of command.

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

It is only information: a team without a superior is a team. A role that the hierarchy of the organization names is placed,
also at the top, and so is one whose overlay says `reports_to: user`.

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
    """Those that nobody placed, together."""
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
