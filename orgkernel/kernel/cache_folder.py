"""Where the cache of a project lies: the folder its settings name, else one of the user's own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orgkernel.kernel.settings import Project

_NAME = "orgkernel"


def find_cache_folder(project: Project, environment: Mapping[str, str]) -> str | None:
    """The folder, by the settings, `$XDG_CACHE_HOME` or `$HOME`; None where the cache is off or has no place.

    It is not put among the documents unless a project says so: asking a question leaves a repository as it was.
    """
    if project.cache is False:
        return None
    if isinstance(project.cache, str):
        return os.path.join(project.folder, os.path.expanduser(project.cache))
    home = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # the specification of base directories: ignore it then
        home = os.path.join(environment.get("HOME", ""), ".cache")
    return os.path.join(home, _NAME) if os.path.isabs(home) else None
