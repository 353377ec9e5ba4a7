"""The answers that the hooks of git give without starting the full program: only that a commit is allowed.

They use what the full program stored (`quick_answers`). Everything else is left to the full program: what it would refuse, because
it explains that, and what is unusual, such as a merge, a link, a package manifest, or a name that a shell could read in another way.
"""

from __future__ import annotations

import os
import re
import time

from orgkernel.engines import is_on
from orgkernel.project.git.isolation import build_git_command, build_git_environment
from orgkernel.project.hooks.messages import cut_message
from orgkernel.project.hooks.quick_answers import (
    is_plainly_owned,
    list_own_variables,
    read_stored,
    start_lightly,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NO_FILE = "000000"
_REGULAR = ("100644", "100755", _NO_FILE)
_CHANGES = ("A", "M", "D")


def is_allowed(hook: str, arguments: list[str], package: str) -> bool:
    """Whether a commit (`pre-commit`) or its message (`commit-msg`) is surely allowed. False if the full program has to decide.

    `package` is the folder of orgkernel.
    """
    try:
        if not is_on("light_start"):
            return False
        start_lightly(package)
        return _is_commit_allowed(os.getcwd()) if hook == "pre-commit" else _is_message_allowed(*arguments)
    except Exception:
        # Whatever is strange is decided by the full program, which explains it.
        return False


def _is_message_allowed(path: str) -> bool:
    """Whether the message in a file has no secret, and names no brief."""
    from orgkernel.project.git.patches import find_in_text

    with open(path, encoding="utf-8", errors="replace") as file:
        message = cut_message(file.read())
    names_brief = re.search(r"(?im)^brief\s*:", message) is not None
    return not names_brief and not any(True for _ in find_in_text(message))


def _is_commit_allowed(root: str) -> bool:
    from orgkernel.project.git.patches import find_in_patch

    stored = read_stored(root)
    if stored is None or not _is_current(stored) or _is_merge(root):
        return False
    # The raw entries of the changes, an empty line, and the patch.
    entries, _, patch = _read_staged().partition(b"\n\n")
    people: dict[str, Any] | None = stored["people"]
    if people is None:
        paths = [_read_path(line) for line in entries.decode().splitlines()]
        if not all(path is not None and is_plainly_owned(path, stored) for path in paths):
            return False
    elif _is_held(people):
        return False
    return not any(True for _ in find_in_patch(patch))


def _is_current(stored: dict[str, Any]) -> bool:
    """Whether stored rules decide a commit. They last longer than those for tool calls, if all that could change them is watched."""
    is_in_time: bool = stored["since"] <= time.time() < stored["commits_until"]
    return is_in_time and stored["environment"] == list_own_variables()


def _is_held(people: dict[str, Any]) -> bool:
    """Whether the author of the commit is held to a brief, which it does not have."""
    author = os.environ["GIT_AUTHOR_EMAIL"].casefold()
    is_known = any(os.environ.get(name) for name in people["variables"])
    return is_known or any(re.fullmatch(pattern, author) is not None for pattern in people["authors"])


def _is_merge(root: str) -> bool:
    """Whether the commit has several parents. Raises OSError if the folder of git is unknown."""
    folder = os.environ.get("GIT_DIR") or os.path.join(root, ".git")
    if os.path.isfile(folder):
        with open(folder, encoding="utf-8") as file:
            folder = os.path.join(root, file.read().removeprefix("gitdir: ").rstrip("\n"))
    os.stat(os.path.join(folder, "HEAD"))
    return os.path.lexists(os.path.join(folder, "MERGE_HEAD"))


def _read_path(line: str) -> str | None:
    """The path of a raw entry; None unless a regular file is added, changed or deleted."""
    facts, _, path = line.partition("\t")
    old_mode, mode, _, _, change = facts.removeprefix(":").split(" ")
    return path if old_mode in _REGULAR and mode in _REGULAR and change in _CHANGES else None


def _read_staged() -> bytes:
    """The output of git about what is staged. To import `subprocess` would take as long as everything else. Raises OSError."""
    from orgkernel.project.git.patches import PATCH, PLAIN_PATHS

    command = build_git_command(
        ".", *PLAIN_PATHS, "diff-index", "--cached", "-r", "--raw", "--no-abbrev", *PATCH, "HEAD"
    )
    reading, writing = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    variables = build_git_environment(os.environ, in_hook=True)
    with open(reading, "rb") as output:
        try:
            process = os.posix_spawnp(command[0], command, variables, file_actions=actions)
        finally:
            os.close(writing)
        content = output.read()
    _, status = os.waitpid(process, 0)
    if status != 0:
        raise OSError("git failed")
    return content
