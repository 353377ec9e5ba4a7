"""Shared options and contexts of the `orgkernel agent` commands."""

from __future__ import annotations

from contextlib import AbstractContextManager

import click

from orgkernel.cli.opening import add_path_options, cache_option, format_option, with_options
from orgkernel.cli.stores import (
    as_of_option,
    change_options,
    open_declared_kernel,
    open_operation,
    open_with_state,
    store_option,
)
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.context import Context

org_option = click.option(
    "--org", metavar="ORG", help="Organization of the agent.  [default: the only or the active one]"
)
agent_argument = click.argument("agent_id", metavar="AGENT")
# Options of commands that change an agent of one organization, and of commands that ask about it.
agent_change_options = with_options(org_option, change_options)
question_options = with_options(
    org_option, add_path_options, store_option, cache_option, format_option("text", "json")
)
timed_question_options = with_options(as_of_option, question_options)


def open_agent_operation(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool
) -> AbstractContextManager[Context]:
    """Open the context of an operation on an agent. If the documents declare agents, a missing store is created."""
    kernel = open_declared_kernel(paths, no_cache=no_cache)
    return open_operation(actor, store, kernel, create=kernel is not None)


def open_agent_question(
    org: str | None,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    as_of: str | None = None,
) -> tuple[Kernel, str]:
    """Open the kernel with the stored state, and choose the organization of a question."""
    org = org or ACTIVE
    return open_with_state(paths, org, store, as_of=as_of, no_cache=no_cache), org
