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
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import Marks, RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleScope

if TYPE_CHECKING:
    from pydantic import BaseModel

_EACH = None
"""Step of a pattern that stands for every item of a list or a mapping."""
_Pattern = tuple[str | None, ...]


def check(document: SourceDocument) -> Iterator[Finding]:
    """Deprecated fields that a document writes."""
    for pattern, advice in _deprecated_in(document.kind):
        for route in _written(document.marks, pattern):
            where = ".".join(map(str, route))
            yield Finding(
                document.place(*route, key=True),
                f"field {quote(where)} is deprecated",
                advice,
                f"field:{where}",
            )


@cache
def _deprecated_in(kind: str) -> tuple[tuple[_Pattern, str], ...]:
    """The deprecated fields of a kind; models are imported only when a document is checked."""
    from orgkernel.model.kinds import KINDS

    return _deprecated(KINDS[kind])


def _deprecated(model: type[BaseModel]) -> tuple[tuple[_Pattern, str], ...]:
    """The places of the deprecated fields below a model, and what to write instead."""
    found: list[tuple[_Pattern, str]] = []
    for name, field in model.model_fields.items():
        written = field.alias or name
        if field.deprecated:
            found.append(((written,), str(field.deprecation_message or "")))
        for steps, part in _models_in(field.annotation):
            found += [((written, *steps, *pattern), advice) for pattern, advice in _deprecated(part)]
    return tuple(found)


def _models_in(annotation: Any) -> Iterator[tuple[_Pattern, type[BaseModel]]]:
    if isinstance(annotation, type):
        if hasattr(annotation, "model_fields"):
            yield (), annotation
        return
    steps: _Pattern = (_EACH,) if getattr(annotation, "__origin__", None) in (tuple, list, dict) else ()
    for part in get_args(annotation):
        for below, model in _models_in(part):
            yield (*steps, *below), model


def _written(marks: Marks, pattern: _Pattern) -> Iterator[tuple[RouteStep, ...]]:
    """The routes of a document that match a pattern."""
    if not pattern:
        yield ()
        return
    step, *rest = pattern
    children = () if isinstance(marks, int) else marks[1]
    if isinstance(children, dict):
        below = [(key, child) for key, (_, child) in children.items() if step in (_EACH, key)]
    else:
        below = list(enumerate(children)) if step is _EACH else []
    for key, child in below:
        yield from ((key, *route) for route in _written(child, tuple(rest)))


RULE = Rule("ORG706", "deprecated-field", Severity.WARNING, RuleScope.DOCUMENT, check)
