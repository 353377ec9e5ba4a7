"""Finds what a person means by a name on the command line. A note tells the id if another name was typed."""

from __future__ import annotations

import click

from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel

_KINDS = ("role", "agent", "tool")


def choose_id(kernel: Kernel, org: str, kind: str, name: str) -> str:
    """The id of a role, agent or tool by its id, name, callsign or file. A name of nothing stays as it is.

    Raises `UsageError` if the name belongs to several.
    """
    view = kernel.organization(org).snapshot.index
    records = view.records
    if name in {"role": records.posts, "agent": records.agents, "tool": records.tools}[kind]:
        return name
    from orgkernel.graph.spoken_names import find_named  # few names are not ids

    ids = find_named(view, kind, name)
    if not ids or ids == (name,):
        return name
    if len(ids) > 1:
        raise UsageError(f"several {kind}s have the name {quote(name)}", f"choose one of {listing(ids)}")
    click.echo(f"note: {kind} {quote(printable(name))} has the id {quote(ids[0])}", err=True)
    return ids[0]


def choose_reference(kernel: Kernel, org: str, reference: str) -> str:
    """A reference such as `role:NAME`, `agent:NAME` or `tool:NAME:PATH`, with the id of what the name means."""
    kind, colon, name = reference.partition(":")
    if kind not in _KINDS or not colon:
        return reference
    if kind != "tool":
        return f"{kind}:{choose_id(kernel, org, kind, name)}"
    tool, colon, path = name.partition(":")
    return f"tool:{choose_id(kernel, org, kind, tool)}{colon}{path}"
