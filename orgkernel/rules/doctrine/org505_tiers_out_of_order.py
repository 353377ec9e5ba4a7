"""A higher PACE tier trips before a lower one.

## What it checks

If two tiers compare the same name with a limit, the higher tier has the higher limit. For each tier there is a
case in which its trigger is true and that of every higher tier is false. The order is alternate, contingent, emergency. A PACE tier is one
of the fallback levels of a role: primary, alternate, contingent, emergency.

## Why it matters

The highest tier that trips takes precedence. A lower tier that trips later, or never alone, is skipped: the role
escalates or aborts before it has tried to recover by itself.

## Example

```yaml
  alternate:
    trigger: consecutive_tool_failures >= 5
  contingent:
    trigger: consecutive_tool_failures >= 3
```

## Instead

```yaml
  alternate:
    trigger: consecutive_tool_failures >= 3
  contingent:
    trigger: consecutive_tool_failures >= 5
```

## Known limits

Limits are compared only if one comparison of a name with a number makes the whole trigger true. `max` stands for the
role's own limit. The same limit in two tiers is reported only if the lower tier can then never be entered.

## Since

0.1
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.tier_triggers import REMEMBERED, find_constant, list_tier_triggers, read_trigger
from orgkernel.rules.doctrine.trigger_ranges import find_thresholds, is_implied
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.triggers import TriggerTree, find_names, render_number


class _Disorder(NamedTuple):
    """Two triggers by position, lowest tier first: the one to fix, and the one it is compared with."""

    at: int
    other: int
    name: str = ""
    """The name that both compare. Empty if the tier `at` can never be entered because of `other`."""
    here: float = 0
    there: float = 0


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Tiers that trip before a lower one, and tiers that are never entered because of a higher one."""
    for post in posts:
        triggers = list_tier_triggers(post)
        limit = post.profile.doctrine.max_turns_without_progress
        for disorder in _find_disorder(tuple(trigger.text for trigger in triggers), limit):
            trigger, other = triggers[disorder.at], triggers[disorder.other]
            if disorder.name:
                message = (
                    f"{trigger.name_in(post)} trips at {quote(disorder.name)} {_render_number(disorder.here)}, "
                    f"before the {other.tier} trigger at {_render_number(disorder.there)}"
                )
                help = f"give the {trigger.tier} tier the higher limit"
            else:
                message = (
                    f"{trigger.name_in(post)} is true only when the {other.tier} trigger is, "
                    "so the tier is never entered"
                )
                help = f"give the {other.tier} tier a higher limit"
            yield Finding(
                trigger.place(post), message, help, f"role:{post.role_id}",
                (Related(other.place(post), f"the {other.tier} trigger"),),
            )  # fmt: skip


def _find_disorder(texts: tuple[str, ...], limit: int) -> Iterator[_Disorder]:
    read = {
        number: reading for number, text in enumerate(texts) if (reading := _read(text, limit)) is not None
    }
    overtaken = set()
    for higher, theirs in read.items():
        for name, here in theirs.limits.items():
            later = [lower for lower in read if lower < higher and read[lower].limits.get(name, here) > here]
            if later:
                overtaken.update(later)
                yield _Disorder(higher, later[-1], name, here, read[later[-1]].limits[name])
    for lower in read:
        if lower not in overtaken:
            later = [higher for higher in read if higher > lower]
            above = (higher for higher in later if _proves_implication(texts[lower], texts[higher], limit))
            yield from (_Disorder(lower, higher) for higher in islice(above, 1))


class _Reading(NamedTuple):
    """The parts of a trigger that are compared."""

    tree: TriggerTree
    limits: Mapping[str, float]
    """The lowest value of a name that makes it true, for names that do so by themselves."""
    is_limits: bool
    """Whether the trigger consists only of such limits and flags, joined by OR."""
    names: frozenset[str]


@lru_cache(maxsize=REMEMBERED)
def _read(text: str, limit: int) -> _Reading | None:
    tree = read_trigger(text).tree
    # ORG504 reports a trigger with a constant value.
    if tree is None or find_constant(text, limit) is not None:
        return None
    limits = find_thresholds(tree, limit)
    parts = tree[1:] if tree[0] == "or" else [tree]
    flags = [part for part in parts if part[0] == "flag"]
    return _Reading(tree, limits, len(parts) == len(limits) + len(flags), frozenset(find_names(tree)))


@lru_cache(maxsize=REMEMBERED)
def _proves_implication(lower: str, higher: str, limit: int) -> bool:
    """Whether it can be proven that one trigger is never true without the other."""
    one, other = _read(lower, limit), _read(higher, limit)
    if one is None or other is None or one.names.isdisjoint(other.names):
        return False  # neither is constant, so nothing of the one follows from the other
    if other.is_limits and any(other.limits.get(name, math.inf) > here for name, here in one.limits.items()):
        return False  # at that value, the one is true and the other is not yet
    return is_implied(other.tree, one.tree, limit)


def _render_number(value: float) -> str:
    return render_number(int(value) if float(value).is_integer() else value)


RULE = Rule("ORG505", "tiers-out-of-order", Severity.WARNING, RuleTarget.PROFILE, check)
