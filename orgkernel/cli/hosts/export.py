"""`orgkernel export`: write an organization in the format of another tool, or check that its files are up to date."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NoReturn

import click

from orgkernel.cli.opening import add_path_options, cache_option, open_kernel, org_option
from orgkernel.cli.output import echo_json, format_count
from orgkernel.diagnostics.wording import clean, listing, printable, quote
from orgkernel.errors import UsageError
from orgkernel.exchange.a2a.cards import Endpoint, is_address
from orgkernel.exchange.a2a.export import export_a2a
from orgkernel.exchange.a2a.keys import CardKeys
from orgkernel.exchange.ai_catalog import export_ai_catalog
from orgkernel.exchange.drift import DriftedFile, ExportComparison, LineDifference
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import EXPORTS, Exporter
from orgkernel.exchange.marks import Mark
from orgkernel.exchange.writing import check_export, write_export
from orgkernel.graph.out_of_service import list_out_of_service
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.progress import show_stage

_SHOWN = 5
"""Number of differences that are shown for a file."""


@click.command("export")
@click.option(
    "--to", "target", required=True, type=click.Choice(list(EXPORTS)), metavar="FORMAT",
    help=f"Target format: {', '.join(EXPORTS)}.",
)  # fmt: skip
@org_option
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Write the files to DIR.  [default: all files as JSON on stdout]",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if the files in DIR differ from the export."
)
@click.option(
    "--force", is_flag=True, help="Also replace files that were not exported from this organization."
)
@click.option(
    "--accept-losses",
    is_flag=True,
    help="Also write agents that lose a tool, because the format has no counterpart.",
)
@click.option("--url", metavar="URL", help="Address of the agents, for `a2a` and `ai-catalog`.")
@click.option("--sign-key", metavar="FILE", help="Sign the cards of `a2a` with this key (PEM, P-256).")
@add_path_options
@cache_option
def command(
    target: str,
    org: str,
    folder: str | None,
    check: bool,
    force: bool,
    accept_losses: bool,
    url: str | None,
    sign_key: str | None,
    paths: tuple[str, ...],
    no_cache: bool,
) -> None:
    """Export an organization to the format of another tool, and list what that format cannot express.

    Exported files contain a mark of their organization. Files without it are never replaced unless you pass --force,
    and files of roles that no longer exist are removed.

    If an agent would lose a tool that it may use, nothing is written, unless the losses are accepted. Without -o, the JSON
    lists these tools under `withheld`.

    Exits 0, 1 if --check finds a difference or a loss or a role is not exported at all, 2 if it cannot run.
    """
    if check and force:
        raise click.UsageError("`--check` writes nothing, so `--force` has no effect")
    if folder is None and (check or force):
        raise click.UsageError("pass the folder with `-o DIR`")
    exporter = _build_exporter(target, url, sign_key)
    kernel = open_kernel(paths, org, no_cache=no_cache)
    view = kernel.organization(org).snapshot.index
    out = list_out_of_service(view.records)
    if out and folder is not None and not check and not accept_losses:
        raise UsageError(
            f"nothing was written: {out[0].located_reason}",
            "correct the error, or export without the role with `--accept-losses`",
        )
    with show_stage(f"exporting {format_count(len(view.roles), 'role')}"):
        export = exporter.export(view)
    export = replace(export, left_out=(*export.left_out, *view.records.withheld))
    shown = _name_agents(view, export)
    mark = Mark(view.org_id, target)
    if folder is None:
        lost = [{"what": loss.what, "why": loss.why, "count": loss.count} for loss in export.lost]
        document = {
            "files": dict(export.files),
            "covers": export.covers,
            "lost": lost,
            "withheld": export.withheld,
            "dropped": export.dropped,
            "left_out": export.left_out,
        }
        echo_json(json.dumps(document, ensure_ascii=False, indent=1))
    elif check:
        _check(shown, exporter, folder, mark)
        if export.withheld and not accept_losses:
            _list_missing(shown.withheld)
            click.echo(f"error: {format_count(len(export.withheld), 'agent')} would lose tools", err=True)
            click.echo("help: pass `--accept-losses` here too, if these losses were accepted", err=True)
            raise click.exceptions.Exit(1)
    else:
        if export.withheld and not accept_losses:
            _refuse_losses(shown, target)
        _write(shown, exporter, folder, mark, force=force)
        if export.left_out and not accept_losses:
            click.echo(f"error: not exported: {listing(shown.left_out)}", err=True)
            click.echo("help: see the losses above, or accept them with `--accept-losses`", err=True)
            raise click.exceptions.Exit(1)


def _name_agents(view: OrgView, export: ConvertedFiles) -> ConvertedFiles:
    """The export whose reports have agents of other hosts by the names that people gave them, if no two have the same."""
    times = Counter(post.profile.name for post in view.records.posts.values())

    def name(role_id: str) -> str:
        post = view.records.posts.get(role_id)
        if post is None:  # out of service
            return role_id
        is_clear = post.document.format and times[post.profile.name] == 1
        return post.profile.name if is_clear else role_id

    return replace(
        export,
        withheld={name(each): tools for each, tools in export.withheld.items()},
        dropped={name(each): fields for each, fields in export.dropped.items()},
        left_out=tuple(map(name, export.left_out)),
    )


def _refuse_losses(export: ConvertedFiles, target: str) -> NoReturn:
    """Name each tool that agents would lose, and raise `UsageError`."""
    _list_missing(export.withheld)
    name = target.replace("-", "_")
    raise UsageError(
        f"nothing was written: {format_count(len(export.withheld), 'agent')} would lose tools",
        f"add the host's name of each tool under `names: {{{name}: …}}`, or accept the losses with `--accept-losses`",
    )


def _list_missing(missing: Mapping[str, Iterable[str]]) -> None:
    """Print the tools or fields that agents do not have there, most agents first. `missing` has them by agent.

    Those that the same agents lose share a line: a host has dozens of tools, and an agent without a list has them all.
    """
    agents: dict[str, list[str]] = defaultdict(list)
    for agent, tools in missing.items():
        for tool in tools:
            agents[tool].append(agent)
    tools_by_agents: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for tool, those in sorted(agents.items()):
        tools_by_agents[tuple(those)].append(tool)
    for group, tools in sorted(tools_by_agents.items(), key=lambda each: (-len(each[0]), each[1])):
        names = ", ".join(map(quote, tools))
        click.echo(printable(f"  agents without {names}: {listing(group)}"), err=True)


def _build_exporter(target: str, url: str | None, sign_key: str | None) -> Exporter:
    """Build the exporter for a format and its options. Raises `UsageError` for options of another format."""
    exporter = EXPORTS[target]
    if sign_key is not None and target != "a2a":
        raise UsageError(f"the files of `{target}` cannot be signed", "use `--sign-key` with `--to a2a` only")
    if url is not None and target not in ("a2a", "ai-catalog"):
        raise UsageError(
            f"the files of `{target}` have no address", "use `--url` with `a2a` and `ai-catalog` only"
        )
    if url is not None and not is_address(url):
        raise UsageError(
            f"`--url` is {quote(url)}", "write an absolute address such as `https://agents.example.com/a2a`"
        )
    endpoint = None if url is None else Endpoint(url)
    if target == "a2a":
        sign = None if sign_key is None else CardKeys(sign_key).signer().sign
        return replace(exporter, export=partial(export_a2a, endpoint=endpoint, sign=sign))
    if target == "ai-catalog":
        return replace(exporter, export=partial(export_ai_catalog, endpoint=endpoint))
    return exporter


def _write(export: ConvertedFiles, exporter: Exporter, folder: str, mark: Mark, *, force: bool) -> None:
    with show_stage(f"writing {format_count(len(export.files), 'file')}"):
        done = write_export(export, exporter, folder, mark, force=force)
    for path in export.files:
        click.echo(printable(f"{_render_files(folder, path)}{' (unchanged)' * (path in done.kept)}"))
    for path in done.removed:
        click.echo(printable(f"{_render_files(folder, path)} (removed)"))
    _report(export)


def _check(export: ConvertedFiles, exporter: Exporter, folder: str, mark: Mark) -> None:
    comparison = check_export(export, exporter, folder, mark)
    for line in _render_losses(comparison, folder):
        click.echo(printable(line))
    for path in comparison.foreign:
        click.echo(
            printable(f"note: {_render_files(folder, path)} was not exported from this organization"),
            err=True,
        )
    if comparison.drifted:
        click.echo(
            f"{format_count(len(comparison.drifted), 'file')} of {len(export.files)} out of date", err=True
        )
        raise click.exceptions.Exit(1)
    click.echo(f"{format_count(len(export.files), 'file')} up to date", err=True)


def _render_losses(comparison: ExportComparison, folder: str) -> Iterator[str]:
    for drift in comparison.drifted:
        path = _render_files(folder, drift.path)
        if drift.kind == "missing":
            yield f"missing: {path}{f', for {drift.place}' if drift.place else ''}"
        elif drift.kind == "surplus":
            yield f"surplus: {path}: exported earlier, but no longer declared"
        else:
            yield f"changed: {path}"
            yield from _render_changes(drift, path)


def _render_changes(drift: DriftedFile, path: str) -> Iterator[str]:
    for each in drift.differences[:_SHOWN]:
        yield from _render_change(each, path)
    more = len(drift.differences) - _SHOWN
    if more > 0:
        yield f"  and {format_count(more, 'more difference')}"


def _render_change(each: LineDifference, path: str) -> Iterator[str]:
    place = "" if each.place is None else f"{each.place.file}:{each.place.line}"
    yield f"  {path}:{each.line}: {_render_place(each.has, 'has no such line')}"
    yield f"  {place or 'the organization'}: {_render_place(each.says, 'does not declare it')}"


def _render_place(lines: tuple[str, ...], nothing: str) -> str:
    if not lines:
        return nothing
    more = f" and {format_count(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"`{clean(lines[0].strip())}`{more}"


def _render_files(folder: str, path: str) -> str:
    return f"{folder.rstrip('/')}/{path}"


def _report(export: ConvertedFiles) -> None:
    """Print covered and lost facts to stderr."""
    click.echo(f"covered: {', '.join(export.covers)}", err=True)
    click.echo("lost or expressed differently:", err=True)
    for loss in export.lost:
        count = "" if loss.count is None else f" ({loss.count})"
        click.echo(printable(f"  {loss.what}{count}: {loss.why}"), err=True)
    _list_missing(export.withheld)
    _list_missing(export.dropped)
