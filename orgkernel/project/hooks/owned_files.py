"""Write down which files the hook of a coding agent may pass without asking: patterns, and what they were made from.

What is owned is written narrowly and what is held widely, so that the hook passes nothing that we would refuse.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from orgkernel.decisions.ownership.file_kinds import MANIFESTS
from orgkernel.project.hooks.write_hook import OWNED_FILES, VARIABLES, stamp
from orgkernel.project.replacing import replace_file
from orgkernel.runtime.paths import fold

LASTS: Final = 60.0
"""Seconds. A document that is new is seen after this time; those that were read are watched."""
_OWNED_NAME: Final = re.compile(r"[A-Za-z0-9_.*?-]+")
_CLASS: Final = re.compile(r"\[!?\]?[^\]]*\]")
# Environment files, migrations, and what keeps the rules of this very hook.
_ALWAYS_HELD: Final = (
    r"(?:.*/)?[^/]*\.env[^/]*", r"(?:.*/)?(?:migrations|migrate|alembic)/.*", r"(?:.*/)?\.(?:git|orgkernel|claude)(?:/.*)?",
    r"(?:.*/)?(?:requirements|constraints)[^/]*\.txt", r"(?:.*/)?[^/]*\.(?:csproj|gemspec)",
    rf"(?:.*/)?(?:{'|'.join(map(re.escape, sorted(MANIFESTS)))})",
)  # fmt: skip


def write_owned_files(root: str, owned: Sequence[str], held: Iterable[str], files: Iterable[str]) -> None:
    """Write the patterns for a project. `files` are watched: their change makes the patterns void."""
    patterns = [each for glob in held for each in _held(glob, root)]
    owned_files = {
        "python": sys.executable,
        "until": time.time() + LASTS,
        "said": [os.environ.get(name) for name in VARIABLES],
        "files": {each: stamp(each) for each in files},
        "owned": [each for glob in owned for each in _owned(glob)],
        "held": [*_ALWAYS_HELD, *dict.fromkeys(patterns)],
    }
    replace_file(os.path.join(root, OWNED_FILES), json.dumps(owned_files).encode())


def _owned(glob: str) -> Iterator[str]:
    """The pattern of a glob that says one thing only."""
    names = glob.rstrip("/").split("/")
    if any(
        not _OWNED_NAME.fullmatch(each) or each in (".", "..") or ("**" in each and each != "**")
        for each in names
    ):
        return
    pattern = _joined([None if each == "**" else _name(each) for each in names])
    is_plain = not any(sign in glob for sign in "*?")
    yield f"{pattern}(?:/.*)?" if is_plain else pattern


def _held(glob: str, root: str) -> Iterator[str]:
    """Patterns for everything that a glob may hold, and for all that is below."""
    if glob.startswith(root + "/"):
        glob = glob[len(root) + 1 :]
    elif glob.startswith("/"):
        return
    names = [each for each in glob.removeprefix("~/").replace("\\", "/").split("/") if each not in ("", ".")]
    if ".." in names or "$" in glob:
        yield ".*"
        return
    parts = [None if "**" in each else _name(_CLASS.sub("*", fold(each) or "*")) for each in names]
    anywhere = "(?:.*/)?" if len(names) < 2 or glob.startswith("~") else ""
    yield f"{anywhere}{_joined(parts)}(?:/.*)?"


def _name(name: str) -> str:
    return re.escape(name).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def _joined(parts: Sequence[str | None]) -> str:
    """One pattern of names; None is any number of folders, and at the end everything in them."""
    *above, last = parts
    before = "".join("(?:[^/]+/)*" if each is None else f"{each}/" for each in above)
    return before + (".+" if last is None else last)
