"""`orgkernel host … --claude-code DIR`: an organization in a project of Claude Code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import click

from orgkernel import __version__
from orgkernel.cli.ask.access import render_decision
from orgkernel.cli.author.reports import print_errors
from orgkernel.cli.groups import list_own_commands
from orgkernel.cli.output import echo_indented, format_count
from orgkernel.cli.stores import locate_current_store, open_with_state
from orgkernel.diagnostics.wording import listing, printable
from orgkernel.errors import UsageError
from orgkernel.exchange.agents.claude_code import TARGET, export_claude_code
from orgkernel.exchange.claude_code.activation import (
    CHOICES,
    HookStatus,
    activate,
    deactivate,
    find_reports_folder,
    read_hook_status,
)
from orgkernel.exchange.claude_code.compiling import CompiledHook, compile_hook
from orgkernel.exchange.claude_code.protection import build_protection, build_secret_reads
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.hooks.claude_hook.drifting import as_data
from orgkernel.project.hooks.claude_settings import check_settings


def activate_here(
    project: str,
    org: str,
    paths: tuple[str, ...],
    store: str | None,
    chosen: dict[str, Any],
    *,
    no_cache: bool,
) -> None:
    """Compile the organization, write the answers and enter the hook."""
    for name, values in CHOICES.items():
        if chosen.get(name) not in (None, *values):
            raise UsageError(
                f"`--{name.replace('_', '-')} {chosen[name]}` means nothing in Claude Code",
                f"pass one of {listing(values)}",
            )
    check_settings(project)
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    snapshot = kernel.latest(org)
    if snapshot.has_errors:
        print_errors(snapshot.diagnostics, kernel.state.latest)
        raise click.exceptions.Exit(1)
    compiled = compile_hook(kernel.access(org), render_decision, f"orgkernel {__version__}", project)
    documents = {**_collect_documents(kernel, project), **_collect_exported(snapshot.index)}
    protection = build_protection(
        documents["documents"], documents["folders"], _list_store_files(store), list_own_commands()
    )
    secret_reads = build_secret_reads(kernel.access(org).view, kernel.sacred_files(org, project).scopes)
    compiled = compiled._replace(data={**compiled.data, **protection, "secret_reads": secret_reads})
    written = activate(project, compiled, chosen, documents)
    _note(compiled)
    for path in written:
        click.echo(printable(os.path.relpath(path, project)))
    status = read_hook_status(project)
    main = (status.settings or {})["main_role"]
    who = (
        "only the rules of Claude Code apply in the main thread"
        if main == "none"
        else f"the main thread works as `{main}`"
    )
    click.echo(printable(f"{snapshot.org_id} is active; {who}"), err=True)


def deactivate_here(project: str) -> None:
    """Take the hook and the answers out."""
    changed = deactivate(project)
    for path in changed:
        click.echo(printable(os.path.relpath(path, project)))
    click.echo("deactivated" if changed else "no organization was active", err=True)
    if (reports := find_reports_folder(project)) is not None:
        click.echo(printable(f"note: the reports are kept in {os.path.relpath(reports, project)}"), err=True)


def show_status(project: str, form: str) -> None:
    """Print what is active."""
    status = read_hook_status(project)
    if form == "json":
        echo_indented(status, indent=1)
        return
    for name, value in _render_status(status):
        click.echo(printable(f"{f'{name}:' if name else '':<16}{value}"))


def _render_status(status: HookStatus) -> Iterator[tuple[str, str]]:
    yield "activation", f"{'on' if status.on else 'off'}: {status.why}"
    yield "hook", status.hook
    if status.settings is None:
        return
    yield "organization", f"{status.organization}, {format_count(status.roles, 'role')}"
    yield "digest", str(status.digest)
    for name in ("main_role", *CHOICES):
        yield name.replace("_", " "), status.settings[name]
    for number, text in enumerate(status.drift):
        yield "" if number else "drift", text


def _list_store_files(store: str | None) -> Iterator[str]:
    """The files of the store, if it is in files."""
    location = locate_current_store(store)
    yield location.checkpoints
    if location.path:
        yield from (f"{location.path}{suffix}" for suffix in ("", "-wal", "-shm"))


def _note(compiled: CompiledHook) -> None:
    for remark in compiled.remarks:
        click.echo(printable(f"note: {remark}"), err=True)


def _collect_documents(kernel: Kernel, project: str) -> dict[str, Any]:
    """Digests of the documents that were read.

    Paths in the project are relative, because the project could be moved.
    """
    top = os.path.realpath(project)
    paths = sorted({os.path.realpath(each.path) for each in kernel.state.latest.tree.documents})
    here = [os.path.relpath(each, top) if each.startswith(top + os.sep) else each for each in paths]
    with_folder = {name: path for name, path in zip(here, paths, strict=True) if os.path.isfile(path)}
    data = as_data(list(with_folder.values()))
    back = {path: name for name, path in with_folder.items()}
    return {
        "documents": {back[path]: digest for path, digest in data["documents"].items()},
        "folders": {
            os.path.relpath(each, top) if (each + os.sep).startswith(top + os.sep) else each: names
            for each, names in data["folders"].items()
        },
    }


def _collect_exported(view: OrgView) -> dict[str, Any]:
    """Digests of the agents that an export would write, and the mark of an exported file."""
    files = export_claude_code(view).files
    digests = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()}
    return {"exported": digests, "mark": render_mark(view.org_id, TARGET)}
