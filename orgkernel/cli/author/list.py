"""`orgkernel list`: the organizations in a folder, and agents in other formats."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click

from orgkernel.cli.opening import cache_option, find_cache, format_option, save
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import echo_records
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.kernel.settings import Project, find_project
from orgkernel.loading.formats import OURS
from orgkernel.loading.formats.listing import LeftOut
from orgkernel.project.requests import build_load_request
from orgkernel.snapshots.foreign_trees import ForeignSource, ReadSources, find_foreign_trees
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, format_relative_path, resolve_paths
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot

_ORGANIZATION = "organization"


class ListedTree(NamedTuple):
    """An organization, or a source of agents in another format."""

    org: str
    format: str
    roles: int
    agents: int
    skills: int
    path: str
    note: str = ""
    """A problem of the organization, or how to read it."""
    is_broken: bool = False


@click.command("list")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False))
@cache_option
@format_option("text", "json")
def command(folder: str | None, no_cache: bool, form: str) -> None:
    """List the organizations in DIR, and all sources of agents in other formats.

    By default, DIR is the paths in orgkernel.toml, or else the current folder. Sources are found at any depth, except in
    folders of dependencies and those that git ignores. An agent in another format is a role too.
    Notes name what was left out and why, sources that other commands do not read from there, organizations with the same
    id, and organizations with errors.

    Exits 0, 1 if nothing was found or an organization has errors, 2 if it cannot run.
    """
    project = find_project(os.getcwd())
    paths = () if folder is None else (folder,)
    request = build_load_request(project, os.getcwd(), paths)
    ours = _load_ours(paths, request, project, no_cache=no_cache)
    # A folder with nothing but sources was read as a whole. A single source can be read from a folder around it.
    is_read = folder is not None and request.detected and len(request.sources) > 1
    read = ReadSources(request.sources, request.left_out, ours) if is_read else None
    left_out: list[LeftOut] = []
    trees = [
        *_with_same_ids_noted(_list_ours(ours, project)),
        *_find_foreign(folder, request, project, ours, left_out, read),
    ]
    here = os.getcwd()
    skipped = [(format_relative_path(each.place, here), each.reason) for each in left_out]
    if form == "json":
        places = [{"path": place, "reason": reason} for place, reason in skipped]
        echo_indented({"trees": [_build_json(each) for each in trees], "left_out": places})
    else:
        if trees:
            echo_records(form, trees, _HEADINGS, lambda each: each[: len(_HEADINGS)])
        else:
            click.echo("there are no organizations here, and no agents in another format", err=True)
        for each in trees:
            if each.note:
                click.echo(printable(f"note: `{each.path}` {each.note}"), err=True)
        for place, reason in skipped:
            click.echo(printable(f"note: left out {quote(place)}: {reason}"), err=True)
    if not trees or any(each.is_broken for each in trees):
        raise click.exceptions.Exit(1)


_HEADINGS = ListedTree._fields[:6]


def _build_json(tree: ListedTree) -> dict[str, object]:
    listed: dict[str, object] = dict(zip(_HEADINGS, tree, strict=False))
    return listed | ({"note": tree.note} if tree.note else {})


def _load_ours(paths: Sequence[str], request: Request, project: Project, *, no_cache: bool) -> Snapshot:
    """Load the orgkernel documents at the paths. A request for other formats only has none, and is not read again."""
    if not request.detected or any(not root.areas and not root.context for root in request.roots):
        request = build_load_request(project, os.getcwd(), paths, OURS)
    loader = Loader(request, project.severities, find_cache(project, no_cache))
    snapshot = loader.load()
    save(loader)
    return snapshot


def _list_ours(ours: Snapshot, project: Project) -> Iterator[ListedTree]:
    """List each document of an organization, including unreadable ones and those with a duplicate id."""
    loaded = {each.records.document.name: each for each in ours.organizations.values()}
    listed = [
        each
        for each in ours.tree.documents
        if each.kind == _ORGANIZATION and not each.format and not each.context and not _is_compiled(each.path)
    ]
    for document in listed:
        snapshot = loaded.get(document.name)
        # If several have the same id, only one of them is loaded, with findings about the others.
        if snapshot is None or len(loaded) < len(listed):
            snapshot = _load_alone(document.path, project) or snapshot
        if snapshot is not None:
            yield _describe(snapshot, OURS)._replace(path=document.name)
    for broken in ours.tree.broken:
        if broken.kind == _ORGANIZATION and not _is_compiled(broken.path):
            yield ListedTree("", OURS, 0, 0, 0, broken.name, _say_errors(broken.name), is_broken=True)


def _is_compiled(path: str) -> bool:
    """Whether a document is the copy next to a compiled bundle of Agent-Zero that belongs to it."""
    folder, name = os.path.split(path)
    return name.endswith(".json") and os.path.isfile(os.path.join(folder, "bundles", name))


def _load_alone(path: str, project: Project) -> OrgSnapshot | None:
    """Load the organization of a document with a duplicate id. If they were loaded together, only one would be read."""
    loaded = Loader(resolve_paths((path,), os.getcwd(), read_as=OURS), project.severities).load()
    return next(iter(loaded.organizations.values()), None)


def _with_same_ids_noted(trees: Iterator[ListedTree]) -> Iterator[ListedTree]:
    listed = sorted(trees, key=lambda each: (each.path, each.org))
    times = Counter(each.org for each in listed)
    for each in listed:
        if each.org and times[each.org] > 1 and not each.is_broken:
            note = f"has the id {quote(each.org)}, the id of another organization here: choose one of the two with `--path`"
            yield each._replace(note=note)
        else:
            yield each


def _find_foreign(
    folder: str | None,
    request: Request,
    project: Project,
    ours: Snapshot,
    left_out: list[LeftOut],
    read_there: ReadSources | None,
) -> Iterator[ListedTree]:
    """List the sources in other formats below the folder, or the paths of the project."""
    # Files of orgkernel organizations can look like other formats: the skills in `skills/` do.
    homes = {
        os.path.dirname(os.path.realpath(each.records.document.path)) for each in ours.organizations.values()
    }
    near = tuple(
        os.path.join(each, "")
        for each in {*homes, *(os.path.join(os.path.dirname(home), "skills") for home in homes)}
    )
    paths = (os.path.realpath(each.located.path) for each in ours.tree.files if not each.located.root.areas)
    known = {path for path in paths if path.startswith(near)}
    here = os.getcwd()
    read = set(_read_from_here(request, ours))
    tops = [os.path.join(project.folder, each) for each in project.paths] if folder is None else [folder]
    noted: set[str] = set()
    for top in tops:
        trees = find_foreign_trees(os.path.abspath(top), here, project.severities, known, read_there)
        left_out += trees.left_out
        for source in trees.sources:
            place = format_relative_path(source.place, here)
            note = ""
            if (os.path.realpath(source.root), source.format) not in read:
                note = f"is not read from here: pass {_suggest_options(source, place)}"
            elif source.has_errors and source.org not in noted:
                noted.add(source.org)
                checked = shlex.quote(format_relative_path(os.path.abspath(top), here))
                note = f"belongs to {quote(source.org)}, which has errors: run `orgkernel check {checked}`"
            yield ListedTree(
                source.org,
                source.format,
                source.roles,
                source.roles,
                source.skills,
                place,
                note,
                is_broken=source.has_errors,
            )


def _read_from_here(request: Request, ours: Snapshot) -> Iterator[tuple[str, str]]:
    """The sources in other formats that other commands read: recognized ones, and those that organizations name."""
    for source in request.sources if request.detected else ():
        yield os.path.realpath(source.place), source.format
    for root in (*request.roots, *(each.located.root for each in ours.tree.files)):
        if root.format:
            yield os.path.realpath(root.path), root.format


def _suggest_options(source: ForeignSource, place: str) -> str:
    recognized = any(
        root.format == source.format
        for root in resolve_paths((source.place,), os.getcwd()).roots
        if root.areas
    )
    return f"`--path {shlex.quote(place)}{'' if recognized else f' --from {source.format}'}`"


def _describe(snapshot: OrgSnapshot, form: str) -> ListedTree:
    records = snapshot.records
    name = records.document.name
    note = _say_errors(name) if snapshot.has_errors else ""
    return ListedTree(
        snapshot.org_id, records.document.format or form, len(records.posts), len(records.agents), len(records.cognitive_skills),
        name, note,
        is_broken=snapshot.has_errors,
    )  # fmt: skip


def _say_errors(name: str) -> str:
    return f"has errors: run `orgkernel check {shlex.quote(os.path.dirname(name) or os.curdir)}`"
