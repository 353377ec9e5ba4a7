"""Shared code of commands: the paths to read, and the kernel for them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import click

from orgkernel.cli import Caches, completing
from orgkernel.cli.here import find_organization_here, find_request
from orgkernel.cli.output import format_count
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import NothingToRead
from orgkernel.graph.out_of_service import list_out_of_service
from orgkernel.kernel.cache_folder import open_cache
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import LINKS, Project, find_project, list_callers_links
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import is_within
from orgkernel.loading.formats import FORMATS, OURS
from orgkernel.loading.formats.listing import LeftOut
from orgkernel.loading.shipped import list_templates
from orgkernel.snapshots.roots import (
    Request,
    build_shipped_request,
    find_organization_above,
    narrow_request,
)
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot, does_cover_file

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel


org_option = click.option(
    "--org", default=ACTIVE, metavar="ORG", shell_complete=completing.complete_organizations,
    help="Organization.  [default: the only one, the one of the current folder, or the active one]",
)  # fmt: skip


def _read_from(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    ctx.find_root().ensure_object(Caches).read_as = value


from_option = click.option(
    "--from", type=click.Choice((*FORMATS, OURS)), metavar="FORMAT", expose_value=False, callback=_read_from,
    help=f"Read the paths as this format: {', '.join((*FORMATS, OURS))}.  [default: detected from the files]",
)  # fmt: skip
bare_path_option = click.option(
    "--path", "paths", multiple=True, metavar="PATH",
    help="File or folder to read; repeatable.  [default: the paths in orgkernel.toml, or else the current folder]",
)  # fmt: skip

folders_argument = click.argument("folders", nargs=-1, metavar="[PATH]...")
"""Paths without an option, as `check` and `list` take them. They are read together with those of `--path`."""


def add_path_options(command: Any) -> Any:
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


def build_request(paths: tuple[str, ...], project: Project) -> Request:
    """Build the request of a command, and print a note if it reads another folder than the current one."""
    if not paths and project.folder != os.getcwd():
        where = os.path.relpath(project.folder)
        click.echo(f"note: reading {listing(project.paths)} of the project in {quote(where)}", err=True)
    if links := list_callers_links():
        click.echo(f"note: links can lead to {listing(links)}, because `{LINKS}` allows it", err=True)
    request = find_request(paths, project, read_as())
    if request.left:
        click.echo(
            f"note: not read: {_list_paths(sorted(request.left))}, because the folder above is not marked as part of this "
            "project; put an orgkernel.toml there, or pass the paths",
            err=True,
        )
    return request


def read_as() -> str | None:
    """The format that `--from` names, if it was passed."""
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.find_root().ensure_object(Caches).read_as


def print_recognized_formats(snapshot: Snapshot, request: Request) -> None:
    """Print which other formats were recognized, one on each line, and how many places were left out."""
    if not request.detected:
        return
    documents = [each for each in snapshot.tree.documents if each.format and not each.context]
    counts = Counter((each.format, each.kind) for each in documents)
    places = Counter(each.format for each in request.sources)
    for name in dict.fromkeys(root.format for root in request.roots if root.areas):
        agents, skills = counts[name, "role_profile"], counts[name, "cognitive_skill"]
        servers = 0 if agents or skills else count_servers(snapshot, name)
        what = describe_what_was_read(agents, skills, servers)
        where = f" in {places[name]} places" if places[name] > 1 else ""
        way_out = "`orgkernel list` shows them" if where else "`--from` chooses another format"
        click.echo(f"note: read as {FORMATS[name].title}: {what}{where}; {way_out}", err=True)
    if request.left_out:
        click.echo(
            f"note: left out: {format_count(len(request.left_out), 'place')}; `orgkernel list` names the reasons",
            err=True,
        )


def describe_what_was_read(agents: int, skills: int, servers: int) -> str:
    """The agents and skills of a source, or else its servers.

    >>> describe_what_was_read(2, 1, 0), describe_what_was_read(0, 0, 3), describe_what_was_read(0, 0, 0)
    ('2 agents, 1 skill', '3 servers', '0 agents')
    """
    counts = ((agents, "agent"), (skills, "skill"), (servers, "server"))
    return ", ".join(format_count(number, noun) for number, noun in counts if number) or "0 agents"


def print_answering_organization(kernel: Kernel) -> None:
    """Print which of several organizations in other formats answers."""
    known = sorted(kernel.state.served)
    formats = [each.snapshot.records.document.format for each in kernel.state.served.values()]
    if kernel.active is None and len(known) > 1 and all(formats):
        answering = kernel.organization(ACTIVE).snapshot.org_id
        others = listing(each for each in known if each != answering)
        click.echo(f"note: {quote(answering)} answers; `--org` chooses {others}", err=True)


def count_servers(snapshot: Snapshot, name: str, folder: str = "") -> int:
    """Count the MCP servers that were read in a format, below a folder if one is passed."""
    catalogs = (
        each for each in snapshot.tree.documents if each.format == name and each.kind == "tool_catalog"
    )
    providers = {
        tool.provider
        for each in catalogs
        if not each.context and (not folder or is_within(each.path, folder))
        for tool in each.record.tools.values()  # type: ignore[attr-defined]
    }
    return len(providers - {""})


def print_reading_notes(snapshot: Snapshot, request: Request) -> None:
    """Print the recognized format, and the files that were read in addition to the requested ones."""
    print_recognized_formats(snapshot, request)
    print_additional_files(snapshot, request)


def print_additional_files(snapshot: Snapshot, request: Request) -> None:
    """Print the files that were read in addition to the requested ones."""
    for root in dict.fromkeys(file.located.root for file in snapshot.tree.files if file.located.root.uses):
        if not any(does_cover_file(each, root.name) for each in request.asked):
            what, where = FORMATS[root.format].title, listing(dict.fromkeys(use.name for use in root.uses))
            click.echo(
                f"note: also read {_list_paths([root.name])} as {what}, because {where} names it", err=True
            )
    others = sorted(snapshot.names_of_documents - snapshot.list_reported(request.asked))
    if others:
        what, where = format_count(len(others), "file"), _list_paths(sorted(request.asked))
        click.echo(f"note: also read {what} next to {where}: {_list_paths(others)}", err=True)


def _list_paths(names: list[str]) -> str:
    """The first five paths in full, and the number of the others."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"`{printable(name)}`" for name in names[:5]) + more


def build_nothing_to_read(what: str, paths: Iterable[str], left_out: Sequence[LeftOut] = ()) -> NothingToRead:
    """Build the error for paths without documents. It names the organization in a parent folder, if there is one, and
    what comes nearest to agents.
    """
    for path in paths:
        above = find_organization_above(os.path.abspath(path))
        if above is not None:
            return NothingToRead(
                what, f"a parent folder contains an organization: pass {quote(os.path.relpath(above))}"
            )
    nearest = ""
    if left_out:
        more = f" ({len(left_out) - 1} more: `orgkernel list`)" if len(left_out) > 1 else ""
        place = printable(os.path.relpath(left_out[0].place))
        nearest = f"the nearest is `{place}`, but {left_out[0].reason}{more}; "
    return NothingToRead(
        what,
        f"{nearest}pass a folder with documents or agents, name their format with `--from` "
        f"({', '.join(FORMATS)}), or create an organization with `orgkernel new DIR`",
    )


def find_cache(project: Project, no_cache: bool) -> Cache | None:
    """The cache of a project. None if it is disabled or has no folder."""
    caches = _get_caches()
    if no_cache or caches.is_distrusted:
        return None
    cache, problem = open_cache(project, os.environ)
    if problem:
        click.echo(f"note: {problem}", err=True)
    if cache is not None:
        caches.opened.append(cache)
    return cache


def _get_caches() -> Caches:
    return click.get_current_context().find_root().ensure_object(Caches)


class _Saved(Protocol):
    """What was read with a cache: a kernel, a loader, a comparison."""

    @property
    def save(self) -> Callable[[], None]:
        """Writes it to the cache."""


def save(loaded: _Saved) -> None:
    """Write the cache after the answer is printed. Print a note if that fails."""
    sys.stdout.flush()
    loaded.save()
    for cache in _get_caches().opened:
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
    cache = find_cache(project, no_cache)
    request = build_request(paths, project)
    kernel = Kernel(request, active=active, severities=project.severities, cache=cache)
    known = kernel.state.served.keys() | kernel.state.refused.keys()
    if org is not None and org not in (ACTIVE, *known) and (part := kernel.find_department(org)) is not None:
        narrowed = narrow_request(request, part)
        kernel = Kernel(narrowed, active=part, severities=project.severities, cache=cache)
        known = kernel.state.served.keys() | kernel.state.refused.keys()
    if org == ACTIVE and active is None and len(known) > 1:
        kernel.prefer(find_organization_here(kernel))
    if not paths and org not in known and org in list_templates():
        click.echo(f"note: there is no organization `{org}` here; using the template `{org}`", err=True)
        kernel = Kernel(build_shipped_request(), active=active, severities=project.severities, cache=cache)
    elif not kernel.state.latest.read_anything:
        raise build_nothing_to_read(
            f"there are no orgkernel documents and no agents in {listing(paths or project.paths)}",
            paths or (".",),
            request.left_out,
        )
    else:
        print_reading_notes(kernel.state.latest, request)
        if org == ACTIVE:
            print_answering_organization(kernel)
    click.get_current_context().call_on_close(lambda: save(kernel))
    return kernel


def note_out_of_service(snapshot: OrgSnapshot) -> None:
    """Print a note for each role and agent that is out of service, because an answer about all roles lacks them."""
    for each in list_out_of_service(snapshot.records):
        click.echo(printable(f"note: {each.located_reason}"), err=True)
