"""Who is equipped with a tool at which level, as `equipped_with` edges say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import lt
from typing import NamedTuple

from orgkernel.records.levels import LEVELS, ToolLevel


class Equipped(NamedTuple):
    """Who is equipped with a tool, as columns: of many roles at once."""

    places: list[int]
    """Positions in the hierarchy, lowest first."""
    levels: bytes
    """For each of them the step of the highest level any of its entries gives; 0 where that is none."""


def order_equipped(order: Mapping[str, int], roles: Sequence[str], attributes: Sequence[str]) -> Equipped:
    """The roles that have a place, in its order; `attributes` says what each entry gives."""
    if all(map(order.__contains__, roles)):
        places = list(map(order.__getitem__, roles))
        if all(map(lt, places, islice(places, 1, None))):
            # As nearly always: each once, in the order of the hierarchy.
            return Equipped(places, bytes(map(_step_of, attributes)))
    steps = _highest(zip(roles, attributes, strict=True))
    ordered = sorted(filter(order.__contains__, steps), key=order.__getitem__)
    return Equipped(list(map(order.__getitem__, ordered)), bytes(map(steps.__getitem__, ordered)))


def highest_levels(ends: Iterable[tuple[str, str]]) -> dict[str, ToolLevel]:
    """The ends of `equipped_with` edges above level `none`, each with the highest level any edge says."""
    return {end: LEVELS[step] for end, step in _highest(ends).items()}


def _highest(ends: Iterable[tuple[str, str]]) -> dict[str, int]:
    steps: dict[str, int] = {}
    for end, attribute in ends:
        step = _step_of(attribute)
        if step > steps.get(end, 0):
            steps[end] = step
    return steps


@cache
def _step_of(attribute: str) -> int:
    """The step of the level that an `equipped_with` edge says: few attributes differ."""
    level = attribute.partition(":")[2]
    return next(step for step, name in enumerate(LEVELS) if name == level)
