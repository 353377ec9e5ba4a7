"""The ledger beside the signals: which turn it is, who holds a lane, and what was worth counting.

It is kept apart from the signals so that a layer which clears those, as the convention allows, takes neither the
claim of the turn nor the record of conflicts with it. It is plain JSON, so a dump of the store shows it.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LEDGER: Final = "_layer_ledger"
EVENTS_KEPT: Final = 50
"""Of all turns together, the oldest go; the counts stay."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing worth counting: `deferred` (layers: who was quiet, for whom) or `conflict` (layers: who all spoke)."""

    turn: int
    kind: str
    lane: str
    layers: tuple[str, ...]


def read_events(store: Mapping[str, Any]) -> tuple[Event, ...]:
    """The latest deferrals and conflicts, oldest first, of this turn and earlier ones."""
    ledger = find_ledger(store)
    return tuple(
        Event(each["turn"], each["kind"], each["lane"], tuple(each["layers"]))
        for each in (ledger["events"] if ledger else ())
        if is_event(each)
    )


def read_counts(store: Mapping[str, Any]) -> dict[str, int]:
    """How many of each kind there were since the agent began, also those no longer kept."""
    ledger = find_ledger(store)
    return dict(ledger["counts"]) if ledger else {}


def find_ledger(store: Mapping[str, Any]) -> dict[str, Any] | None:
    """The ledger; None where no turn was begun, and where it is not as this module writes it."""
    ledger = store.get(LEDGER)
    if not isinstance(ledger, dict) or type(ledger.get("turn")) is not int:
        return None
    shapes = {"held": dict, "events": list, "counts": dict}
    if any(not isinstance(ledger.get(name), shape) for name, shape in shapes.items()):
        return None
    if not all(isinstance(layer, str) for layer in ledger["held"].values()):
        return None
    if not all(type(count) is int for count in ledger["counts"].values()):
        return None
    return ledger


def is_event(event: object) -> bool:
    """Whether an entry is as this module writes it; looked at where events are read, not at every turn."""
    return (
        isinstance(event, dict)
        and type(event.get("turn")) is int
        and isinstance(event.get("kind"), str)
        and isinstance(event.get("lane"), str)
        and isinstance(event.get("layers"), list)
        and all(isinstance(layer, str) for layer in event["layers"])
    )


def add_event(ledger: dict[str, Any], kind: str, lane: str, layers: tuple[str, ...]) -> None:
    """Note something about the turn; the same thing is noted once in it."""
    event = {"turn": ledger["turn"], "kind": kind, "lane": lane, "layers": list(layers)}
    if event in ledger["events"]:
        return
    ledger["events"] = [*ledger["events"], event][-EVENTS_KEPT:]
    ledger["counts"][kind] = ledger["counts"].get(kind, 0) + 1
