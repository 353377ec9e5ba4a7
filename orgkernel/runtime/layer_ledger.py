"""The ledger beside the signals: the current turn, the holder of each lane, and counted events.

It is separate from the signals: a layer may clear the signals, as the convention allows, without losing the claim of the
turn and the record of conflicts. It is plain JSON, so a dump of the store shows it.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LEDGER: Final = "_layer_ledger"
EVENTS_KEPT: Final = 50
"""Events kept over all turns. The oldest are dropped; the counts stay."""


@dataclass(frozen=True, slots=True)
class Event:
    """A counted event: `deferred` (layers: the one that waited, the one it waited for) or `conflict` (all that spoke)."""

    turn: int
    kind: str
    lane: str
    layers: tuple[str, ...]


def read_events(store: Mapping[str, Any]) -> tuple[Event, ...]:
    """The latest deferrals and conflicts of this turn and earlier ones, oldest first."""
    ledger = find_ledger(store)
    return tuple(
        Event(each["turn"], each["kind"], each["lane"], tuple(each["layers"]))
        for each in (ledger["events"] if ledger else ())
        if is_event(each)
    )


def read_counts(store: Mapping[str, Any]) -> dict[str, int]:
    """How many events of each kind there were since the agent started, including dropped ones."""
    ledger = find_ledger(store)
    return dict(ledger["counts"]) if ledger else {}


def find_ledger(store: Mapping[str, Any]) -> dict[str, Any] | None:
    """The ledger. None if no turn has begun or the value does not have the form that this module writes."""
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
    """Whether an entry has the form that this module writes. Checked when events are read, not every turn."""
    return (
        isinstance(event, dict)
        and type(event.get("turn")) is int
        and isinstance(event.get("kind"), str)
        and isinstance(event.get("lane"), str)
        and isinstance(event.get("layers"), list)
        and all(isinstance(layer, str) for layer in event["layers"])
    )


def add_event(ledger: dict[str, Any], kind: str, lane: str, layers: tuple[str, ...]) -> None:
    """Record an event of the turn; the same event is recorded once per turn."""
    event = {"turn": ledger["turn"], "kind": kind, "lane": lane, "layers": list(layers)}
    if event in ledger["events"]:
        return
    ledger["events"] = [*ledger["events"], event][-EVENTS_KEPT:]
    ledger["counts"][kind] = ledger["counts"].get(kind, 0) + 1
