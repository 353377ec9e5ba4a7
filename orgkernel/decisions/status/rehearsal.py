"""Play turns of layers without a host, in every order, and report broken rules of coordination.

It tests that two layers never speak in the same turn: all layers get the same store, turn by turn, and the
result shows which of them spoke. A layer here is a function that does what the real layer does at its hook, with
`orgkernel.runtime.signals`, and returns its message to the model, or None.

    >>> from orgkernel.runtime import signals
    >>> def fallback(store):
    ...     return "try another tool" if signals.claim(store, "warning", "fallback").granted else None
    >>> def rude(store):
    ...     signals.write(store, "rude", fired_this_turn=True)
    ...     return "LISTEN"
    >>> rehearse({"fallback": fallback, "rude": rude}).faults
    ('turn 1, fallback → rude: fallback and rude both spoke',)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from typing import Any, Final, TypeAlias

from orgkernel.runtime.signals import Event, begin_turn, read_events

Store: TypeAlias = MutableMapping[str, Any]
Player: TypeAlias = Callable[[Store], str | None]
"""One layer at its hook: reads and writes the store, and returns its message to the model."""

ORDERS: Final = 14_000
"""The highest number of orders that are played, fewest layers first. All subsets of seven layers fit."""


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """One turn in one order: the message of each layer, and the store afterwards."""

    turn: int
    order: tuple[str, ...]
    spoken: Mapping[str, str]
    raised: Mapping[str, str]
    """The exception of each layer that raised, because something that it needs was missing."""
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """All turns that were played, and the faults in words. A good rehearsal has none."""

    turns: tuple[PlayedTurn, ...]
    faults: tuple[str, ...]
    complete: bool
    """Whether every order was played. There are too many for more than seven layers."""


def play_turn(store: Store, turn: int, players: Mapping[str, Player], order: Sequence[str]) -> PlayedTurn:
    """Begin a turn and let the layers act in this order."""
    begin_turn(store, turn)
    spoken: dict[str, str] = {}
    raised: dict[str, str] = {}
    for name in order:
        try:
            text = players[name](store)
        except Exception as error:  # the layer is foreign code: its exception is the finding
            raised[name] = f"{type(error).__name__}: {error}"
        else:
            if text:
                spoken[name] = text
    events = tuple(event for event in read_events(store) if event.turn == turn)
    return PlayedTurn(turn, tuple(order), spoken, raised, events)


def rehearse(
    players: Mapping[str, Player], *, turns: int = 1, prepare: Callable[[Store], None] | None = None
) -> Rehearsal:
    """Play every subset of the layers in every order. `prepare` fills the store before the first turn.

    Faults: two layers spoke in one turn; a layer raised; removing a silent layer
    makes all layers silent, so another layer depends on it. Layers keep their own state outside the store between plays.
    """
    orders = list(islice(_iterate_orders(sorted(players)), ORDERS + 1))
    played = [
        play_turn(store, turn, players, order)
        for order in orders[:ORDERS]
        for store in [_build_fresh_store(prepare)]
        for turn in range(1, turns + 1)
    ]
    faults = [fault for each in played for fault in _find_faults(each)]
    return Rehearsal(tuple(played), (*faults, *_find_needs(played)), len(orders) <= ORDERS)


def _iterate_orders(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (
        order
        for size in range(1, len(names) + 1)
        for chosen in combinations(names, size)
        for order in permutations(chosen)
    )


def _build_fresh_store(prepare: Callable[[Store], None] | None) -> Store:
    store: Store = {}
    if prepare is not None:
        prepare(store)
    return store


def _find_faults(played: PlayedTurn) -> Iterator[str]:
    where = f"turn {played.turn}, {' → '.join(played.order)}"
    if len(played.spoken) > 1:
        *others, last = played.spoken
        yield f"{where}: {', '.join(others)} and {last} {'both' if len(others) == 1 else 'all'} spoke"
    for name, error in played.raised.items():
        yield f"{where}: {name} raised {error}"


def _find_needs(played: Sequence[PlayedTurn]) -> Iterator[str]:
    """Find layers that others need, from first turns, where all plays start alike."""
    first = {each.order: each for each in played if each.turn == 1}
    for order, each in first.items():
        for absent in order if each.spoken else ():
            without = first.get(tuple(name for name in order if name != absent))
            if absent not in each.spoken and without is not None and not without.spoken:
                speaker = next(iter(each.spoken))
                yield f"turn 1, {' → '.join(order)}: {speaker} speaks, but no layer speaks without {absent}"
