"""A PACE trigger, or a part of it, is always true or never true.

## What it checks

Every `trigger` can be both true and false within the ranges of its names: `context_fill` is between 0 and 1, counts
are whole numbers of at least 0, and `max` is the role's own `max_turns_without_progress`. If the whole trigger can be
both, each part joined by AND or OR is checked in the same way. A PACE tier is one of the fallback levels of a role:
primary, alternate, contingent, emergency.

## Why it matters

If a trigger can never be true, its tier is never entered. If it is always true, its tier is never left. The usual cause
is a percentage in place of a fraction.

## Example

```yaml
  contingent:
    trigger: context_fill > 85
```

## Instead

```yaml
  contingent:
    trigger: context_fill > 0.85
```

## Known limits

Only what can be proven is reported. The proof does not use relations between names (`consecutive_tool_failures` never
exceeds `total_tool_failures`) or comparisons with names on both sides.

## Since

0.1
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.tier_triggers import REMEMBERED, find_constant, find_triggers, read_trigger
from orgkernel.rules.doctrine.trigger_ranges import Vacuous, find_vacuous, is_free
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.trigger_names import NAMES
from orgkernel.runtime.triggers import TriggerTree, find_names, render_trigger

_OUTCOME = {"never": "can never be true", "always": "is always true"}


class _Constant(NamedTuple):
    """A trigger, or a part of it, with a constant value: its offset in the text, the message and the help."""

    offset: int
    what: str
    help: str


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Triggers, or parts of them, that can never be true or are always true."""
    for post, trigger in find_triggers(posts):
        limit = post.profile.doctrine.max_turns_without_progress
        for constant in _find_constants(trigger.text, limit):
            yield Finding(
                trigger.place(post, constant.offset),
                f"{trigger.name_in(post)} {constant.what}",
                constant.help,
                f"role:{post.role_id}",
            )


@lru_cache(maxsize=REMEMBERED)
def _find_constants(text: str, limit: int) -> tuple[_Constant, ...]:
    tree = read_trigger(text).tree
    if tree is None or is_free(tree, limit):
        return ()
    whole = find_constant(text, limit)
    if whole is not None:
        # The blamed comparisons are listed names again, so they can be read again for the names in them.
        names = dict.fromkeys(use.name for blamed in whole.comparisons for use in read_trigger(blamed).uses)
        what = f"{_OUTCOME[whole.outcome]}, because of {listing(whole.comparisons)}"
        return (_Constant(0, what, _describe_bounds(names, limit)),)
    return tuple(
        _Constant(
            _find_offset(text, part),
            f"has a part that {_OUTCOME[vacuity.outcome]}: {quote(render_trigger(part))}",
            _describe_bounds(dict.fromkeys(find_names(part)), limit),
        )
        for part, vacuity in _find_constant_parts(tree, limit)
    )


def _find_constant_parts(tree: TriggerTree, limit: int) -> Iterator[tuple[TriggerTree, Vacuous]]:
    """The largest parts below AND, OR and NOT with a constant value."""
    if tree[0] not in ("or", "and", "not"):
        return
    for part in tree[1:]:
        vacuity = find_vacuous(part, limit)
        if vacuity is not None:
            yield part, vacuity
        else:
            yield from _find_constant_parts(part, limit)


def _find_offset(text: str, part: TriggerTree) -> int:
    """The offset of a part in the text; 0 if the part is written differently from how it is rendered."""
    words = r"\s*".join(map(re.escape, render_trigger(part).split()))
    match = re.search(rf"(?<![\w.]){words}(?![\w.])", text, re.IGNORECASE)
    return match.start() if match else 0


def _describe_bounds(names: dict[str, None], limit: int) -> str:
    """Help about the numbers among some names and their ranges."""
    bounds = []
    for name in names:
        entry = NAMES[name]
        if name == "max":
            bounds.append(f"{quote(name)} is {limit} for this role")
        elif entry.kind == "number":
            upper = "" if math.isinf(entry.upper) else f" and at most {entry.upper:g}"
            kind = "a whole number of" if entry.integer else ""
            bounds.append(f"{quote(name)} is {kind} at least {entry.lower:g}{upper}".replace("  ", " "))
    return f"choose another limit; {', '.join(bounds)}" if bounds else ""


RULE = Rule("ORG504", "trigger-cannot-fire", Severity.WARNING, RuleTarget.PROFILE, check)
