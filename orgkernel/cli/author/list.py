"""`orgkernel list`: which organizations are here, and which agents in the formats of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import click

from orgkernel.cli.opening import cache_of, cache_option, format_option, save
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import echo_records
from orgkernel.kernel.settings import Project, find_project
from orgkernel.loading.formats import OURS
from orgkernel.project.requests import request_of
from orgkernel.snapshots.foreign_trees import find_foreign_trees
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths, shown
from orgkernel.snapshots.snapshot import Snapshot


class ListedTree(NamedTuple):
    """An organization, or a folder of others that is read as one."""

    org: str
    format: str
    roles: int
    agents: int
    path: str


@click.command("list")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False))
@cache_option
@format_option("text", "json")
def command(folder: str | None, no_cache: bool, form: str) -> None:
    """List the organizations in DIR, and the folders of agents in the formats of others, which are read as organizations.

    DIR is by default what orgkernel.toml names, or else the current folder. An agent of others counts as a role.

    Exits 0, 1 if there is nothing, 2 if it cannot run.
    """
    project = find_project(os.getcwd())
    ours = _load_ours(folder, project, no_cache=no_cache)
    trees = [*_listed(ours, OURS), *_find_foreign(folder, project, ours)]
    if form == "json":
        echo_indented({"trees": [each._asdict() for each in trees]})
    elif trees:
        echo_records(form, trees, ListedTree._fields, lambda each: each)
    else:
        click.echo("there are no organizations here, and no agents in another format", err=True)
    if not trees:
        raise click.exceptions.Exit(1)


def _load_ours(folder: str | None, project: Project, *, no_cache: bool) -> Snapshot:
    request = request_of(project, os.getcwd(), () if folder is None else (folder,), OURS)
    loader = Loader(request, project.severities, cache_of(project, no_cache))
    snapshot = loader.load()
    save(loader)
    return snapshot


def _find_foreign(folder: str | None, project: Project, ours: Snapshot) -> Iterator[ListedTree]:
    # Files of our organizations may look like those of others: the skills in `skills/` do.
    known = {os.path.realpath(each.located.path) for each in ours.tree.files if not each.located.root.areas}
    here = os.getcwd()
    tops = [os.path.join(project.folder, each) for each in project.paths] if folder is None else [folder]
    for top in tops:
        for tree in find_foreign_trees(os.path.abspath(top), known):
            request = resolve_paths((tree.folder,), here, read_as=tree.format)
            snapshot = Loader(request, project.severities).load()
            place = shown(tree.folder, here)
            listed = [each._replace(path=place) for each in _listed(snapshot, tree.format)]
            yield from listed or [ListedTree("", tree.format, 0, 0, place)]


def _listed(snapshot: Snapshot, form: str) -> Iterator[ListedTree]:
    for org_id, each in snapshot.organizations.items():
        if (each.records.document.format or OURS) == form:
            roles, agents = len(each.records.posts), len(each.records.agents)
            yield ListedTree(org_id, form, roles, agents, each.records.document.name)
