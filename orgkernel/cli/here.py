"""What the current folder means: its organization, and the links of its project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.settings import Project
    from orgkernel.snapshots.roots import Request


def links_of(project: Project) -> list[str]:
    """The files and folders outside its paths that links of a project may lead to, in full."""
    return [os.path.join(project.folder, os.path.expanduser(link)) for link in project.links]


def find_request(paths: Sequence[str], project: Project, read_as: str | None = None) -> Request:
    """What to read: the given paths, or else those of the project."""
    from orgkernel.kernel.settings import find_top
    from orgkernel.snapshots.roots import resolve_paths  # slow to import for what only completes

    here = os.getcwd()
    top = find_top(project)
    if paths:
        return resolve_paths(paths, here, links=links_of(project), read_as=read_as, sources_in=top)
    return resolve_paths(
        project.paths,
        project.folder,
        shown_from=here,
        links=project.links,
        top=top,
        read_as=read_as,
        sources_in=top,
    )


def organization_here(kernel: Kernel) -> str | None:
    """The organization in whose folder the user stands; None if there is none, or more than one."""
    folders: dict[str, list[str]] = {}
    for org_id, each in kernel.state.latest.organizations.items():
        path = kernel.state.latest.tree.paths.get(each.records.document.name, each.records.document.path)
        folders.setdefault(os.path.realpath(os.path.dirname(path)), []).append(org_id)
    folder = os.path.realpath(os.getcwd())
    while folder not in folders:
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folders[folder][0] if len(folders[folder]) == 1 else None
