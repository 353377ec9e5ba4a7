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
from orgkernel.project.git.isolation import build_git_command, build_git_environment

OBJECT_ID: Final = re.compile(rb"[0-9a-f]{40,64}\n")
"""The line that git prints for the id of one object."""

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
    try:
        return subprocess.run(
            build_git_command(folder, *arguments, as_user=as_user),
            env=build_git_environment(os.environ, in_hook=in_hook or _is_in_hook.get(), as_user=as_user),
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
