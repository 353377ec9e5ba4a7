"""The files that a tool of a coding agent is about to write, from the tool calls that Claude Code gives its hooks.

For a link, both its path and its target are checked. The files that a shell command would write are read from its words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from orgkernel.decisions.ownership.changes import ChangedFiles, FileChange, RangeCommit
from orgkernel.decisions.work.contracts.command_permission import CommandPermission, permit_checked
from orgkernel.errors import UsageError
from orgkernel.project.hooks.bypasses import find_bypasses
from orgkernel.runtime.paths import fold
from orgkernel.shell.catalog import CommandPrograms
from orgkernel.shell.check import check_writes
from orgkernel.shell.marks import GLOB, HOME, ONE, PRIVATE, ROOT, shown
from orgkernel.shell.ownership import Ground

if TYPE_CHECKING:
    from orgkernel.documents.records import Brief

_PATH_OF: Final = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
READING_TOOLS: Final = {"Read": ("file_path",), "NotebookRead": ("notebook_path",), "Grep": ("path", "glob")}
"""The arguments of tools that only read with the files that they read."""
_MAX_ENTRIES: Final = 5_000
"""Number of files below a folder that are looked at."""
# A file of unknown name in a folder.
_ANY_NAME: Final = "0any0name0"
# Of a package manifest.
_MAX_BYTES: Final = 16 * 1024 * 1024


class PlannedWrites(NamedTuple):
    """The files that a tool is about to write."""

    changed: ChangedFiles
    outside: tuple[str, ...] = ()
    """Paths outside the project."""
    unseen: tuple[str, ...] = ()
    """Why there could be more writes than these."""
    command: CommandPermission | None = None
    """What the reader of shell commands knows about a command."""
    bypasses: tuple[str, ...] = ()
    """What a command does around the hooks."""
    read: tuple[str, ...] = ()
    """Paths whose content the call may print, copy or send: relative to the root inside the project, otherwise absolute."""


def read_tool_call(
    call: Mapping[str, Any],
    root: str,
    owned: Sequence[str],
    brief: Brief | None,
    programs: CommandPrograms | None = None,
) -> PlannedWrites:
    """Find the writes of a call. Raises `UsageError` for a call that cannot be understood.

    `programs` are those that the organization knows, by default the shipped ones.
    """
    name, given = call.get("tool_name"), call.get("tool_input")
    if not isinstance(name, str) or not isinstance(given, dict):
        raise UsageError("the tool call has no `tool_name` or no `tool_input`")
    folder = call.get("cwd")
    folder = folder if isinstance(folder, str) and os.path.isabs(folder) else root
    if name == "Bash":
        return _read_command(given.get("command"), folder, root, owned, brief, programs)
    if name in READING_TOOLS:
        stated = [given[each] for each in READING_TOOLS[name] if isinstance(given.get(each), str)]
        return PlannedWrites(ChangedFiles(), read=tuple(_list_read(stated, folder, root)))
    path = given.get(_PATH_OF.get(name, ""))
    if not isinstance(path, str) or not path or "\0" in path:
        raise UsageError(f"the file that tool `{name}` writes is unknown")
    paths, outside = _list_paths(os.path.join(folder, path), root)
    files = tuple(_build_change(each, root, given) for each in paths)
    return PlannedWrites(_build_changed_files(files), (path,) if outside else ())


def _read_command(
    command: object,
    folder: str,
    root: str,
    owned: Sequence[str],
    brief: Brief | None,
    programs: CommandPrograms | None,
) -> PlannedWrites:
    if not isinstance(command, str):
        raise UsageError("the call of `Bash` has no `command`")
    ground = Ground(
        root=folder, own=tuple(each if each.startswith("/") else f"{root}/{each}" for each in owned)
    )
    files: dict[str, FileChange] = {}
    outside: list[str] = []
    unseen: list[str] = []
    writes, command_check = check_writes(command, ground, programs)
    unseen += [f"the files that `{os.path.basename(each)}` writes are unknown" for each in writes.unseen]
    for manifest in writes.unnamed:
        # Its new text is unknown, so its dependencies are treated as changed.
        at = os.path.relpath(os.path.join(folder, manifest), root).replace(os.sep, "/")
        files.setdefault(at, FileChange(path=at, change="modified"))
    for path, whose in writes.touched:
        if whose == "temporary":
            continue
        names = _expand(os.path.join(folder, path))
        if names is None:
            unseen.append(f"the file that `{shown(path)}` stands for is unknown")
        for name in names or ():
            paths, is_outside = _list_paths(name, root)
            if is_outside:
                outside.append(name)
            for each in paths:
                is_folder = os.path.isdir(os.path.join(root, each))
                at = f"{each}/{_ANY_NAME}" if is_folder else each
                files[at] = _build_change(at, root, {})
    permission = permit_checked(command_check, command, brief)
    unseen += [each.message for each in permission.unread]
    has_hidden = "dotglob" in command or "GLOB_DOTS" in command
    opened = [each for path in writes.opened for each in _expand_read(path, folder, has_hidden)]
    trees = [each for path in writes.opened_trees for each in _expand_read(path, folder, has_hidden)]
    read = (*_list_read(opened, folder, root), *(each for path in trees for each in _walk_tree(path, root)))
    return PlannedWrites(
        _build_changed_files(tuple(files.values())),
        tuple(outside),
        tuple(unseen),
        permission,
        tuple(dict.fromkeys(find_bypasses(command, writes.programs))),
        tuple(dict.fromkeys(read)),
    )


def _expand_read(path: str, folder: str, has_hidden: bool) -> list[str]:
    """The files that a word stands for, as the shell expands it. A word that only the running command knows stands for none."""
    from glob import glob

    path = os.path.expanduser(path.replace(HOME, "~")).replace(ROOT, folder)
    pattern = os.path.join(folder, path.replace(GLOB, "*").replace(ONE, "?"))
    if PRIVATE.search(pattern) or "\0" in pattern:
        return []
    named = os.path.join(folder, path)
    if pattern == named:
        return [named]
    # The text of the pattern counts, too: a link or a new file could have a name that it matches.
    return [pattern, *glob(pattern, include_hidden=has_hidden)]


def _list_read(paths: Sequence[str], folder: str, root: str) -> Iterator[str]:
    for path in paths:
        if path.startswith("/proc/"):
            yield path  # a link there leads to another file for each process
            continue
        inside, outside = _list_paths(os.path.join(folder, os.path.expanduser(path)), root)
        yield from inside
        if outside:
            yield from (
                os.path.normpath(os.path.join(folder, path)),
                os.path.realpath(os.path.join(folder, path)),
            )


def _walk_tree(folder: str, root: str) -> Iterator[str]:
    """The files below a folder, up to a limit."""
    count = 0
    for above, _, names in os.walk(folder):
        for name in names:
            count += 1
            if count > _MAX_ENTRIES:
                return
            yield os.path.relpath(os.path.join(above, name), root).replace(os.sep, "/")


def _expand(path: str) -> list[str] | None:
    """The paths that a word stands for; None if only the running command knows them."""
    pattern = path.replace(GLOB, "*").replace(ONE, "?")
    if PRIVATE.search(pattern):
        return None
    if pattern == path:
        return [path]
    from glob import glob

    return glob(pattern, include_hidden=True)


def _list_paths(path: str, root: str) -> tuple[list[str], bool]:
    """The paths relative to the root that a path stands for, with links followed, and whether one is outside the project."""
    top, inside, outside = os.path.realpath(root), [], False
    for each, start in ((os.path.normpath(path), root), (os.path.realpath(path), top)):
        relative = os.path.relpath(each, start)
        if relative == os.pardir or relative.startswith(os.pardir + os.sep) or os.path.isabs(relative):
            # A path that is outside the project as written can be inside it by its real name.
            real = os.path.relpath(each, top)
            if real == os.pardir or real.startswith(os.pardir + os.sep):
                outside = True
                continue
            relative = real
        inside.append(relative.replace(os.sep, "/"))
    return list(dict.fromkeys(inside)), outside


def _build_change(path: str, root: str, given: Mapping[str, Any]) -> FileChange:
    where = os.path.join(root, path)
    exists = os.path.lexists(where)
    before = after = None
    from orgkernel.decisions.ownership.dependency_blocks import has_dependency_block

    if has_dependency_block(tuple(map(fold, path.split("/")))):
        before = _read_text(where) if exists else None
        after = _compute_text_after(before, given)
    return FileChange(
        path=path, change="modified" if exists else "added", before_text=before, after_text=after
    )


def _read_text(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _compute_text_after(before: str | None, given: Mapping[str, Any]) -> str | None:
    """The future text of a file; None if it is unknown."""
    content = given.get("content")
    if isinstance(content, str):
        return content
    edits = given.get("edits", [given])
    for edit in edits if isinstance(edits, list) else [None]:
        if not isinstance(edit, dict):
            return None
        old, new = edit.get("old_string"), edit.get("new_string")
        if (
            before is None
            or not isinstance(old, str)
            or not isinstance(new, str)
            or not old
            or old not in before
        ):
            return None
        before = before.replace(old, new) if edit.get("replace_all") else before.replace(old, new, 1)
    return before


def _build_changed_files(files: tuple[FileChange, ...]) -> ChangedFiles:
    return ChangedFiles(files=files, commits=(RangeCommit(id="", paths=tuple(each.path for each in files)),))
