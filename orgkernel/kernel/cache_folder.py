"""Open the cache of a project: the folder in its settings, or else the user's own cache folder, and the user's secret.

A folder in the settings could be shipped with the documents, so its entries are not trusted by themselves. Entries are
signed with a secret in the user's own folder, and a cache inside the checked tree is not used in continuous integration.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from orgkernel.kernel.settings import Project
from orgkernel.loading.cache import Cache, is_trusted
from orgkernel.private_files import make_once
from orgkernel.runtime.regular_files import open_regular

_NAME = "orgkernel"
_SECRET = "cache.secret"
_SECRET_BYTES = 32


def open_cache(
    project: Project, environment: Mapping[str, str], *, create: bool = True
) -> tuple[Cache | None, str]:
    """The cache of a project, or None, and the reason why a configured cache is not used (empty if it is).

    Without `create`, a missing secret is not created, and no entry of the cache can be read.
    """
    folder = find_cache_folder(project, environment)
    if folder is None:
        return None, ""
    if isinstance(project.cache, str) and _is_ci(environment) and _is_in_tree(folder, project.folder):
        return None, f"the cache {folder} is not used: it is in the checked tree, and `CI` is set"
    own = _find_own_folder(environment)
    if own is None:
        return None, f"the cache {folder} is not used: without `HOME` there is no place for its secret"
    try:
        is_missing = not create and not os.path.lexists(os.path.join(own, _SECRET))
        secret = b"" if is_missing else _read_secret(own)
    except OSError as error:
        # If the user's own folder cannot be written, the cache reports it.
        if folder == own:
            return Cache(folder), ""
        reason = (error.strerror or str(error)).lower()
        return None, f"the cache {folder} is not used: its secret in {own} cannot be used: {reason}"
    return Cache(folder, secret=secret), ""


def find_cache_folder(project: Project, environment: Mapping[str, str]) -> str | None:
    """The folder from the settings, `$XDG_CACHE_HOME` or `$HOME`; None if the cache is off or has no location.

    By default it is outside of the documents, so asking a question does not change a repository.
    """
    if project.cache is False:
        return None
    if isinstance(project.cache, str):
        return os.path.join(project.folder, os.path.expanduser(project.cache))
    return _find_own_folder(environment)


def _find_own_folder(environment: Mapping[str, str]) -> str | None:
    home = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # the XDG specification requires ignoring a relative path
        home = os.path.join(environment.get("HOME", ""), ".cache")
    return os.path.join(home, _NAME) if os.path.isabs(home) else None


def _is_ci(environment: Mapping[str, str]) -> bool:
    return environment.get("CI", "").lower() not in ("", "0", "false", "no")


def _is_in_tree(folder: str, project: str) -> bool:
    """Whether a folder is in the project, in the repository around it, or in the current folder."""
    real = os.path.realpath(folder)
    tops = {os.path.realpath(project), os.path.realpath(os.getcwd())}
    tops |= {top for each in tuple(tops) if (top := _find_repository(each))}
    return any(os.path.join(real, "").startswith(os.path.join(top, "")) for top in tops)


def _find_repository(folder: str) -> str | None:
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, inner = os.path.dirname(folder), folder
        if folder == inner:
            return None
    return folder


def _read_secret(own_folder: str) -> bytes:
    """The secret in the user's own folder, created at the first use. Raises OSError."""
    path = os.path.join(own_folder, _SECRET)
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError), open_regular(path, follow=False) as file:
            secret = file.read(_SECRET_BYTES + 1)
            is_safe = is_trusted(os.fstat(file.fileno())) and is_trusted(os.stat(own_folder))
            if not is_safe or len(secret) != _SECRET_BYTES:
                raise PermissionError(f"{path} is damaged, or other users can write to it")
            return secret
        os.makedirs(own_folder, mode=0o700, exist_ok=True)
        make_once(path, f"{path}.{os.urandom(8).hex()}.new", os.urandom(_SECRET_BYTES))
    raise FileNotFoundError(f"{path} cannot be created")
