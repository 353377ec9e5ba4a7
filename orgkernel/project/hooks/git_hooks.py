"""Install orgkernel's hooks into a git repository, keep the existing ones, and uninstall without a trace."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.project.git.process import first_line, run_git
from orgkernel.project.git.tree import find_repository
from orgkernel.project.replacing import BEFORE_US, replace_file

NAMES: Final = ("pre-commit", "pre-push")
_MARK: Final = "# Installed by `orgkernel ownership install-hooks`; `--uninstall` takes it out again."
_MARKS: Final = (_MARK, _MARK.replace("ownership", "scope"))
"""Installing again replaces a hook from before the command was renamed. Until then, that hook refuses and says why."""
_TEMPLATE: Final = """#!/bin/sh
{mark}
previous="$0{before}"
input=""
if [ {name} = pre-push ]; then input=$(cat; echo .); input=${{input%.}}; fi
run_previous() {{
    first=""
    IFS= read -r first < "$previous"
    # A shell script may look at the name it was called by.
    case "$first" in
    '#!/bin/sh' | '#!/usr/bin/env sh') sh -c 'it=$1; shift; . "$it"' "$0" "$previous" "$@" ;;
    '#!/bin/bash' | '#!/usr/bin/env bash') bash -c 'it=$1; shift; . "$it"' "$0" "$previous" "$@" ;;
    *) "$previous" "$@" ;;
    esac
}}
if [ -x "$previous" ]; then
    printf '%s' "$input" | run_previous "$@" || exit $?
fi
if [ ! -x {python} ]; then
    echo "orgkernel: {name}: the Python that checks the ownership of files is gone, so nothing passes; run" >&2
    echo "    orgkernel ownership install-hooks" >&2
    exit 1
fi
printf '%s' "$input" | {python} -P -c 'from orgkernel.cli import main; main()' ownership hook {name} -- "$@"
"""


def find_hooks_folder(path: str) -> str:
    """Find the folder of a repository's hooks, including with `core.hooksPath` and in a linked work tree.

    Raises `UsageError` if other repositories use the same folder.
    """
    if not os.path.isdir(path):
        raise UsageError(f"{quote(path)} is not a folder", "pass a folder in a git repository")
    folder = find_repository(
        path, remedy="run `git init` there first, or name a folder in a repository"
    ).folder
    scope = _ask(folder, "config", "--show-scope", "--get", "core.hooksPath").partition("\t")[0]
    # A hook there would check every repository of the user against the owners of this one.
    if scope in ("global", "system"):
        raise UsageError(
            "`core.hooksPath` is set for all repositories, so the hooks would run in all of them",
            "set it for this repository first: `git config core.hooksPath .git/hooks`",
        )
    hooks_path = _ask(folder, "rev-parse", "--git-path", "hooks")
    if not hooks_path:
        raise UsageError(f"git reports no folder for the hooks of {quote(folder)}")
    return os.path.normpath(os.path.join(folder, os.path.expanduser(hooks_path)))


def install_hooks(folder: str) -> tuple[str, ...]:
    """Write the hooks. An existing hook is kept and runs first. Returns the paths that were written."""
    hooks = {name: _render_hook(name) for name in NAMES}
    # Before anything is written: a second rename would overwrite the only copy of the hook that was there first.
    _require_room(folder)
    os.makedirs(folder, exist_ok=True)
    written: list[str] = []
    for name, content in hooks.items():
        path = os.path.join(folder, name)
        if _is_ours(path):
            if _read(path) == content:
                continue
        elif os.path.lexists(path):
            os.rename(path, path + BEFORE_US)
        replace_file(path, content)
        os.chmod(path, 0o755)
        written.append(path)
    return tuple(written)


def uninstall_hooks(folder: str) -> tuple[str, ...]:
    """Remove the hooks and restore the earlier ones. Returns the paths that were changed."""
    changed: list[str] = []
    for name in NAMES:
        path = os.path.join(folder, name)
        if not _is_ours(path):
            continue
        if os.path.lexists(path + BEFORE_US):
            os.replace(path + BEFORE_US, path)
        else:
            os.unlink(path)
        changed.append(path)
    return tuple(changed)


def _require_room(folder: str) -> None:
    """Raise `UsageError` if another program replaced a hook of orgkernel while an earlier hook is still kept."""
    for name in NAMES:
        path = os.path.join(folder, name)
        if os.path.lexists(path) and not _is_ours(path) and os.path.lexists(path + BEFORE_US):
            raise UsageError(
                f"{quote(path)} was replaced by another program, and {quote(path + BEFORE_US)} is still there",
                "make one hook of both, and delete the second file",
            )


def _render_hook(name: str) -> bytes:
    python = shlex.quote(sys.executable)
    return _TEMPLATE.format(mark=_MARK, before=BEFORE_US, name=name, python=python).encode()


def _is_ours(path: str) -> bool:
    # A link leads to a file that another program maintains. It is kept, and never rewritten through the link.
    if not os.path.isfile(path) or os.path.islink(path):
        return False
    content = _read(path)
    return any(each.encode() in content for each in _MARKS)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _ask(folder: str, *arguments: str) -> str:
    """Run git with the user's settings, because these can set the folder of hooks."""
    done = run_git(folder, *arguments, as_user=True)
    if done.returncode > 1:
        raise UsageError("git cannot read its settings", first_line(done.stderr))
    return os.fsdecode(done.stdout).removesuffix("\n")
