"""Store what the hooks decide with, so the next calls need no start of the full program."""

from __future__ import annotations

import contextlib
import os
from fnmatch import translate
from math import inf
from typing import TYPE_CHECKING, Any, Final

from orgkernel.cli.stores import locate_current_store
from orgkernel.cli.work.ownership_audit import find_sacred_files
from orgkernel.cli.work.ownership_workers import BRIEF_FILE, list_named_briefs
from orgkernel.decisions.command_programs import build_programs
from orgkernel.decisions.ownership.held import list_agent_variables
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import FILE
from orgkernel.loading.files import SKIPPED_FOLDERS
from orgkernel.project.hooks.owned_files import LASTS, write_owned_files
from orgkernel.project.hooks.quick_answers import OWNED_FILES
from orgkernel.project.hooks.write_decision import WriteRules, pack_rules
from orgkernel.shell.catalog import read_shipped_programs
from orgkernel.version import __file__ as version_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orgkernel.decisions.ownership.owners import AuditedWorker
    from orgkernel.documents.records import CommitRules
    from orgkernel.kernel.kernel import Kernel

_COMMITS_LAST: Final = 8 * 3600.0
"""Seconds for which commits are decided by stored rules, if every folder in which a document could appear is watched."""
_MAX_FOLDERS: Final = 1_000
_SETTINGS: Final = (FILE, "pyproject.toml")


def build_write_rules(workers: tuple[AuditedWorker, ...], kernel: Kernel | None, root: str) -> WriteRules:
    """The rules for the first of the workers in a project."""
    programs = (
        read_shipped_programs()
        if kernel is None
        else build_programs(kernel.organization(ACTIVE).snapshot.records)
    )
    sacred = find_sacred_files(kernel, ACTIVE, root)
    return WriteRules(workers, sacred, programs, find_roles(kernel), _list_protected(kernel, root))


def _list_protected(kernel: Kernel | None, root: str) -> tuple[str, ...]:
    """The documents of the organization, the project file and the store, which decide what workers may do."""
    read = [] if kernel is None else [each.path for each in kernel.state.latest.tree.documents]
    store = locate_current_store(None).path
    top = os.path.realpath(root)
    files = (os.path.realpath(each) for each in (*read, FILE, *([store] if store else [])))
    return tuple(os.path.relpath(each, top) if each.startswith(top + os.sep) else each for each in files)


def find_roles(kernel: Kernel | None) -> tuple[str, ...]:
    """The roles of the holder that ORGKERNEL_HOLDER names."""
    from orgkernel.decisions.access.identity import identify  # which few calls need

    holder = os.environ.get("ORGKERNEL_HOLDER")
    if kernel is None or not holder:
        return ()
    identity = identify(kernel.access(ACTIVE).view, holder)
    return () if identity is None else identity.roles


def store_rules(rules: WriteRules, kernel: Kernel | None, root: str, until: float) -> None:
    """Store the rules for a worker. If this fails, the next hook starts the full program again."""
    worker, *others = rules.workers
    if any(True for _ in rules.sacred.find_unreadable()):
        return
    held = [
        *rules.sacred.list_withheld(worker.brief),
        *(path for each in others for path in each.brief.files_owned),
        *rules.protected,
    ]
    _store(kernel, root, worker.brief.files_owned, held, pack_rules(rules), until, None)


def store_commit_rules(people: CommitRules, kernel: Kernel, root: str) -> None:
    """Store who may commit without a brief."""
    variables = list_agent_variables() if people.agent_variables is None else people.agent_variables
    authors = [translate(each.casefold()) for each in people.agent_authors]
    values = {"variables": list(variables), "authors": authors}
    _store(kernel, root, (), (), None, inf, values)


def _store(
    kernel: Kernel | None,
    root: str,
    owned: Sequence[str],
    held: Sequence[str],
    rules: dict[str, Any] | None,
    until: float,
    people: dict[str, Any] | None,
) -> None:
    store = locate_current_store(None)
    if not store.path or not os.path.isdir(os.path.dirname(OWNED_FILES)):
        return
    read = (
        [] if kernel is None else [os.path.abspath(each.path) for each in kernel.state.latest.tree.documents]
    )
    watched = {
        root, *list_named_briefs(), BRIEF_FILE, *_SETTINGS, store.path, f"{store.path}-wal", *read, *map(os.path.dirname, read),
    }  # fmt: skip
    folders = _list_folders([root] if kernel is None else kernel.watched)
    lasts = LASTS if folders is None else _COMMITS_LAST
    files = sorted(map(os.path.abspath, [*watched, version_file, *_list_settings(root), *(folders or ())]))
    with contextlib.suppress(OSError):
        write_owned_files(root, owned, held, files, rules, until, people, lasts)


def _list_settings(root: str) -> list[str]:
    """The files above a folder that could be the settings of its project."""
    above, folder = [], root
    while (parent := os.path.dirname(folder)) != folder:
        above += [os.path.join(parent, name) for name in _SETTINGS]
        folder = parent
    return above


def _list_folders(paths: Sequence[str]) -> list[str] | None:
    """The paths and every folder below them that is searched for documents. None if they are too many, or a link leads to one."""
    folders: list[str] = []
    for path in paths:
        folders.append(path)
        for folder, below, _ in os.walk(path):
            below[:] = [each for each in below if each not in SKIPPED_FOLDERS and each[0] != "."]
            folders += (os.path.join(folder, each) for each in below)
            if len(folders) > _MAX_FOLDERS or any(map(os.path.islink, folders)):
                return None
    return folders
