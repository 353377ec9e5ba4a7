"""Shared code of commands that use the store: store, documents, actor, times and tables."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, with_options
from orgkernel.cli.output import echo_indented
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import StateAt, StoreLocation, locate_store, open_store
from orgkernel.operations.context import OPERATOR, Context, build_actor

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])")
_MAX_WIDTH = 48

store_option = click.option(
    "--store", metavar="STORE",
    help="File, or URL of PostgreSQL. Default: ORGKERNEL_STORE, else `store` of orgkernel.toml, else .orgkernel/state.db.",
)  # fmt: skip
by_option = click.option(
    "--by",
    "actor",
    default=OPERATOR,
    show_default=True,
    metavar="SUBJECT",
    help="Act as this subject, such as `person:ID` or `agent:ID`, with its rights. `system:cli` is an operator.",
)
reason_option = click.option("--reason", default="", metavar="TEXT", help="Reason, for the audit log.")
look_options = with_options(add_path_options, store_option, cache_option)
"""The options of a command that reads the store and the documents."""
# Options of a command that changes stored records and reads the documents.
change_options = with_options(
    by_option, reason_option, add_path_options, store_option, cache_option, format_option("text", "json")
)


org_of_documents_option = click.option(
    "--org", metavar="ORG", help="Organization.  [default: the one of the documents here]"
)
all_orgs_option = click.option("--all-orgs", is_flag=True, help="All organizations, in place of one.")


def get_named_organization(org: str | None, all_orgs: bool) -> str | None:
    """The organization that the options name, `*` for all of them; raises `UsageError` for both."""
    if org is not None and all_orgs:
        raise UsageError("`--org` and `--all-orgs` exclude each other", "leave one of them out")
    return ALL_ORGANIZATIONS if all_orgs else org


as_of_option = click.option(
    "--as-of", metavar="TIME",
    help="Stored state of an earlier time: `24h` or `7d` ago, or a date. The documents are the current ones.",
)  # fmt: skip


def open_with_state(
    paths: tuple[str, ...], org: str, store: str | None, *, as_of: str | None = None, no_cache: bool = False
) -> Kernel:
    """Open the kernel for the paths, with the current stored state or an earlier one.

    A question never creates a store.
    """
    kernel = open_kernel(paths, org, no_cache=no_cache).with_store(StateAt(locate_current_store(store)))
    at = parse_since(as_of)
    return kernel if at is None else kernel.as_of(at)


def open_current_store(store: str | None, *, create: bool = False) -> Store:
    """The store of the current project, as a context manager."""
    return open_store(locate_current_store(store), create=create)


def locate_current_store(store: str | None) -> StoreLocation:
    """The location of the store of the current project."""
    here = os.getcwd()
    return locate_store(find_project(here), here, store)


def open_declared_kernel(paths: tuple[str, ...], *, no_cache: bool = False) -> Kernel | None:
    """Open the kernel for the documents. Returns None and prints a note if there are no documents.

    A store can be managed from a machine without documents. A grant to an unknown name has no effect, because every
    decision uses the documents. Raises `NothingToRead` for a given path.
    """
    try:
        kernel = open_kernel(paths, ACTIVE, no_cache=no_cache)
    except NothingToRead:
        if paths:
            raise
        kernel = None
    if kernel is None or not (paths or kernel.state.served or kernel.state.refused):
        click.echo("note: there is no organization here, so names are not checked", err=True)
        return None
    return kernel


@contextmanager
def open_operation(
    actor: str, store: str | None, kernel: Kernel | None = None, *, create: bool = False
) -> Iterator[Context]:
    """Open the context of an operation: documents, store, and the actor of `--by`."""
    with open_current_store(store, create=create) as state:
        from orgkernel.operations.upkeep import note_vanished  # slow to import: it imports the store

        for grant in () if kernel is None else note_vanished(state, kernel.state):
            text = f"note: grant {grant.grant_id} is asleep now, because no document declares {grant.subject}"
            click.echo(printable(text), err=True)
        yield Context(None if kernel is None else kernel.with_store(state), state, build_actor(actor))


@contextmanager
def open_question(store: str | None, kernel: Kernel | None) -> Iterator[Context]:
    """Open the context of a question, which writes nothing."""
    with open_current_store(store) as state:
        yield Context(None if kernel is None else kernel.with_store(state), state, build_actor(OPERATOR))


def open_question_here(
    paths: tuple[str, ...], store: str | None, no_cache: bool
) -> AbstractContextManager[Context]:
    """Open the context of a question that needs documents only to choose the organization."""
    return open_question(store, open_declared_kernel(paths, no_cache=no_cache))


def open_operation_alone(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, *, create: bool = False
) -> AbstractContextManager[Context]:
    """Open the context of an operation that needs documents only to find the actor and its right."""
    kernel = open_declared_kernel(paths, no_cache=no_cache) if build_actor(actor).member else None
    return open_operation(actor, store, kernel, create=create)


def open_operation_here(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, *, create: bool = False
) -> AbstractContextManager[Context]:
    """Open the context of an operation that needs the documents, which are opened first."""
    return open_operation(actor, store, open_declared_kernel(paths, no_cache=no_cache), create=create)


def does_store_exist(store: str | None) -> bool:
    """Whether the store exists. A store on a server is always treated as existing."""
    path = locate_current_store(store).path
    return not path or os.path.exists(path)


def parse_until(text: str | None) -> float | None:
    """`30m`, `24h`, `7d` from now, or a date, in seconds since 1970. Raises `UsageError`."""
    return None if text is None else _parse_time(text, 1)


def parse_since(text: str | None) -> float | None:
    """`30m`, `24h`, `7d` ago, or a date, in seconds since 1970. Raises `UsageError`."""
    return None if text is None else _parse_time(text, -1)


def parse_duration(text: str) -> float:
    """`30m`, `24h`, `7d` in seconds. Raises `UsageError`."""
    if duration := _DURATION.fullmatch(text):
        return float(int(duration[1]) * _UNITS[duration[2]])
    raise UsageError(f"{quote(text)} is not a duration", "write `30m`, `24h` or `7d`")


def _parse_time(text: str, sign: int) -> float:
    if _DURATION.fullmatch(text):
        return time.time() + sign * parse_duration(text)
    try:
        date = datetime.fromisoformat(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        help = "write `30m`, `24h`, `7d`, or a date such as `2027-01-31T12:00:00Z`"
        raise UsageError(f"{quote(text)} is not a time", help) from None


def show_time(seconds: float | None) -> str:
    """A readable time, or `–` for none."""
    if seconds is None:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"


def echo_records(
    form: str, records: Sequence[Any], headings: Sequence[str], row: Callable[[Any], Iterable[Any]]
) -> None:
    """Records as JSON, or as a table with one line each. The width of the last column is not limited."""
    if form == "json":
        echo_indented(records)
        return
    if not records:
        click.echo("none", err=True)
        return
    rows = [
        [printable(str(cell)) if cell not in (None, "") else "–" for cell in row(each)] for each in records
    ]
    cut = [[_cut(cell) for cell in cells[:-1]] + cells[-1:] for cells in rows]
    widths = [max(len(cells[place]) for cells in [list(headings), *cut]) for place in range(len(headings))]
    for cells in [list(headings), *cut]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo(line.rstrip())


def echo_record(form: str, record: Any, text: str) -> None:
    """One record as JSON, or a sentence."""
    if form == "json":
        echo_indented(record)
    else:
        click.echo(printable(text))


def _cut(cell: str) -> str:
    return cell if len(cell) <= _MAX_WIDTH else f"{cell[: _MAX_WIDTH - 1]}…"
