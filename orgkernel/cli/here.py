"""Find the project and the organization of the current folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.settings import Project
    from orgkernel.snapshots.roots import Request


def find_request(paths: Sequence[str], project: Project, read_as: str | None = None) -> Request:
    """Build the request for the given paths, or else for the paths of the project."""
    from orgkernel.project.requests import build_load_request  # slow to import, which completion need not do

    return build_load_request(project, os.getcwd(), paths, read_as)


def find_organization_here(kernel: Kernel) -> str | None:
    """The organization whose folder is the current one; None if there is none or more than one."""
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
