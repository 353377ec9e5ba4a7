"""Install orgkernel's hooks into a git repository, keep the existing ones, and uninstall without a trace."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.project.git.process import first_line, run_git
from orgkernel.project.git.tree import find_repository
from orgkernel.project.replacing import BEFORE_US, replace_file

NAMES: Final = ("pre-commit", "commit-msg", "pre-push")
_SCRIPT: Final = os.path.join(os.path.dirname(__file__), "commit_hook.py")
"""The script that decides quickly about commits. The hook of pushes starts the full program."""
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
if [ ! -x {python} ] || [ ! -f {script} ]; then
    echo "orgkernel: {name}: the Python that checks the ownership of files is gone, so nothing passes; run" >&2
    echo "    orgkernel ownership install-hooks" >&2
    exit 1
fi
if [ {name} != pre-push ]; then exec {python} -I -S {script} {name} "$@" < /dev/null; fi
printf '%s' "$input" | {python} -P -c 'from orgkernel.cli import main; main()' ownership hook {name} -- "$@"
"""
_BLOCK_BEGIN: Final = (
    "# orgkernel: begin (`orgkernel ownership install-hooks --uninstall` takes this block out)"
)
_BLOCK_END: Final = "# orgkernel: end"
_BLOCK: Final = """{begin}
if command -v orgkernel > /dev/null; then
    orgkernel_input=""
    if [ {name} = pre-push ]; then orgkernel_input=$(cat); fi
    printf '%s\\n' "$orgkernel_input" | orgkernel ownership hook {name} -- "$@" || exit 1
    if [ {name} = pre-push ]; then
        exec << ORGKERNEL_INPUT
$orgkernel_input
ORGKERNEL_INPUT
    fi
elif [ -n "$ORGKERNEL_BRIEF$ORGKERNEL_HOLDER$CLAUDECODE" ] || [ -f .orgkernel/brief.yaml ]; then
    echo "orgkernel: {name}: orgkernel is not on the path of programs, so nothing passes" >&2
    exit 1
fi
{end}
"""
"""The block in a script that is shared with people who have no orgkernel. A worker is refused without it."""


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
    """Write the hooks. An existing hook is kept and runs first. Returns the paths that were written.

    Each installation of packages recreates the folder of husky. So orgkernel adds a block to the tracked scripts
    next to this folder.
    """
    if (scripts := _find_husky(folder)) is not None:
        return tuple(each for each in (_add_block(scripts, name) for name in NAMES) if each)
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
    if (scripts := _find_husky(folder)) is not None:
        return tuple(each for each in (_remove_block(scripts, name) for name in NAMES) if each)
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


def find_hook_notes(path: str) -> Iterator[str]:
    """What else runs hooks in a repository, or has none of these: the pre-commit framework, and submodules."""
    folder = find_repository(path).folder
    if any(
        os.path.isfile(os.path.join(folder, f".pre-commit-config.{ending}")) for ending in ("yaml", "yml")
    ):
        yield (
            "`pre-commit install --overwrite` removes these hooks; to keep them, add a local hook with the entry "
            "`orgkernel ownership hook pre-commit` to .pre-commit-config.yaml (docs/ownership-hooks.md)"
        )
    modules = _ask(folder, "config", "--file", ".gitmodules", "--get-regexp", r"\.path$")
    for line in modules.splitlines():
        name = line.partition(" ")[2]
        yield f"submodule {quote(name)} has hooks of its own; run `orgkernel ownership install-hooks {name}` too"


def _find_husky(folder: str) -> str | None:
    """The folder of the tracked scripts of husky, if the hooks are husky's; else None."""
    above, name = os.path.split(folder)
    if name == "_" and os.path.basename(above) == ".husky":
        return above
    return folder if name == ".husky" else None


def _add_block(folder: str, name: str) -> str:
    """Add the block to a script of husky. Returns its path, empty if the block is there."""
    path = os.path.join(folder, name)
    before = _read(path).decode("utf-8", "surrogateescape") if os.path.isfile(path) else ""
    block = _BLOCK.format(begin=_BLOCK_BEGIN, end=_BLOCK_END, name=name)
    if block in before:
        return ""
    rest = _take_block_out(before)
    # The scripts of earlier versions begin with lines for the shell and for husky.
    lines = rest.splitlines(keepends=True)
    start = next(
        (number for number, line in enumerate(lines) if not line.startswith(("#!", ". "))), len(lines)
    )
    _replace_script(path, "".join([*lines[:start], block, *lines[start:]]))
    return path


def _remove_block(folder: str, name: str) -> str:
    """Take the block out of a script of husky. Returns its path, empty if there is none."""
    path = os.path.join(folder, name)
    before = _read(path).decode("utf-8", "surrogateescape") if os.path.isfile(path) else ""
    rest = _take_block_out(before)
    if rest == before:
        return ""
    if rest.strip():
        _replace_script(path, rest)
    else:
        os.unlink(path)
    return path


def _take_block_out(text: str) -> str:
    before, begin, rest = text.partition(f"{_BLOCK_BEGIN}\n")
    _, end, after = rest.partition(f"{_BLOCK_END}\n")
    return before + after if begin and end else text


def _replace_script(path: str, text: str) -> None:
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o755
    replace_file(path, text.encode("utf-8", "surrogateescape"))
    os.chmod(path, mode)


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
    python, script = shlex.quote(sys.executable), shlex.quote(_SCRIPT)
    return _TEMPLATE.format(mark=_MARK, before=BEFORE_US, name=name, python=python, script=script).encode()


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
