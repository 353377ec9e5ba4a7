"""The map of layer signals, and one turn, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgkernel.cli.tables import draw, new_table
from orgkernel.decisions.signals import Layer, TurnTrace
from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.signals import Event


def render_map(layers: Sequence[Layer]) -> str:
    """One row per layer in the order of a turn, then which layer reads which, and how it reacts."""
    said = new_table("layer", "hook", "writes", "or derived from")
    for layer in layers:
        says = (f"{name}!" if name == layer.spoken_by else name for name in layer.says)
        said.add_row(layer.name, layer.hook, ", ".join(says), layer.seen_in or "–")
    read = new_table("reader", "reads", "and")
    for layer in layers:
        for does in dict.fromkeys(layer.reads.values()):
            others = (other for other, why in layer.reads.items() if why == does)
            read.add_row(layer.name, ", ".join(others), does)
    lane = ", ".join(layer.name for layer in layers if layer.spoken_by)
    return (
        "All layers share one value per turn: `_layer_signals`.\n"
        f"One layer may warn per turn, the first of: {lane}.\n\n"
        f"{draw(said)}\n! this field says that the layer has warned or corrected\n\n{draw(read)}\n"
        "An absent layer is unknown. No layer needs another.\n"
    )


def render_trace(trace: TurnTrace) -> str:
    """A turn: the signals of each layer, the layer that warned, and the deferrals and conflicts."""
    turn = "the turn" if trace.turn is None else f"turn {trace.turn}"
    table = new_table("layer", "", "signals")
    for layer in trace.layers:
        table.add_row(
            printable(layer.name),
            "spoke" if layer.spoke else layer.source,
            printable(_fields(layer.fields)),
        )
    lines = [f"In {turn}, {_holder(trace)}.", ""]
    text = "\n".join(lines) + "\n" + (f"{draw(table)}\n" if trace.layers else "")
    if trace.silent:
        text += f"unknown: {', '.join(trace.silent)}\n"
    events = [printable(_event(event)) for event in trace.events]
    counted = ", ".join(f"{number} × {printable(kind)}" for kind, number in sorted(trace.counts.items()))
    if events:
        text += f"\n{_block(events)}total: {counted}\n"
    return text


def _holder(trace: TurnTrace) -> str:
    spoke = [layer.name for layer in trace.layers if layer.spoke]
    if len(spoke) > 1:
        return f"more than one layer spoke: {printable(', '.join(spoke))}"
    return f"{printable(trace.held_by)} warned" if trace.held_by else "no layer warned"


def _event(event: Event) -> str:
    if event.kind == "deferred" and len(event.layers) == 2:
        return f"turn {event.turn}: {event.layers[0]} deferred to {event.layers[1]}"
    return f"turn {event.turn}: {event.kind} of {', '.join(event.layers)}"


def _fields(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items() if name != "turn")


def _block(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
