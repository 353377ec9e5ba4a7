"""Commands that answer one role or agent on standard input and output, until the input ends."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from orgkernel.cli.opening import save
from orgkernel.snapshots.snapshot import OrgSnapshot, require_declared_agent

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.mcp.local import LocalAsker

A = TypeVar("A", bound="LocalAsker")


def find_declared_subject(snapshot: OrgSnapshot, role: str | None, agent: str | None) -> str:
    """The role or the agent, of which one is named, as a subject. Raises `UnknownRole` and `UnknownAgent`."""
    if role is not None:
        snapshot.require_role(role)
        return f"role:{role}"
    assert agent is not None
    require_declared_agent(snapshot.records, agent)
    return f"agent:{agent}"


def serve_on_stdio(
    kernel: Kernel, open_asker: Callable[[], A], serve: Callable[[A], Coroutine[Any, Any, None]]
) -> None:
    """Serve a subject until its input ends or the user interrupts, then close its store.

    Raises the errors of `open_asker`.
    """
    save(kernel)
    gc.enable()  # unlike other commands, these keep running
    asker = open_asker()
    # Messages use the raw streams, because the wrapper that masks secrets would break them.
    if sys.__stdout__ is not None:
        sys.stdout = sys.__stdout__
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(asker))
    finally:
        asker.close()
