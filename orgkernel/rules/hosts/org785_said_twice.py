"""An overlay, or the organization, says what a source says.

## What it checks

Where an organization has `sources`, each value has one place. What the file of an agent says – its name, its description,
its tools – is said there. An overlay says what such a file cannot say.

## Why it matters

Of two values, only one can count. Somebody edits the other one, and nothing changes, or the two differ and each reader
believes another one.

## Example

The file of the agent lists its tools:

```yaml
_schema: orgkernel:role_profile
role_id: code-reviewer
overlay: true
capabilities:
  bst_domains: [review]
  tools: [{tool: Read}]
```

## Instead

```yaml
_schema: orgkernel:role_profile
role_id: code-reviewer
overlay: true
capabilities:
  bst_domains: [review]
```

## Known limits

Equal values are reported as well: they differ after the next edit. All fields about tools are one fact, and leaving `tools`
out in the file of an agent of Claude Code says "every tool". Until it is corrected, the value of the source counts, and the
organization does not answer.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.overlays import find_repeated_values
from orgkernel.loading.marks import format_route
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Values with two places."""
    for post in view.posts:
        parts = post.document.parts
        if len(parts) < 2:
            continue
        role, overlay = parts
        for route, first in find_repeated_values(role, overlay):
            yield Finding(
                overlay.place(*route, key=True),
                f"the overlay of role {quote(post.role_id)} sets {quote(format_route(route))}, which its source already sets",
                f"remove it here, or change it in {quote(role.name)}",
                f"role:{post.role_id}",
                (Related(role.place(*first), "the source sets it here"),),
            )
    own, *others = view.records.document.parts
    for role_id in view.records.organization.hierarchy if others else ():
        route = ("hierarchy", role_id, "subordinates")
        source_document = next((each for each in others if each.has(*route)), None)
        if own.has(*route) and source_document is not None:
            yield Finding(
                own.place(*route, key=True),
                f"the hierarchy sets the subordinates of role {quote(role_id)}, which its source already sets",
                f"remove it here, or change it in {quote(source_document.name)}",
                f"role:{role_id}",
                (Related(source_document.place(*route), "the source sets it here"),),
            )


RULE = Rule("ORG785", "said-twice", Severity.ERROR, RuleTarget.ORGANIZATION, check)
