"""The map of signals: the fields that each signal layer writes, the layers that read them, and their hooks. Also the trace
of one turn.

`orgkernel.runtime.signals` is the protocol itself. This module describes it for people (docs/signals.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from orgkernel.runtime import neighbors
from orgkernel.runtime.signal_records import RECORDS, has_spoken, list_signal_fields
from orgkernel.runtime.signals import KEY, WARNING, Event, find_ledger, read_counts, read_events, survey


@dataclass(frozen=True, slots=True)
class Layer:
    """One signal layer of the map. Hooks and positions are those of Agent-Zero."""

    name: str
    hook: str
    says: tuple[str, ...]
    reads: Mapping[str, str] = field(default_factory=dict)
    """The reaction of this layer to each other layer."""
    spoken_by: str | None = None
    """The field that is set when it warned or corrected. None for a layer that never does."""
    seen_in: str | None = None
    """The place of its state, for a layer that writes no signals."""


_OTHER_INJECTORS: Final = "defers to the first speaker"
_ORIENTED: Final = "waits for two more failures when confidence is above 0.85 and the objective is held"


def _build_layer(name: str, hook: str, **more: Any) -> Layer:
    says = tuple(each for each in list_signal_fields(name) if each not in ("active", "turn"))
    return Layer(name, hook, says, **more)


CIRCULATION: Final = (
    _build_layer("working_memory", "hist_add_before", seen_in="agent._working_memory"),
    _build_layer("bst", "before_main_llm_call", seen_in="agent._bst_store"),
    _build_layer(
        "org_kernel",
        "message_loop_prompts_before",
        reads={"bst": "activates the role for its domain"},
        seen_in="agent._org_active_role",
    ),
    _build_layer(
        "structured_retry",
        "error_format",
        reads={"meta_gate": _OTHER_INJECTORS, "fallback": _OTHER_INJECTORS, "supervisor": _OTHER_INJECTORS},
        spoken_by="fired_this_turn",
    ),
    _build_layer(
        "meta_gate",
        "tool_execute_before",
        reads={
            "structured_retry": _OTHER_INJECTORS,
            "fallback": _OTHER_INJECTORS,
            "supervisor": _OTHER_INJECTORS,
        },
        spoken_by="correction_applied",
    ),
    _build_layer(
        "fallback",
        "tool_execute_before",
        reads={
            "bst": _ORIENTED,
            "working_memory": _ORIENTED,
            "meta_gate": "stays silent after a correction",
            "structured_retry": _OTHER_INJECTORS,
            "supervisor": _OTHER_INJECTORS,
        },
        spoken_by="fired_this_turn",
        seen_in='agent.data["_tool_failures"]',
    ),
    _build_layer(
        "supervisor",
        "message_loop_end",
        reads={
            "fallback": "stays silent after advice",
            "meta_gate": _OTHER_INJECTORS,
            "structured_retry": _OTHER_INJECTORS,
        },
        spoken_by="intervention_type",
        seen_in="agent._supervisor_state",
    ),
    _build_layer("memory_classifier", "monologue_end", seen_in="agent._memory_health"),
)
"""All signal layers of the specification, in the order of a turn."""


@dataclass(frozen=True, slots=True)
class SignalLayerTrace:
    """The signals of one layer in one turn: its own, or derived from its store."""

    name: str
    source: str
    """The source: `said` (its own signals) or `derived` (from its store)."""
    fields: Mapping[str, Any]
    spoke: bool


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """The signals of one turn in a dumped store."""

    turn: int | None
    held_by: str | None
    """The signal layer that holds the one warning of the turn."""
    signal_layers: tuple[SignalLayerTrace, ...]
    silent: tuple[str, ...]
    """Signal layers of the map without signals in this turn."""
    events: tuple[Event, ...]
    """The latest deferrals and conflicts, of this turn and earlier ones."""
    counts: Mapping[str, int]


def trace_turn(dump: Mapping[str, Any]) -> TurnTrace:
    """Read a dumped store: `agent.data` (with the neighbors' stores, if they are in it), or the bare signals.

    Never raises: a value of the wrong form is ignored.
    """
    is_data = any(
        name.startswith("_") for name in dump
    )  # the keys of the protocol and of neighbors begin with `_`
    store = dump if is_data else {KEY: dump}
    seen = {
        name: store[name] for name in (*neighbors.AGENT_ATTRIBUTES, *neighbors.AGENT_DATA) if name in store
    }
    signals = survey(store, seen)
    ledger = find_ledger(store)
    signals_by_layer = {
        name: each for name, each in _get_mapping(store.get(KEY)).items() if isinstance(each, Mapping)
    }
    order = [*RECORDS, *sorted(name for name in signals_by_layer if name not in RECORDS)]
    layers = []
    for name in order:
        if name in signals_by_layer:
            layers.append(
                SignalLayerTrace(
                    name, "said", dict(signals_by_layer[name]), has_spoken(signals_by_layer[name])
                )
            )
        elif record := signals.derived.get(name):
            fields = {each: getattr(record, each) for each in list_signal_fields(name)}
            known = {each: value for each, value in fields.items() if value is not None and each != "turn"}
            layers.append(SignalLayerTrace(name, "derived", known, spoke=False))
    known_names = {layer.name for layer in layers}
    held_by = ledger["held"].get(WARNING) if ledger else None
    return TurnTrace(
        signals.turn,
        held_by or next(iter(signals.spoken), None),
        tuple(layers),
        tuple(name for name in RECORDS if name not in known_names),
        read_events(store),
        read_counts(store),
    )


def _get_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
