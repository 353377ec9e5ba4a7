"""What commands share: which paths to read, and the kernel over them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from orgkernel.errors import NothingToRead
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.project import Project, find_project
from orgkernel.kernel.roots import Request, resolve_paths, shipped_request
from orgkernel.kernel.shipped import template_names

org_option = click.option("--org", required=True, metavar="ORG", help="Organisation, or `active`.")
path_option = click.option(
    "--path", "paths", multiple=True, metavar="PATH",
    help="File or folder to read; repeatable. Default: the paths of orgkernel.toml, else the current folder.",
)  # fmt: skip


def format_option(*formats: str) -> Callable[[Any], Any]:
    """`--format`, the first one by default."""
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], show_default=True)


def request_of(paths: tuple[str, ...], project: Project) -> Request:
    """What to read: the paths named, else those of the project."""
    here = os.getcwd()
    if paths:
        return resolve_paths(paths, here)
    return resolve_paths(project.paths, project.folder, shown_from=here)


def open_kernel(paths: tuple[str, ...], org: str | None = None, active: str | None = None) -> Kernel:
    """The kernel over some paths.

    Without a path, an organisation that is not found where one stands is taken from the templates, and that is said.
    """
    project = find_project(os.getcwd())
    active = active or project.active
    kernel = Kernel(request_of(paths, project), active=active, severities=project.severities)
    known = kernel.state.served.keys() | kernel.state.refused.keys()
    if not paths and org not in known and org in template_names():
        click.echo(f"note: no organization `{org}` here, answering from the template of that name", err=True)
        return Kernel(shipped_request(), active=active, severities=project.severities)
    if not kernel.state.latest.read_anything:
        raise NothingToRead(
            "there are no documents here", "name some with `--path`, or start with `orgkernel new DIR`"
        )
    return kernel
