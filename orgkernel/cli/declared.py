"""What commands that change the state look at before they do: the documents of the project one stands in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from orgkernel.cli.opening import open_kernel
from orgkernel.errors import NothingToRead
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import StateAt, locate_store

if TYPE_CHECKING:
    from orgkernel.decisions.state_view import Grant
    from orgkernel.state.grants import GrantCheck


def find_declared(paths: tuple[str, ...], store: str | None, *, no_cache: bool = False) -> Kernel | None:
    """What the documents declare, decided with what is stored; None, which is said, where there are no documents.

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
    here = os.getcwd()
    return kernel.with_store(StateAt(locate_store(find_project(here), here, store)))


def check_of(kernel: Kernel | None, *, grants: bool = True) -> GrantCheck | None:
    """What a store asks before it gives something: whether it is declared and, if it `grants`, whose it is to give."""
    if kernel is None:
        return None
    from orgkernel.kernel.grant_check import require_declared
    from orgkernel.kernel.grant_right import require_right

    def check(grant: Grant) -> None:
        require_declared(kernel.state, grant)
        if grants:
            require_right(kernel, grant.issued_by, grant)

    return check
