"""A document uses a deprecated field.

## What it checks

No document writes a field that the format keeps only so that older files load.

## Why it matters

Nothing reads a deprecated field, or a later version removes it. Its value has no effect, but readers believe that it does.

## Example

```yaml
defaults:
  salute_interval_turns: 5
```

## Instead

```yaml
overrides:
  co:
    doctrine: {salute_interval_turns: 5}
```

## Known limits

None.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import DEPRECATED, EACH
from orgkernel.loading.marks import Marks, RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Deprecated fields that a document writes."""
    for pattern, advice in DEPRECATED.get(document.kind, ()):
        for route in _find_written(document.marks, pattern):
            where = ".".join(map(str, route))
            yield Finding(
                document.place(*route, key=True),
                f"field {quote(where)} is deprecated",
                advice,
                f"field:{where}",
            )


def _find_written(marks: Marks, pattern: tuple[str | None, ...]) -> Iterator[tuple[RouteStep, ...]]:
    """The routes of a document that match a pattern."""
    if not pattern:
        yield ()
        return
    step, *rest = pattern
    children = () if isinstance(marks, int) else marks[1]
    if isinstance(children, dict):
        below = [(key, child) for key, (_, child) in children.items() if step in (EACH, key)]
    else:
        below = list(enumerate(children)) if step is EACH else []
    for key, child in below:
        yield from ((key, *route) for route in _find_written(child, tuple(rest)))


RULE = Rule("ORG706", "deprecated-field", Severity.WARNING, RuleTarget.DOCUMENT, check)
