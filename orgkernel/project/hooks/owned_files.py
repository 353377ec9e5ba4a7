"""Write the files that the hook of a coding agent passes without starting orgkernel: patterns, and the files they depend on.

Patterns of owned files match less than their globs and patterns of held files match more, so the hook never passes a file that
orgkernel would refuse.
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
"""Seconds after which a new document is noticed. Documents that were read are watched."""
_OWNED_NAME: Final = re.compile(r"[A-Za-z0-9_.*?-]+")
_CLASS: Final = re.compile(r"\[!?\]?[^\]]*\]")
# Environment files, migrations, and the files that this hook depends on.
_ALWAYS_HELD: Final = (
    r"(?:.*/)?[^/]*\.env[^/]*", r"(?:.*/)?(?:migrations|migrate|alembic)/.*", r"(?:.*/)?\.(?:git|orgkernel|claude)(?:/.*)?",
    r"(?:.*/)?(?:requirements|constraints)[^/]*\.txt", r"(?:.*/)?[^/]*\.(?:csproj|gemspec)",
    rf"(?:.*/)?(?:{'|'.join(map(re.escape, sorted(MANIFESTS)))})",
)  # fmt: skip


def write_owned_files(root: str, owned: Sequence[str], held: Iterable[str], files: Iterable[str]) -> None:
    """Write the patterns for a project. A change of one of the watched `files` makes the patterns invalid."""
    patterns = [each for glob in held for each in _list_held_patterns(glob, root)]
    owned_files = {
        "python": sys.executable,
        "until": time.time() + LASTS,
        "said": [os.environ.get(name) for name in VARIABLES],
        "files": {each: stamp(each) for each in files},
        "owned": [each for glob in owned for each in _list_owned_patterns(glob)],
        "held": [*_ALWAYS_HELD, *dict.fromkeys(patterns)],
    }
    replace_file(os.path.join(root, OWNED_FILES), json.dumps(owned_files).encode())


def _list_owned_patterns(glob: str) -> Iterator[str]:
    """The pattern of a glob that has one meaning only."""
    names = glob.rstrip("/").split("/")
    if any(
        not _OWNED_NAME.fullmatch(each) or each in (".", "..") or ("**" in each and each != "**")
        for each in names
    ):
        return
    pattern = _join_names([None if each == "**" else _name(each) for each in names])
    is_plain = not any(sign in glob for sign in "*?")
    yield f"{pattern}(?:/.*)?" if is_plain else pattern


def _list_held_patterns(glob: str, root: str) -> Iterator[str]:
    """Patterns for everything that a glob can match, and for everything below it."""
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
    yield f"{anywhere}{_join_names(parts)}(?:/.*)?"


def _name(name: str) -> str:
    return re.escape(name).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def _join_names(parts: Sequence[str | None]) -> str:
    """Join names to one pattern. None stands for any number of folders, and at the end for everything in them."""
    *above, last = parts
    before = "".join("(?:[^/]+/)*" if each is None else f"{each}/" for each in above)
    return before + (".+" if last is None else last)
