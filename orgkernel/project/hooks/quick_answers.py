"""The answers that the hook of a coding agent gives without starting the full program.

The full program stores what it decided with: patterns of files that are clearly allowed, and the rules for everything else. They
are used for a short time, and only while nothing that they depend on has changed. If the stored file is missing, damaged or too
old, the answer is None: the full program has to decide the call.
"""

from __future__ import annotations

import os
import sys
import time

from orgkernel.engines import is_on
from orgkernel.project.hooks.engine import json_reader
from orgkernel.project.hooks.engine.digests import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OWNED_FILES = os.path.join(".orgkernel", "owned-files.json")
VARIABLES = ("ORGKERNEL_BRIEF", "ORGKERNEL_HOLDER", "ORGKERNEL_SESSION", "ORGKERNEL_STORE")
HEAD = b'{"digest": "'
"""The beginning of the file. The digest is that of the same object without it."""
FULL_PROGRAM = ("-P", "-c", "from orgkernel.cli import main; main()")
"""The arguments of Python that start the full program."""
_DIGITS = 64
"""The length of the digest."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TAIL = b'", '
# Paths without anything that a shell, a file system or a glob could read in another way.
_PLAIN = r"(?:[A-Za-z0-9_.-]*[A-Za-z0-9_-]/)*[A-Za-z0-9_.-]*[A-Za-z0-9_-]"
_LARGEST = 64 * 1024 * 1024


def answer_quickly(given: bytes, package: str) -> str | None:
    """The answer to a call as the host reads it, empty if the call is allowed. None if the full program has to decide.

    `package` is the folder of orgkernel.
    """
    if given.startswith(_BYTE_ORDER_MARK) or b"\\ud" in given.lower():
        return (
            None  # a byte order mark, or a lone surrogate: the full program refuses such a call and says why
        )
    try:
        call = json_reader.parse(given)
        root = os.environ.get("CLAUDE_PROJECT_DIR") or call["cwd"]
        owned_files = read_current(root)
        if owned_files is None:
            return None
        is_of_one_file = call["tool_name"] in ("Write", "Edit", "MultiEdit")
        if is_of_one_file and is_surely_allowed(call["tool_input"]["file_path"], root, owned_files):
            from orgkernel.project.hooks.written_secrets import explain_secrets

            if not any(explain_secrets(call["tool_input"])):
                return ""
        if not is_on("light_start"):
            return None
        return _decide(call, root, owned_files, package)
    except Exception:
        # Whatever is strange is decided by the full program, which explains it.
        return None


def start_lightly(package: str) -> None:
    """Let this process use the code of the full program without its libraries. It has to end after one answer."""
    from orgkernel.project.hooks.engine.stand_ins import install_records

    install_records(package)


def is_surely_allowed(path: str, root: str, owned_files: dict[str, Any]) -> bool:
    """Whether a path is an owned, plain file that is neither sacred nor claimed by another worker."""
    if not path.startswith(root + "/") or os.path.realpath(path) != path or os.path.realpath(root) != root:
        return False
    return is_plainly_owned(path[len(root) + 1 :], owned_files)


def is_plainly_owned(path: str, owned_files: dict[str, Any]) -> bool:
    """The same for a path below the root that is no link."""
    import re

    return (
        re.fullmatch(_PLAIN, path) is not None
        and any(re.fullmatch(each, path) for each in owned_files["owned"])
        and not any(re.fullmatch(each, path.lower()) for each in owned_files["not_owned"])
    )


def _decide(call: dict[str, Any], root: str, owned_files: dict[str, Any], package: str) -> str | None:
    """Decide with the code of the full program."""
    if not os.path.isabs(root) or os.path.normpath(root) != root:
        return None
    from orgkernel.project.hooks.engine.stand_ins import install

    os.chdir(root)
    install(package)
    from orgkernel.project.hooks.write_decision import decide_write, render_answer, unpack_rules

    answer = render_answer(decide_write(call, root, unpack_rules(owned_files["rules"])))
    return _render(answer) + "\n" if answer else ""


def _render(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_render(name)}:{_render(each)}" for name, each in value.items()) + "}"
    return json_reader.quote(str(value))


def read_current(root: str) -> dict[str, Any] | None:
    """The owned files and rules of a project for tool calls, if nothing that they depend on has changed. Raises OSError or
    ValueError.
    """
    stored = read_stored(root)
    return stored if stored is not None and stored["since"] <= time.time() < stored["until"] else None


def read_stored(root: str) -> dict[str, Any] | None:
    """What is stored about a project, if nothing that it depends on has changed, whatever the time. Raises OSError or ValueError."""
    with open(os.path.join(root, OWNED_FILES), "rb") as file:
        content = file.read(_LARGEST)
    start = len(HEAD) + _DIGITS + len(_TAIL)
    digest = content[len(HEAD) : len(HEAD) + _DIGITS].decode("ascii")
    if not content.startswith(HEAD) or sha256_hex(b"{" + content[start:]) != digest:
        return None
    owned_files: dict[str, Any] = json_reader.parse(content)
    is_current = (
        owned_files["python"] == sys.executable
        and owned_files["variables"] == [os.environ.get(name) for name in VARIABLES]
        and all(stamp(each) == written for each, written in owned_files["files"].items())
    )
    return owned_files if is_current else None


def list_own_variables() -> dict[str, str]:
    """The variables of the environment that orgkernel reads."""
    return {name: value for name, value in os.environ.items() if name.startswith("ORGKERNEL_")}


def stamp(path: str) -> list[int] | None:
    """The values of a file that change with its content; None if it does not exist."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return [state.st_mtime_ns, state.st_size, state.st_ino]
