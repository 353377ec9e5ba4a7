"""Write down what the hook of a coding agent needs to decide without starting orgkernel: patterns of files that it passes, the rules
for other calls, and the files that both depend on.

Patterns of owned files match less than their globs and patterns of held files match more, so the hook never passes a file that
orgkernel would refuse.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final

from orgkernel.decisions.ownership.file_kinds import MANIFESTS
from orgkernel.project.hooks.quick_answers import HEAD, OWNED_FILES, VARIABLES, list_own_variables, stamp
from orgkernel.project.replacing import replace_file
from orgkernel.runtime.paths import fold

LASTS: Final = 60.0
"""Seconds after which a new document is noticed. Documents that were read are watched."""
_OWNED_NAME: Final = re.compile(r"[A-Za-z0-9_.*?-]+")
_CLASS: Final = re.compile(r"\[!?\]?[^\]]*\]")
# Environment files, migrations, and the files that this hook depends on.
_ALWAYS_HELD: Final = (
    r"(?:.*/)?[^/]*\.env[^/]*", r"(?:.*/)?(?:migrations|migrate|alembic)/.*", r"(?:.*/)?\.(?:git|orgkernel|claude|husky)(?:/.*)?",
    r"(?:.*/)?(?:\.pre-commit-config\.ya?ml|lefthook\.yml|orgkernel\.toml)",
    r"(?:.*/)?(?:requirements|constraints)[^/]*\.txt", r"(?:.*/)?[^/]*\.(?:csproj|gemspec)",
    rf"(?:.*/)?(?:{'|'.join(map(re.escape, sorted(MANIFESTS)))})",
)  # fmt: skip


def write_owned_files(
    root: str,
    owned: Sequence[str],
    held: Iterable[str],
    files: Iterable[str],
    rules: Mapping[str, Any] | None = None,
    until: float = inf,
    people: Mapping[str, Any] | None = None,
    commits_last: float = LASTS,
) -> None:
    """Write the patterns and the rules for a project. They become invalid at a time, and when one of the watched `files`
    changes. `people` are the rules for commits of people without a brief, and `commits_last` is the number of seconds for which
    the hooks of git use what is written.
    """
    now = time.time()
    patterns = [each for glob in held for each in _list_held_patterns(glob, root)]
    owned_files = {
        "python": sys.executable,
        "since": now,
        "until": min(until, now + LASTS),
        "variables": [os.environ.get(name) for name in VARIABLES],
        "files": {each: stamp(each) for each in files},
        "owned": [each for glob in owned for each in _list_owned_patterns(glob)],
        "not_owned": [*_ALWAYS_HELD, *dict.fromkeys(patterns)],
        "rules": rules,
        "people": people,
        "commits_until": min(until, now + commits_last),
        "environment": list_own_variables(),
    }
    content = json.dumps(owned_files).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    replace_file(os.path.join(root, OWNED_FILES), HEAD + digest + b'", ' + content[1:])


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
