"""`orgkernel signals`: which layer writes what in a turn, and what happened in one turn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, BinaryIO

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.output import echo_json

LIMIT = 10_000_000
"""Most bytes of a dump."""


@click.command("signals")
@click.argument("dump", metavar="[FILE]", type=click.File("rb"), required=False)
@format_option("text", "json")
def command(dump: BinaryIO | None, form: str) -> None:
    """Print the map of layer signals: which layer writes what at which hook, and which layers read it.

    With FILE (`-` for standard input), a JSON dump of an agent's `data` or of its `_layer_signals`: show which layers
    spoke in that turn, which deferred to which, and conflicts.
    """
    import msgspec

    from orgkernel.cli.signal_tables import render_map, render_trace
    from orgkernel.decisions.signals import CIRCULATION, trace_turn

    if dump is None:
        data: dict[str, Any] = {"layers": [asdict(layer) for layer in CIRCULATION]}
        text = render_map(CIRCULATION)
    else:
        trace = trace_turn(_read(dump))
        data, text = asdict(trace), render_trace(trace)
    if form == "json":
        echo_json(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
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
