"""Run git to read an untrusted repository: its configuration cannot run a program or hide a change. Everything that runs git does it
here.

Git runs without a shell, external diff programs, hooks, pagers and file system monitors. It fetches nothing, and ignores
replaced and grafted commits.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Final

from orgkernel.diagnostics.wording import printable
from orgkernel.errors import UsageError

OBJECT_ID: Final = re.compile(rb"[0-9a-f]{40,64}\n")
"""The line that git prints for the id of one object."""
_SETTINGS: Final = {
    "advice.graftFileDeprecated": "false",
    # A file next to the objects that could list other parents.
    "core.commitGraph": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.untrackedCache": "false",
    "core.warnAmbiguousRefs": "true",
    "diff.ignoreSubmodules": "none",
    "diff.orderFile": os.devnull,
    "diff.renames": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    # Callers check first whether this user may open the repository, with the settings of the user.
    "safe.directory": "*",
    "submodule.recurse": "false",
    "trailer.separators": ":",
}
# Variables that git sets for its hooks. Some name the folder of objects that a push is about to add.
HOOK_VARIABLES: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
)  # fmt: skip
# Variables and settings of the user, for the questions whose repositories may be opened and where hooks are.
_USER_VARIABLES: Final = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_OF_THE_USER: Final = ("safe.directory", "core.hooksPath")
_FIXED: Final = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # No transport has this name, so a partial clone fetches nothing.
    "GIT_ALLOW_PROTOCOL": "none",
}


_is_in_hook: ContextVar[bool] = ContextVar("is_in_hook", default=False)


@contextmanager
def keep_hook_variables() -> Iterator[None]:
    """Keep the variables with which git names the repository and the objects of a push to the hooks of a server."""
    token = _is_in_hook.set(True)
    try:
        yield
    finally:
        _is_in_hook.reset(token)


def run_git(
    folder: str,
    *arguments: str,
    input: bytes = b"",
    output: IO[bytes] | None = None,
    in_hook: bool = False,
    as_user: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder. With `in_hook`, keep the variables with which git names the repository and the index to its hooks. With
    `as_user`, keep the settings of the user, which say whose repositories may be opened and where hooks are. Standard output
    goes to the file `output`, if one is passed. Raises `UsageError`.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_")
        or ((in_hook or _is_in_hook.get()) and name in HOOK_VARIABLES)
        or (as_user and name in _USER_VARIABLES)
    }
    kept = _OF_THE_USER if as_user else ()
    settings = [
        word for name, value in _SETTINGS.items() if name not in kept for word in ("-c", f"{name}={value}")
    ]
    fixed = {name: value for name, value in _FIXED.items() if not as_user or name not in _USER_VARIABLES}
    try:
        return subprocess.run(
            ["git", "--no-pager", *settings, "-C", folder, *arguments],
            env=environment | fixed,
            input=input,
            stdout=output or subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("reading a repository needs git, which is not installed", "install git") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"git cannot be run: {error}") from None


def read_git(folder: str, *arguments: str, what: str, input: bytes = b"", in_hook: bool = False) -> bytes:
    """The output of git. Raises `UsageError` if git fails: "git cannot WHAT"."""
    done = run_git(folder, *arguments, input=input, in_hook=in_hook)
    if done.returncode != 0:
        raise UsageError(f"git cannot {what}", first_line(done.stderr))
    return done.stdout


def first_line(stderr: bytes) -> str:
    """The first line of an error message of git."""
    return printable(stderr.decode(errors="replace").strip().partition("\n")[0])


def as_lines(words: Iterable[str]) -> bytes:
    """Words for git to read, one on each line."""
    return "".join(f"{word}\n" for word in words).encode()
