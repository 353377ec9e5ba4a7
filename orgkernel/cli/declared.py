"""What commands that change the state look at before they do: the documents of the project one stands in."""

from __future__ import annotations

import click

from orgkernel.cli.opening import open_kernel
from orgkernel.errors import NothingToRead
from orgkernel.kernel.kernel import Kernel


def find_declared(paths: tuple[str, ...], *, no_cache: bool = False) -> Kernel | None:
    """What the documents declare; None, which is said, where there are no documents.

    A store may be looked after from a machine that has no documents; what is given there to an unknown name has no
    effect, since every decision asks the documents. Raises `NothingToRead` for a path that was named.
    """
    try:
        kernel = open_kernel(paths, no_cache=no_cache)
    except NothingToRead:
        if paths:
            raise
        kernel = None
    if kernel is None or not (paths or kernel.state.served or kernel.state.refused):
        click.echo("note: there is no organization here, so names are not checked", err=True)
        return None
    return kernel
