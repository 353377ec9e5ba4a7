"""`orgkernel import`: convert agents in another format to orgkernel documents, once or repeatedly."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from orgkernel.cli.author.reports import print_errors
from orgkernel.cli.opening import find_cache
from orgkernel.cli.output import format_count
from orgkernel.diagnostics.wording import clean, did_you_mean, listing, printable, quote
from orgkernel.errors import NothingToRead, UnknownOrganization, UsageError
from orgkernel.exchange.documents import export_documents
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.importing import Clash, ImportPlan, has_import, plan_import, write_import
from orgkernel.kernel.settings import find_project
from orgkernel.loading.formats import FORMATS
from orgkernel.runtime.progress import show_stage
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("source", metavar="SOURCE")
@click.argument("folder", metavar="DIR")
@click.option("--org", metavar="ORG", help="Organization of SOURCE.  [default: the only one]")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the documents in DIR are out of date.")
@click.option("--keep-mine", is_flag=True, help="Where both sides changed the same lines, keep those of DIR.")
def command(form: str, source: str, folder: str, org: str | None, check: bool, keep_mine: bool) -> None:
    """Convert agents in FORMAT to orgkernel documents in DIR, and list what the documents cannot express.

    Later imports keep additions and changes in DIR. If both sides changed the same lines, nothing is written; change
    one of them, or pass --keep-mine. The first import leaves out agents with errors; a later one stops at them.

    Exits 0, 1 if --check finds a difference or both sides changed the same lines, 2 if it cannot run.
    """
    if check and keep_mine:
        raise click.UsageError("`--check` writes nothing, so `--keep-mine` has no effect")
    project = find_project(os.getcwd())
    request = resolve_paths([source], os.getcwd(), links=project.full_links, read_as=form)
    snapshot = Loader(request, project.severities, find_cache(project, no_cache=True)).load()
    chosen = _choose_organization(snapshot, org, source, form) if snapshot.organizations else None
    is_faulty = bool(snapshot.tree.broken) or bool(chosen and chosen.records.withheld)
    # A later import would remove the documents of a faulty agent, and with them what their owner added.
    if (
        (is_faulty and has_import(folder))
        or (chosen is None and is_faulty)
        or (chosen and not chosen.may_answer)
    ):
        print_errors(snapshot.diagnostics, snapshot)
        raise UsageError(f"{quote(source)} has errors, so it is not imported", "correct them first")
    chosen = chosen or _choose_organization(snapshot, org, source, form)
    if is_faulty:
        print_errors(snapshot.diagnostics, snapshot)
        click.echo(
            "note: agents and other files with errors are not imported; correct them before you import again",
            err=True,
        )
    shown = os.path.relpath(os.path.realpath(source), os.path.realpath(folder)).replace(os.sep, "/")
    with show_stage(f"importing {format_count(len(chosen.records.posts), 'role')}"):
        export = export_documents(chosen.records, shown)
        if check:
            plan = plan_import(export, folder, form, shown)
        else:
            plan = write_import(export, folder, form, shown, keep_mine=keep_mine)
    for line in _render_losses(plan, folder, check=check, keep_mine=keep_mine):
        click.echo(printable(line))
    if check and not plan.is_in_step:
        changed = len(plan.written) + len(plan.removed) + len({each.path for each in plan.clashes})
        click.echo(f"{format_count(changed, 'file')} out of date", err=True)
        raise click.exceptions.Exit(1)
    if plan.clashes and not keep_mine:
        click.echo(
            "nothing was written, because both sides changed the same lines; change one of them, or pass `--keep-mine`",
            err=True,
        )
        raise click.exceptions.Exit(1)
    click.echo(f"{format_count(len(export.files), 'file')} up to date with {quote(source)}", err=True)
    _say_losses(export)


def _choose_organization(snapshot: Snapshot, org: str | None, source: str, form: str) -> OrgSnapshot:
    known = snapshot.organizations
    if not known:
        raise NothingToRead(
            f"there are no agents of {FORMATS[form].title} in {quote(source)}",
            "correct the path or the format",
        )
    if org is None and len(known) > 1:
        raise UsageError(
            f"{quote(source)} has {len(known)} organizations", f"choose one with `--org`: {listing(known)}"
        )
    name = org or next(iter(known))
    if name not in known:
        help = did_you_mean(name, known) or f"organizations are {listing(known)}"
        raise UnknownOrganization(f"{quote(source)} has no organization {quote(name)}", help)
    return known[name]


def _render_losses(plan: ImportPlan, folder: str, *, check: bool, keep_mine: bool) -> Iterator[str]:
    stopped = bool(plan.clashes) and not keep_mine and not check
    for clash in plan.clashes:
        yield from _render_clash(clash, folder)
    for path in () if stopped else plan.written:
        yield f"{_render_files(folder, path)}{' (merged)' * (path in plan.merged)}"
    for path in () if stopped else plan.removed:
        yield f"{_render_files(folder, path)} (removed)"


def _render_clash(clash: Clash, folder: str) -> Iterator[str]:
    yield f"conflict: {_render_files(folder, clash.path)}:{clash.line}: {clash.why or _render_place(clash.has)}"
    if clash.place is not None:
        yield f"  {clash.place.file}:{clash.place.line}: {_render_place(clash.says) if not clash.why else 'the source'}"


def _render_place(lines: tuple[str, ...]) -> str:
    if not lines:
        return "nothing"
    more = f" and {format_count(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"`{clean(lines[0].strip())}`{more}"


def _render_files(folder: str, path: str) -> str:
    return f"{folder.rstrip('/')}/{path}"


def _say_losses(export: ConvertedFiles) -> None:
    if export.lost:
        click.echo("not in the documents:", err=True)
    for loss in export.lost:
        count = "" if loss.count is None else f" ({loss.count})"
        click.echo(printable(f"  {loss.what}{count}: {loss.why}"), err=True)
