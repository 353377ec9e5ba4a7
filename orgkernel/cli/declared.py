"""Shared by commands that change the state: the documents of the current project, read first."""

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
    """The kernel for the documents, with the stored state. None, with a note, if there are no documents.

    A store may be managed from a machine without documents. A grant to an unknown name has no effect, because every
    decision uses the documents. Raises `NothingToRead` for a given path.
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
    """The check before something is stored: is it declared and, with `grants`, may the actor grant it?"""
    if kernel is None:
        return None
    from orgkernel.kernel.grant_check import require_declared
    from orgkernel.kernel.grant_right import require_right

    def check(grant: Grant) -> None:
        require_declared(kernel.state, grant)
        if grants:
            require_right(kernel, grant.issued_by, grant)

    return check
