"""Layer coordination: a shared value in which layers record their actions, and a limit of one warning per turn.

Source: docs/signals.md, docs/adr/0012. A turn is one model call with everything that follows from it, as
for PACE. The store is any mapping that lives as long as the agent (`agent.data`). This module uses two of its keys:

    _layer_signals   {layer: {its fields, "turn": 7}}     the convention: any layer may read and write it
    _layer_ledger    {"turn": 7, "held": {"warning": "fallback"}, "events": […], "counts": {…}}     kept by this module

The ledger (the current turn, the holder of each lane, counted events) is separate from the signals: a layer may clear the
signals, as the convention allows, without losing the claim of the turn and the record of conflicts.

Layers see each other and decide for themselves; none commands another. Nothing here raises for values that other
layers left in the store: a value of the wrong form is treated as not written.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Final, NamedTuple, TypeAlias

from .neighbors import derive
from .signal_records import (
    RECORDS,
    SignalRecord,
    Signals,
    has_spoken,
    read_record,
)

LEDGER: Final = "_layer_ledger"
EVENTS_KEPT: Final = 50
"""Maximum number of events kept over all turns. The oldest are dropped, and the counts stay."""


class Event(NamedTuple):
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
    """Number of events of each kind since the agent started, including dropped ones."""
    ledger = find_ledger(store)
    return dict(ledger["counts"]) if ledger else {}


def find_ledger(store: Mapping[str, Any]) -> dict[str, Any] | None:
    """The ledger. None if no turn has begun or the value does not have the form that this module writes."""
    ledger = store.get(LEDGER)
    if not isinstance(ledger, dict) or type(ledger.get("turn")) is not int:
        return None
    held, events, counts = ledger.get("held"), ledger.get("events"), ledger.get("counts")
    if not (isinstance(held, dict) and isinstance(events, list) and isinstance(counts, dict)):
        return None
    # Loops, because six calls of each model call ask for the ledger, and both mappings are small.
    for layer in held.values():
        if not isinstance(layer, str):
            return None
    for count in counts.values():
        if type(count) is not int:
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


KEY: Final = "_layer_signals"
WARNING: Final = "warning"
"""The lane for the one warning per turn."""
ORIENTED_BONUS: Final = 2

Store: TypeAlias = MutableMapping[str, Any]


class Claim(NamedTuple):
    """The result of a claim. `held_by` names the layer that was first, which is the claimant itself if granted."""

    granted: bool
    held_by: str | None


def begin_turn(store: Store, turn: int) -> None:
    """Begin a turn and forget the signals of earlier turns. Repeating it for the same turn changes nothing.

    So the order does not matter. Every layer may begin the turn, and signals that a layer wrote earlier under the
    number of the new turn are kept.
    """
    ledger = find_ledger(store)
    if ledger is not None and ledger["turn"] == turn:
        return
    if ledger is not None:
        _note_conflict(store, ledger)
    store[KEY] = {
        layer: fields
        for layer, fields in _list_valid_values(store).items()
        if _is_turn(fields.get("turn"), turn)
    }
    kept = ledger or {"events": [], "counts": {}}
    store[LEDGER] = {"turn": turn, "held": {}, "events": kept["events"], "counts": kept["counts"]}


def write(store: Store, layer: str, **fields: object) -> None:
    """Write signals of this turn, added to what the layer wrote before.

    Raises `TypeError` for a field that a listed layer does not have, because that is a bug in the layer. Unlisted layers
    may write any field; only `fired_this_turn` is read.
    """
    if layer in RECORDS:
        RECORDS[layer](**fields)  # type: ignore[arg-type]  # only the names are checked: values are read with care
    ledger = find_ledger(store)
    record = {**_list_valid_values(store).get(layer, {}), **fields}
    if ledger is not None:
        record["turn"] = ledger["turn"]
    _get_signals(store)[layer] = record


def read(store: Mapping[str, Any], layer: str) -> SignalRecord | None:
    """The signals of a listed layer in this turn. None means that it wrote nothing: unknown."""
    fields = _list_valid_values(store).get(layer)
    return None if fields is None or layer not in RECORDS else read_record(layer, fields)


def read_signals(store: Mapping[str, Any]) -> Signals:
    """All signals of this turn."""
    fields_by_layer = _list_valid_values(store)
    ledger = find_ledger(store)
    return Signals(
        turn=ledger["turn"] if ledger else None,
        said={
            layer: read_record(layer, fields_by_layer[layer]) for layer in RECORDS if layer in fields_by_layer
        },
        spoken=_list_spoken(fields_by_layer, ledger),
    )


def survey(store: Mapping[str, Any], neighbors: Mapping[str, object]) -> Signals:
    """All signals of this turn. For silent layers, the signals derived from their stores (see `derive`)."""
    signals = read_signals(store)
    seen = derive(neighbors, signals.turn)
    return Signals(signals.turn, signals.said, seen.derived, signals.spoken, seen.warned)


def compute_threshold(base: int, signals: Signals) -> int:
    """Number of failures at which advice is due: two more while the agent is oriented."""
    return base + ORIENTED_BONUS if signals.oriented else base


def claim(store: Store, lane: str, layer: str, seen: Signals | None = None) -> Claim:
    """Claim the only place in a lane for this turn. The first layer gets it. A refusal is recorded as a deferral.

    A layer that spoke without a claim also holds the lane, according to its own signals or to derived ones (`seen`).
    A second claim of the same layer in one turn is refused too, because the lane carries one warning. If no layer
    begins turns, nothing can be held, so a claim checks only the signals of the others.
    """
    ledger = find_ledger(store)
    holder = ledger["held"].get(lane) if ledger else None
    if holder is None and lane == WARNING:
        spoken = Signals(
            spoken=_list_spoken(_list_valid_values(store), None), warned=seen.warned if seen else ()
        )
        holder = spoken.holder(layer)
    if ledger is not None:
        if holder is None:
            ledger["held"][lane] = layer
            write(store, layer, **({"fired_this_turn": True} if lane == WARNING else {}))
        elif holder != layer:
            add_event(ledger, "deferred", lane, (layer, holder))
        _note_conflict(store, ledger)
    return Claim(holder is None, layer if holder is None else holder)


def _note_conflict(store: Store, ledger: dict[str, Any]) -> None:
    """Record a conflict. Two layers that spoke in one turn are one event; a third one is added to it."""
    spoken = list(_list_spoken(_list_valid_values(store), ledger))
    if len(spoken) < 2:
        return
    for event in ledger["events"]:
        if is_event(event) and event["kind"] == "conflict" and event["turn"] == ledger["turn"]:
            event["layers"] = spoken
            return
    add_event(ledger, "conflict", WARNING, tuple(spoken))


def _list_spoken(
    fields_by_layer: Mapping[str, Mapping[str, Any]], ledger: Mapping[str, Any] | None
) -> tuple[str, ...]:
    held = [ledger["held"][WARNING]] if ledger and WARNING in ledger["held"] else []
    return tuple(
        dict.fromkeys([*held, *(layer for layer in fields_by_layer if has_spoken(fields_by_layer[layer]))])
    )


def _list_valid_values(store: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The values that have the form of the convention. All others are ignored."""
    value = store.get(KEY)
    if not isinstance(value, dict):
        return {}
    return {
        layer: fields
        for layer, fields in value.items()
        if isinstance(layer, str) and isinstance(fields, dict)
    }


def _get_signals(store: Store) -> dict[str, Any]:
    value = store.get(KEY)
    if not isinstance(value, dict):
        value = store[KEY] = {}
    return value


def _is_turn(value: object, turn: int) -> bool:
    return type(value) is int and value == turn
