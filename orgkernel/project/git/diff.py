"""Parse git's raw diff of two trees: its entries, and the file changes that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from orgkernel.decisions.ownership.changes import EntryKind, FileChange, FileChangeKind
from orgkernel.decisions.ownership.dependency_blocks import has_dependency_block
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.loading.files import MAX_BYTES
from orgkernel.project.git.process import as_lines, read_git
from orgkernel.runtime.paths import fold

_LINK: Final = "120000"
_REGULAR: Final = ("100644", "100755", "100664")
_KINDS: Final[dict[str, EntryKind]] = {_LINK: "link", "160000": "submodule"}
_NOTHING: Final = "000000"
_STATUS: Final[dict[str, FileChangeKind]] = {
    "A": "added",
    "D": "deleted",
    "M": "modified",
    "T": "type_changed",
    "R": "renamed",
    "C": "copied",
}


class DiffEntry(NamedTuple):
    """An entry of a raw diff."""

    old_mode: str
    mode: str
    old_id: str
    id: str
    status: str
    path: str
    before: str | None


RAW_DIFF: Final = (
    "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
    "--no-relative",
)  # fmt: skip


# If git does not recognize a rename among many files, an audit sees a deleted and an added file, with the
# same outcome.
RENAMES: Final = ("-M", "-C", "-l400")


def split_words(raw: bytes) -> Iterator[str]:
    """The NUL-separated strings that git prints."""
    return iter(raw.decode("utf-8", "surrogateescape").split("\0")[:-1])


def read_entries(words: Iterator[str]) -> Iterator[DiffEntry]:
    """All entries of a raw diff."""
    for word in words:
        yield read_entry(word, words)


def read_entry(word: str, words: Iterator[str]) -> DiffEntry:
    """The entry that begins with a word; its paths are the next words."""
    old_mode, mode, old_id, id, status = word.removeprefix(":").split(" ")
    path = next(words)
    before = None
    if status[0] in "RC":
        before, path = path, next(words)
    return DiffEntry(old_mode, mode, old_id, id, status[0], path, before)


def read_changes(folder: str, entries: Sequence[DiffEntry], *, in_hook: bool = False) -> Iterator[FileChange]:
    """The file changes that entries describe. Raises `UsageError` for an entry that cannot be read."""
    links = [each.id for each in entries if each.mode == _LINK]
    manifests = [
        id
        for each in entries
        for id, mode, path in (
            (each.old_id, each.old_mode, each.before or each.path),
            (each.id, each.mode, each.path),
        )
        if mode in _REGULAR and _is_manifest(path)
    ]
    contents = read_blobs(folder, dict.fromkeys([*links, *manifests]), in_hook=in_hook)
    for each in entries:
        change = _STATUS.get(each.status)
        if change is None:
            raise UsageError(
                f"git reports status {quote(each.status)} for {quote(each.path)}, which orgkernel does not know"
            )
        if change == "modified" and each.old_id == each.id:
            change = "mode_changed"

        def text(id: str, mode: str, path: str) -> str | None:
            is_read = mode in _REGULAR and _is_manifest(path)
            content = contents.get(id) if is_read else None
            return None if content is None else content.decode("utf-8", "surrogateescape")

        target = contents.get(each.id) if each.mode == _LINK else None
        yield FileChange(
            path=each.path,
            change=change,
            before=each.before,
            kind=_KINDS.get(each.mode if each.mode != _NOTHING else each.old_mode, "file"),
            link=None if target is None else target.decode("utf-8", "surrogateescape"),
            before_text=text(each.old_id, each.old_mode, each.before or each.path),
            after_text=text(each.id, each.mode, each.path),
        )


def _is_manifest(path: str) -> bool:
    return has_dependency_block(tuple(map(fold, path.split("/"))))


def read_blobs(folder: str, ids: Iterable[str], *, in_hook: bool = False) -> dict[str, bytes]:
    """The contents of objects by id, without large ones. Raises `UsageError` if an object is missing."""
    object_ids = list(ids)
    if not object_ids:
        return {}
    what = "read the files of a revision"
    sizes = (
        read_git(folder, "cat-file", "--batch-check", input=as_lines(object_ids), what=what, in_hook=in_hook)
        .decode()
        .splitlines()
    )
    if any(len(line.split()) != 3 for line in sizes):
        help = "this clone is partial; fetch the content first"
        raise UsageError("git does not have the content of a file", help)
    small = [line.split()[0] for line in sizes if int(line.split()[2]) <= MAX_BYTES]
    raw = (
        read_git(folder, "cat-file", "--batch", input=as_lines(small), what=what, in_hook=in_hook)
        if small
        else b""
    )
    contents: dict[str, bytes] = {}
    at = 0
    for id in small:
        end = raw.index(b"\n", at)
        size = int(raw[at:end].split()[2])
        contents[id] = raw[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents


def find_empty_tree(folder: str) -> str:
    """The id of a tree without files."""
    return (
        read_git(folder, "hash-object", "-t", "tree", "--stdin", what="name the empty tree").decode().strip()
    )
