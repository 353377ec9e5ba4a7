"""`orgkernel host signals`: which signal layer writes what in a turn, and what happened in one turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.output import echo_indented
from orgkernel.diagnostics.wording import printable

if TYPE_CHECKING:
    from orgkernel.decisions.status.signals import Layer, TurnTrace
    from orgkernel.runtime.signals import Event

LIMIT = 10_000_000
"""Maximum size of a dump, in bytes."""


@click.command("signals", short_help="Show how the signal layers of an agent coordinate.")
@click.argument("dump", metavar="[FILE]", type=click.File("rb"), required=False)
@format_option("text", "json")
def command(dump: BinaryIO | None, form: str) -> None:
    """Print the map of signals: which signal layer writes what at which hook, and which of them read it.

    With FILE (`-` for standard input), a JSON dump of an agent's `data` or of its `_layer_signals`: show which
    signal layers warned in that turn, which deferred to which, and conflicts.
    """
    from orgkernel.decisions.status.signals import CIRCULATION, trace_turn

    if dump is None:
        data: dict[str, Any] = {"signal_layers": [asdict(layer) for layer in CIRCULATION]}
        text = _render_map(CIRCULATION)
    else:
        trace = trace_turn(_read(dump))
        data, text = asdict(trace), _render_trace(trace)
    if form == "json":
        echo_indented(data)
    else:
        click.echo(text, nl=False)


def _read(dump: BinaryIO) -> dict[str, Any]:
    import msgspec

    content = dump.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise click.ClickException(f"`{dump.name}` is larger than {LIMIT} bytes")
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise click.ClickException(f"`{dump.name}` is not a JSON object: {error}") from error


def _render_map(layers: Sequence[Layer]) -> str:
    """One row per signal layer in the order of a turn, then which signal layers it reads and how it reacts."""
    from orgkernel.cli.tables import create_table, draw

    layer_table = create_table("signal layer", "hook", "writes", "or derived from")
    for layer in layers:
        says = (f"{name}!" if name == layer.spoken_by else name for name in layer.says)
        layer_table.add_row(layer.name, layer.hook, ", ".join(says), layer.seen_in or "–")
    read = create_table("reader", "reads", "and")
    for layer in layers:
        for does in dict.fromkeys(layer.reads.values()):
            others = (other for other, why in layer.reads.items() if why == does)
            read.add_row(layer.name, ", ".join(others), does)
    lane = ", ".join(layer.name for layer in layers if layer.spoken_by)
    return (
        "All signal layers share one value per turn: `_layer_signals`.\n"
        f"One signal layer may warn per turn, the first of: {lane}.\n\n"
        f"{draw(layer_table)}\n! this field says that the signal layer has warned or corrected\n\n{draw(read)}\n"
        "The values of an absent signal layer are unknown. No signal layer needs another one.\n"
    )


def _render_trace(trace: TurnTrace) -> str:
    """A turn: the signals of each signal layer, the one that warned, and the deferrals and conflicts."""
    from orgkernel.cli.tables import create_table, draw

    turn = "the turn" if trace.turn is None else f"turn {trace.turn}"
    table = create_table("signal layer", "", "signals")
    for layer in trace.signal_layers:
        fields = ", ".join(f"{name}={value}" for name, value in layer.fields.items() if name != "turn")
        table.add_row(printable(layer.name), "spoke" if layer.spoke else layer.source, printable(fields))
    text = f"In {turn}, {_render_holder(trace)}.\n\n" + (f"{draw(table)}\n" if trace.signal_layers else "")
    if trace.silent:
        text += f"unknown: {', '.join(trace.silent)}\n"
    if trace.events:
        counted = ", ".join(f"{number} × {printable(kind)}" for kind, number in sorted(trace.counts.items()))
        events = "".join(f"{printable(_render_event(event))}\n" for event in trace.events)
        text += f"\n{events}total: {counted}\n"
    return text


def _render_holder(trace: TurnTrace) -> str:
    spoke = [layer.name for layer in trace.signal_layers if layer.spoke]
    if len(spoke) > 1:
        return f"more than one signal layer warned: {printable(', '.join(spoke))}"
    return f"{printable(trace.held_by)} warned" if trace.held_by else "no signal layer warned"


def _render_event(event: Event) -> str:
    if event.kind == "deferred" and len(event.layers) == 2:
        return f"turn {event.turn}: {event.layers[0]} deferred to {event.layers[1]}"
    return f"turn {event.turn}: {event.kind} of {', '.join(event.layers)}"
