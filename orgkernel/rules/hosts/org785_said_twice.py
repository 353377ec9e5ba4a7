"""An overlay, or the organization, sets a value that a source already sets.

## What it checks

If an organization has `sources`, each value is set in one place. The file of an agent sets its name, its description
and its tools. An overlay sets only values that such a file cannot set.

## Why it matters

Only one of the two values can be used. An edit of the unused value has no effect. If the two values differ, readers
disagree on which one applies.

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

Equal values are also reported, because they will differ after the next edit. All fields about tools are treated as
one value, and a Claude Code agent without `tools` sets "every tool". Until this is corrected, the value of the source
is used, and the organization is not served.

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
    """Find values that are set in two places."""
    for post in view.posts:
        # Files of the same source complete each other. Only a document of the organization is an overlay.
        sources = [each for each in post.document.parts if each.format]
        overlay = next((each for each in post.document.parts if not each.format), None)
        for role, route, first in (
            (source, *repeated)
            for source in sources
            if overlay is not None
            for repeated in find_repeated_values(source, overlay)
        ):
            assert overlay is not None
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
