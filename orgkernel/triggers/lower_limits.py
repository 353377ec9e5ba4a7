"""Triggers that are nothing but flags and lower limits joined by OR, judged without parsing them.

    consecutive_tool_failures >= 5 OR context_fill > 0.85 OR turns_without_progress > max * 1.5

Nearly every trigger is one, each with numbers of its own, and a parse takes fifty times as long as this. A text that is
not certainly one is left to `parse_trigger` and `ranges` (law `lower_limits_agree_with_ranges`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from orgkernel.runtime.trigger_tree import MAX_NUMBER
from orgkernel.triggers.names import NAMES
from orgkernel.triggers.parse import MAX_LENGTH

_REMEMBERED = 4_096
_OR = " OR "
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PART = re.compile(rf" *([a-z_]+)(?: *(>=?) *(?:(max)(?: *\* *({_NUMBER}))?|({_NUMBER})))? *", re.ASCII)


@lru_cache(maxsize=_REMEMBERED)
def find_lower_limits(text: str, max_turns: int) -> Mapping[str, float] | None:
    """For each name a trigger reads, the lowest value that makes it true (1 for a flag); None if it is no such trigger.

    Each limit lies within the bounds of its name and each name is read once, so that the trigger, and each of its
    parts, can be both true and false. For fractions and times a strict limit counts as itself (`> 0.85` gives 0.85).
    """
    if len(text) > MAX_LENGTH:
        return None
    parts = text.split(_OR)
    limits: dict[str, float] = {}
    for part in parts:
        found = _read_part(part, max_turns)
        if found is None:
            return None
        limits[found[0]] = found[1]
    return limits if len(limits) == len(parts) else None


def may_overlap(lower: Mapping[str, float], higher: Mapping[str, float]) -> bool:
    """Whether the trigger of a higher tier may trip before that of a lower one, or whenever that one does."""
    if lower.keys().isdisjoint(higher):
        return False
    return all(name in higher and higher[name] <= limit for name, limit in lower.items()) or any(
        higher[name] < limit for name, limit in lower.items() if name in higher
    )


def are_in_order(texts: Sequence[str], max_turns: int) -> bool:
    """Whether the triggers of a role, lowest tier first, are certainly sound, each by itself and in this order."""
    known: list[Mapping[str, float]] = []
    for text in texts:
        limits = find_lower_limits(text, max_turns)
        if limits is None or any(may_overlap(lower, limits) for lower in known):
            return False
        known.append(limits)
    return True


@lru_cache(maxsize=_REMEMBERED)
def _read_part(part: str, max_turns: int) -> tuple[str, float] | None:
    match = _PART.fullmatch(part)
    entry = NAMES.get(match[1]) if match else None
    if match is None or entry is None:
        return None
    _, sign, turns, factor, number = match.groups()
    if sign is None:
        return (entry.name, 1) if entry.kind == "flag" else None
    if entry.kind == "flag" or entry.name == "max":
        return None
    value = max_turns * float(factor or 1) if turns else float(number)
    if float(factor or 0) >= MAX_NUMBER or value >= MAX_NUMBER:
        return None
    if not entry.lower < value < entry.upper:
        return None
    if entry.integer:
        value = math.ceil(value) if sign == ">=" else math.floor(value) + 1
    return entry.name, value
