"""Both the organization and its governance document declare layers, edges or a limit.

## What it checks

`layers`, `dispatch_edges` and each of the limits `max_spawn_depth`, `max_children` and `max_concurrent` are written in one
place: in the organization, or in its governance document.

## Why it matters

The governance document takes precedence. The values in the organization have no effect, although they look as if they
did.

## Example

```yaml
limits: {max_children: 2}
```

## Instead

```yaml
limits: {max_children: 9}
```

## Known limits

Other limits of the organization, such as `span_of_control`, are not replaced.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import LIMITS
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find fields that the governance document replaces."""
    records = view.records
    document = records.document
    routes = [("layers",), ("dispatch_edges",), *(("limits", name) for name in LIMITS)]
    for route in routes:
        section, *rest = route
        if document.has(*route) and records.get_declaring_document(section, *rest) is not document:
            field_name = quote(".".join(route))
            yield Finding(
                document.place(*route, key=True),
                f"organization {quote(view.org_id)} declares {field_name}, which its governance document replaces",
                "keep it in the governance document only",
                f"organization:{view.org_id}",
            )


RULE = Rule("ORG640", "handoff-rules-declared-twice", Severity.ERROR, RuleTarget.ORGANIZATION, check)
