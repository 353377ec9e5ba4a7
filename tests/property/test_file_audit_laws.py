"""Laws of the audit of files: an independent reading of owned paths agrees, and the quick script passes nothing more."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.ownership import recorded
from orgkernel.decisions.ownership.audit import audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles, FileChange, RangeCommit
from orgkernel.decisions.ownership.owners import AuditedWorker, OwnedPaths
from orgkernel.decisions.ownership.sacred import SacredFiles, TouchedFile
from orgkernel.documents.records import Brief, BriefScope, BriefSpec, SacredScope
from orgkernel.project.hooks.owned_files import write_owned_files
from orgkernel.project.hooks.quick_answers import OWNED_FILES

NAME = st.sampled_from(
    ["a", "b", "A", "a.py", "b.py", ".env", "x-y", "é", "$a", "[a]", "migrations", "go.mod", "a b"]
)
PATHS = st.lists(NAME, min_size=1, max_size=4).map("/".join)
PART = st.sampled_from(["a", "b", "**", "*", "*.py", "a?py", "[ab]", "?", "é", "A"])
GLOBS = st.lists(PART, min_size=1, max_size=4).map("/".join)
OWNED = st.lists(st.one_of(PATHS, GLOBS), min_size=1, max_size=3)


def reads(glob: str, path: str) -> bool:
    """Whether a path is in a glob, by another reading: a regular expression of the whole text."""
    if glob == path or ("[" not in glob and not set("*?") & set(glob) and path.startswith(f"{glob}/")):
        return True
    pattern, rest = "", glob.split("/")
    for number, name in enumerate(rest):
        is_last = number == len(rest) - 1
        if name == "**":
            pattern += ".+" if is_last else "(?:[^/]+/)*"
        else:
            inner = "".join(
                {"*": "[^/]*", "?": "[^/]", "[": "[", "]": "]"}.get(sign, re.escape(sign)) for sign in name
            )
            pattern += inner + ("" if is_last else "/")
    return re.fullmatch(pattern, path) is not None


def held_to(owned: list[str], name: str) -> AuditedWorker:
    return AuditedWorker(name, Brief(id=name, spec=BriefSpec(scope=BriefScope(files_owned=tuple(owned)))))


@settings(max_examples=100, deadline=None)
@given(OWNED, PATHS)
def test_owning_is_what_the_glob_says(owned: list[str], path: str) -> None:
    """Except for what programs may replace, which is owned by its own name only."""
    globs = [each for each in owned if "$" not in each or each == path or path.startswith(f"{each}/")]
    assert OwnedPaths(owned, None).does_own(path) == any(reads(each, path) for each in globs)
    assert not OwnedPaths(owned, None).does_own(path) or OwnedPaths(owned, None).may_own(path)


@settings(max_examples=100, deadline=None)
@given(OWNED, OWNED, st.lists(st.tuples(PATHS, st.booleans()), min_size=1, max_size=4))
def test_a_clean_audit_has_only_files_with_one_owner(
    one: list[str], other: list[str], touched: list[tuple[str, bool]]
) -> None:
    """A clean audit contains only files with exactly one owner, which changed them."""
    workers = [held_to(one, "one"), held_to(other, "other")]
    files = tuple(
        FileChange(path=path, change="added") for path in dict.fromkeys(path for path, _ in touched)
    )
    commits = tuple(
        RangeCommit(id=str(number), paths=(path,), briefs=("one" if is_first else "other",))
        for number, (path, is_first) in enumerate(touched)
    )
    answer = audit_changes(ChangedFiles(files=files, commits=commits), workers)
    if answer.outcome == "clean":
        for path, is_first in touched:
            assert OwnedPaths(one if is_first else other, None).does_own(path)
            assert not OwnedPaths(other if is_first else one, None).does_own(path)


@settings(max_examples=60, deadline=None)
@given(
    OWNED,
    OWNED,
    st.lists(st.tuples(PATHS, st.sampled_from(["one", "other", "third"])), max_size=9),
    st.lists(PATHS, max_size=3),
)
def test_the_pages_of_an_audit_find_what_the_whole_audit_finds(
    one: list[str], other: list[str], made: list[tuple[str, str]], restored: list[str]
) -> None:
    """Whatever the size of the pages, and also for sacred files that were changed and restored."""
    workers = [held_to(one, "one"), held_to(other, "other")]
    sacred = SacredFiles({"scope": SacredScope(paths=("**/b.py", "A/**"))})
    paths = dict.fromkeys(path for path, _ in made)
    files = tuple(FileChange(path=path, change="modified") for path in paths if path not in restored)
    commits = tuple(
        RangeCommit(id=str(number), paths=tuple(dict.fromkeys((path, *restored))), briefs=(author,))
        for number, (path, author) in enumerate(made)
    )
    changed = ChangedFiles(files=files, commits=commits)
    whole = audit_changes(changed, workers, sacred=sacred)
    with mock.patch.object(recorded, "PAGE_FILES", 2):
        pages = recorded.split_changes(changed)
    assert all(len(each.files) <= 2 for each in pages)
    answers = [
        audit_changes(ChangedFiles(files=each.files, commits=each.commits), workers, sacred=sacred)
        for each in pages
    ]
    assert {each for answer in answers for each in answer.findings} == set(whole.findings)
    assert {each for answer in answers for each in answer.files} == set(whole.files)


@settings(max_examples=60, deadline=None)
@given(OWNED, st.lists(GLOBS, max_size=2), OWNED, PATHS)
def test_the_script_passes_only_what_the_audit_passes(
    owned: list[str], sacred: list[str], claimed: list[str], path: str
) -> None:
    """What the hook remembers opens nothing that the audit would hold."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / OWNED_FILES).parent.mkdir()
        write_owned_files(folder, owned, [*sacred, *claimed], [])
        scope = json.loads((Path(folder) / OWNED_FILES).read_text(encoding="utf-8"))
    passes = (
        path.isascii()
        and any(re.fullmatch(each, path) for each in scope["owned"])
        and not any(re.fullmatch(each, path.lower()) for each in scope["not_owned"])
    )
    if passes:
        brief = held_to(owned, "one").brief
        held = SacredFiles({"it": SacredScope(paths=tuple(sacred))} if sacred else {})
        assert OwnedPaths(owned, None).does_own(path)
        assert not OwnedPaths(claimed, None).may_own(path)
        assert list(held.find(TouchedFile(path, True, None), [brief])) == []
