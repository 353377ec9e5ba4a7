"""The files to read for a project: its paths, where links are allowed to lead, and where sources can be."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.kernel.settings import Project, find_top
from orgkernel.snapshots.roots import Request, resolve_paths


def build_load_request(
    project: Project, here: str, paths: Sequence[str] = (), read_as: str | None = None
) -> Request:
    """The files to read: the given paths, relative to `here`, or else the paths of the project."""
    top = find_top(project)
    if paths:
        return resolve_paths(paths, here, links=project.full_links, read_as=read_as, sources_in=top)
    return resolve_paths(
        project.paths,
        project.folder,
        shown_from=here,
        links=project.full_links,
        top=top or project.folder,
        read_as=read_as,
        sources_in=top,
    )
