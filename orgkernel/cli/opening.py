"""Shared code of commands: the paths to read, and the kernel for them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from orgkernel.cli import Caches, completing
from orgkernel.cli.here import find_request, organization_here
from orgkernel.cli.output import counted
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import NothingToRead
from orgkernel.kernel.cache_folder import open_cache
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import Project, find_project
from orgkernel.loading.cache import Cache
from orgkernel.loading.formats import FORMATS, OURS
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, build_shipped_request, find_organization_above
from orgkernel.snapshots.shipped import list_templates
from orgkernel.snapshots.snapshot import Snapshot, does_cover_file

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel


org_option = click.option(
    "--org", default=ACTIVE, metavar="ORG", shell_complete=completing.organizations,
    help="Organization.  [default: the only one, that of the current folder, or the active one]",
)  # fmt: skip


def _read_from(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    ctx.find_root().ensure_object(Caches).read_as = value


from_option = click.option(
    "--from", type=click.Choice((*FORMATS, OURS)), metavar="FORMAT", expose_value=False, callback=_read_from,
    help=f"Read the paths as this format: {', '.join((*FORMATS, OURS))}.  [default: what they look like]",
)  # fmt: skip
bare_path_option = click.option(
    "--path", "paths", multiple=True, metavar="PATH",
    help="File or folder to read; repeatable.  [default: the paths in orgkernel.toml, or else the current folder]",
)  # fmt: skip


def path_option(command: Any) -> Any:
    """`--path`, and `--from` for the format of the paths."""
    return bare_path_option(from_option(command))


cache_option = click.option(
    "--no-cache", is_flag=True, help="Read all files, without using or filling the cache."
)


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator that adds options, in the order of the help."""

    def add_options(command: Any) -> Any:
        for add_option in reversed(options):
            command = add_option(command)
        return command

    return add_options


def format_option(*formats: str) -> Callable[[Any], Any]:
    """The option `--format`, whose default is the first form."""
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], show_default=True)


def request_of(paths: tuple[str, ...], project: Project) -> Request:
    """The request for the paths, with a note if they are in another folder than the current one."""
    if not paths and project.folder != os.getcwd():
        where = os.path.relpath(project.folder)
        click.echo(f"note: reading {listing(project.paths)} of the project in {quote(where)}", err=True)
    request = find_request(paths, project, read_as())
    if request.left:
        click.echo(
            f"note: not read: {_paths(sorted(request.left))}, because nothing says that the folder above belongs to this "
            "project; put an orgkernel.toml there, or name the paths",
            err=True,
        )
    return request


def read_as() -> str | None:
    """The format that `--from` names, if it was passed."""
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.find_root().ensure_object(Caches).read_as


def say_format(snapshot: Snapshot, request: Request) -> None:
    """Print one line about the detected format of another host."""
    if not request.detected:
        return
    counts = Counter(
        (each.format, each.kind) for each in snapshot.tree.documents if each.format and not each.context
    )
    for name in dict.fromkeys(root.format for root in request.roots if root.areas):
        agents, skills = counts[name, "role_profile"], counts[name, "cognitive_skill"]
        what = [counted(agents, "agent")] if agents else []
        if skills:
            what.append(counted(skills, "skill"))
        if not what:
            servers = _servers(snapshot, name)
            what = [counted(servers, "server") if servers else counted(0, "agent")]
        click.echo(
            f"note: read as {FORMATS[name].title}: {', '.join(what)}; `--from` chooses another format",
            err=True,
        )
    for name in request.others:
        click.echo(f"note: {FORMATS[name].title} is here too: `--from {name}` reads it", err=True)


def _servers(snapshot: Snapshot, name: str) -> int:
    """The number of MCP servers, if there are no agents."""
    catalogs = (
        each for each in snapshot.tree.documents if each.format == name and each.kind == "tool_catalog"
    )
    return len({tool.provider for each in catalogs for tool in each.record.tools.values()})  # type: ignore[attr-defined]


def say_what_else(snapshot: Snapshot, request: Request) -> None:
    """Print the detected format, and the documents that were read in addition to the requested ones."""
    say_format(snapshot, request)
    for root in dict.fromkeys(file.located.root for file in snapshot.tree.files if file.located.root.uses):
        if not any(does_cover_file(each, root.name) for each in request.asked):
            what, where = FORMATS[root.format].title, listing(dict.fromkeys(use.name for use in root.uses))
            click.echo(f"note: also read {_paths([root.name])} as {what}, because {where} names it", err=True)
    others = sorted(snapshot.names_of_documents - snapshot.list_reported(request.asked))
    if others:
        what, where = counted(len(others), "file"), _paths(sorted(request.asked))
        click.echo(f"note: also read {what} beside {where}: {_paths(others)}", err=True)


def _paths(names: list[str]) -> str:
    """The first five paths in full, and the number of further ones."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"`{printable(name)}`" for name in names[:5]) + more


def nothing_here(what: str, paths: Iterable[str]) -> NothingToRead:
    """The error that the paths contain no documents. It names the organization above them, if there is one."""
    for path in paths:
        above = find_organization_above(os.path.abspath(path))
        if above is not None:
            return NothingToRead(
                what, f"a parent folder contains an organization: pass {quote(os.path.relpath(above))}"
            )
    return NothingToRead(
        what, "pass a folder with documents, or create an organization with `orgkernel new DIR`"
    )


def cache_of(project: Project, no_cache: bool) -> Cache | None:
    """The cache of a project. None if it is disabled or has no folder."""
    caches = _caches()
    if no_cache or caches.is_distrusted:
        return None
    cache, problem = open_cache(project, os.environ)
    if problem:
        click.echo(f"note: {problem}", err=True)
    if cache is not None:
        caches.opened.append(cache)
    return cache


def _caches() -> Caches:
    return click.get_current_context().find_root().ensure_object(Caches)


def save(loaded: Kernel | Loader) -> None:
    """Write the cache after the answer is printed. Print a note if that fails."""
    sys.stdout.flush()
    loaded.save()
    for cache in _caches().opened:
        if cache.problem:
            click.echo(f"note: {cache.problem}", err=True)
            cache.problem = ""


def open_kernel(
    paths: tuple[str, ...], org: str | None = None, active: str | None = None, *, no_cache: bool = False
) -> Kernel:
    """The kernel for some paths.

    Without paths, an organization that is not found in the current folder is taken from the templates, with a note.
    """
    from orgkernel.kernel.kernel import Kernel  # not needed by `check`

    project = find_project(os.getcwd())
    active = active or project.active
    cache = cache_of(project, no_cache)
    request = request_of(paths, project)
    kernel = Kernel(request, active=active, severities=project.severities, cache=cache)
    known = kernel.state.served.keys() | kernel.state.refused.keys()
    if org == ACTIVE and active is None and len(known) > 1:
        kernel.prefer(organization_here(kernel))
    if not paths and org not in known and org in list_templates():
        click.echo(f"note: there is no organization `{org}` here; using the template `{org}`", err=True)
        kernel = Kernel(build_shipped_request(), active=active, severities=project.severities, cache=cache)
    elif not kernel.state.latest.read_anything:
        raise nothing_here(
            f"there are no orgkernel documents in {listing(paths or project.paths)}", paths or (".",)
        )
    else:
        say_what_else(kernel.state.latest, request)
    click.get_current_context().call_on_close(lambda: save(kernel))
    return kernel
