"""The circulatory map, and one turn of it, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgkernel.cli.tables import draw, new_table
from orgkernel.decisions.signals import Layer, TurnTrace
from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.layer_ledger import Event


def render_map(layers: Sequence[Layer]) -> str:
    """A row a layer in the order of a turn; then who looks at whom, and why."""
    said = new_table("layer", "at hook", "says", "else seen in")
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
        "One value a turn: `_layer_signals`.\n"
        f"One warning a turn, for whoever is first: {lane}.\n\n"
        f"{draw(said)}\n! by this word it has warned or corrected\n\n{draw(read)}\n"
        "A layer that is absent is unknown; none needs another.\n"
    )


def render_trace(trace: TurnTrace) -> str:
    """A turn: who said what, who has the warning, and the deferrals and conflicts."""
    turn = "the turn" if trace.turn is None else f"turn {trace.turn}"
    table = new_table("layer", "", "signals")
    for layer in trace.layers:
        table.add_row(
            printable(layer.name),
            "spoke" if layer.spoke else layer.source,
            printable(_fields(layer.fields)),
        )
    lines = [f"In {turn} {_holder(trace)}.", ""]
    text = "\n".join(lines) + "\n" + (f"{draw(table)}\n" if trace.layers else "")
    if trace.silent:
        text += f"unknown: {', '.join(trace.silent)}\n"
    events = [printable(_event(event)) for event in trace.events]
    counted = ", ".join(f"{number} × {printable(kind)}" for kind, number in sorted(trace.counts.items()))
    if events:
        text += f"\n{_block(events)}in all: {counted}\n"
    return text


def _holder(trace: TurnTrace) -> str:
    spoke = [layer.name for layer in trace.layers if layer.spoke]
    if len(spoke) > 1:
        return f"{printable(', '.join(spoke))} spoke: one too many"
    return f"{printable(trace.held_by)} has the warning" if trace.held_by else "nobody warned"


def _event(event: Event) -> str:
    if event.kind == "deferred" and len(event.layers) == 2:
        return f"turn {event.turn}: {event.layers[0]} deferred to {event.layers[1]}"
    return f"turn {event.turn}: {event.kind} of {', '.join(event.layers)}"


def _fields(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items() if name != "turn")


def _block(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
