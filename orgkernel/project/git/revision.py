"""Load the documents of a revision without writing its files: only what differs from known documents is read and parsed.

What a tree holds is known from the ids of its objects. Documents with the same content at the same place are taken from
another load, usually that of the work tree. The result is that of a load of the written tree, apart from the paths, which
are those in the work tree (tests/property/test_revision_laws.py). Trees that need a closer look at the disk are not loaded
here: files named one by one, formats of others, sources, and links that a reader would follow.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Severity
from orgkernel.documents.records import ORGANIZATION
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import (
    DISK,
    MARKDOWN,
    MAX_BYTES,
    ORDERS,
    SKILLS,
    SKIPPED_FOLDERS,
    SUFFIXES,
    FolderEntry,
    LocatedFile,
    Root,
    SourceText,
    decode,
    is_candidate,
    is_within,
    locate_files,
    read_located,
)
from orgkernel.loading.formats import OURS
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.loading.sources import FileResult, LoadedFile, SourceDocument
from orgkernel.prepared_types import prepared
from orgkernel.project.git.tree import (
    Repository,
    TreeEntry,
    is_document,
    list_entries,
    read_objects,
    written_entries,
)
from orgkernel.snapshots.roots import (
    LAID_OUT,
    Request,
    does_hold_organization,
    find_organization_above,
    resolve_paths,
)
from orgkernel.snapshots.snapshot import NOTHING_FOUND, Snapshot

# Words that only organizations with sources have; others may have them as well.
_SOURCES = (ORGANIZATION.encode(), b"sources")
_PLUGINS = ".claude-plugin"
_DIGESTS = msgspec.msgpack.Decoder(prepared(dict[bytes, bytes]))


class NotCovered(Exception):
    """The tree needs a closer look than at its list of files."""


class ObjectDigests:
    """SHA-256 of the contents of git objects, remembered in a cache because an object never changes."""

    def __init__(self, repository: Repository, cache: Cache | None) -> None:
        self._repository = repository
        self._cache = cache
        self._key = f"objects-{hashlib.sha256(os.fsencode(repository.folder)).hexdigest()}"
        self._before = self._find()
        self._now: dict[bytes, bytes] = {}

    def find(self, entry: TreeEntry) -> str | None:
        """The digest of the content of an entry, in hexadecimal. None if it is not known."""
        digest = self._now.get(entry.object_id) or self._before.get(entry.object_id)
        if digest is None:
            return None
        self._now[entry.object_id] = digest
        return digest.hex()

    def add(self, entry: TreeEntry, content: bytes) -> str:
        """Remember the digest of a content, and return it."""
        digest = hashlib.sha256(content).digest()
        self._now[entry.object_id] = digest
        return digest.hex()

    def save(self) -> None:
        """Write the digests of all objects that were asked for, if one of them is new."""
        if self._cache is not None and not self._now.keys() <= self._before.keys():
            self._cache.put(self._key, msgspec.msgpack.encode(self._now))
            self._before = dict(self._now)

    def _find(self) -> dict[bytes, bytes]:
        packed = self._cache.find(self._key) if self._cache is not None else None
        try:
            return _DIGESTS.decode(packed) if packed is not None else {}
        except (msgspec.MsgspecError, RecursionError):
            return {}


@dataclass(frozen=True, slots=True)
class Revision:
    """The tree of a revision, and what is read of it."""

    repository: Repository
    tree: str
    """Id of the tree."""
    names: tuple[str, ...]
    """Folders to read, relative to the top."""
    shown_from: str
    """The folder below the top relative to which names of files are shown; empty for the top."""
    read_as: str | None


def load_revision(
    revision: Revision,
    severities: Mapping[str, Severity | None],
    digests: ObjectDigests,
    known: Snapshot | None = None,
) -> Snapshot:
    """The snapshot of a revision, with the documents of another snapshot wherever they are the same.

    `known` must not have sources. Raises `NotCovered` if the tree has to be written to be read, and `UsageError`.
    """
    if revision.read_as not in (None, OURS) or not _is_plainly_placed(revision.repository):
        raise NotCovered
    files = _TreeFiles(revision.repository.folder, list_entries(revision.repository, revision.tree))
    if not all(files.is_folder(files.join(name)) for name in revision.names):
        raise NotCovered
    request = _resolve(revision, files)
    if _has_followed_link(revision.repository, files, request.roots):
        raise NotCovered
    located = locate_files(request.roots, files)
    contents = _Contents(revision.repository, files)
    unchanged = _find_unchanged(located, files, digests, contents, known)
    if contents.may_name_sources:
        raise NotCovered
    # Reading needs pydantic and yaml.
    from orgkernel.snapshots.build import build_snapshot

    snapshot = build_snapshot(
        request.roots,
        severities,
        request.asked,
        located_files=located,
        known_files=unchanged,
        read_text=contents.read_text,
        found_before=known.found_before if known is not None else NOTHING_FOUND,
    )
    if revision.read_as is None and not all(
        _has_our_documents(files.join(name), snapshot) for name in revision.names
    ):
        raise NotCovered
    return snapshot


def _is_plainly_placed(repository: Repository) -> bool:
    """Whether nothing about the place of the repository changes the meaning of its files."""
    above = os.path.basename(os.path.dirname(repository.folder))
    return above not in (SKILLS, ORDERS) and not os.path.realpath(get_shipped_folder("ontology")).startswith(
        os.path.join(repository.folder, "")
    )


class _ListedEntry:
    """A file or folder of a tree."""

    __slots__ = ("_is_folder", "name", "path")

    def __init__(self, path: str, is_folder: bool) -> None:
        self.name = os.path.basename(path)
        self.path = path
        self._is_folder = is_folder

    def is_symlink(self) -> bool:
        return False

    def is_dir(self) -> bool:
        return self._is_folder


class _TreeFiles:
    """The files of a tree that could be documents, as if they were in the work tree; all other paths are on the disk.

    Links are left out: a tree with one that counts is not read here.
    """

    def __init__(self, top: str, entries: Iterable[TreeEntry]) -> None:
        self.top = top
        self._inside = os.path.join(top, "")
        self.entries: dict[str, TreeEntry] = {}
        """Files that could be documents, by full path."""
        self.links: list[TreeEntry] = []
        self.others: set[str] = set()
        """The other files, relative to the top."""
        self._folders: dict[str, list[FolderEntry]] = {top: []}
        for entry in entries:
            if entry.is_link:
                self.links.append(entry)
            elif is_document(entry):
                path = self._inside + entry.path
                self.entries[path] = entry
                self._get_folder(os.path.dirname(path)).append(_ListedEntry(path, False))
            else:
                self.others.add(entry.path)
        if not self._folders.keys().isdisjoint(self.entries):
            raise NotCovered  # a file that is a folder as well

    def join(self, name: str) -> str:
        """The full path of a name relative to the top."""
        return self._inside + name if name else self.top

    def does_hold(self, path: str) -> bool:
        """Whether a full path belongs to the tree."""
        return is_within(path, self.top)

    def is_folder(self, path: str) -> bool:
        return path in self._folders if self.does_hold(path) else DISK.is_folder(path)

    def find_real_path(self, path: str) -> str:
        return path if self.does_hold(path) else DISK.find_real_path(path)

    def list_entries(self, folder: str) -> Sequence[FolderEntry]:
        return self._folders[folder] if self.does_hold(folder) else DISK.list_entries(folder)

    def _get_folder(self, path: str) -> list[FolderEntry]:
        if path not in self._folders:
            self._folders[path] = []
            self._get_folder(os.path.dirname(path)).append(_ListedEntry(path, True))
        return self._folders[path]


# -- which files are read ------------------------------------------------------------------------------------------------


def _resolve(revision: Revision, files: _TreeFiles) -> Request:
    """What reading the paths means, from the files beside and above them alone, written to a folder for a moment."""
    near = {files.top}
    for name in revision.names:
        steps = name.split("/") if name else []
        near.update(files.join("/".join(steps[: count + 1])) for count in range(len(steps)))
    entries, folders = [], []
    for folder in sorted(near):
        for each in files.list_entries(folder):
            if not each.is_dir():
                entries.append(files.entries[each.path])
            elif each.name != _PLUGINS:
                folders.append(os.path.relpath(each.path, files.top))
            else:
                raise NotCovered  # perhaps a marketplace, which is read as its plugins
    for link in files.links:
        is_near = files.join(os.path.dirname(link.path)) in near
        name = os.path.basename(link.path)
        if is_near and (name.endswith(SUFFIXES) or name in LAID_OUT or name == _PLUGINS):
            raise NotCovered
    with written_entries(revision.repository, entries, folders) as top:
        paths = [os.path.join(top, name) for name in revision.names]
        for path in paths:
            if not does_hold_organization(path) and find_organization_above(path) is not None:
                raise NotCovered
        request = resolve_paths(
            paths, top, shown_from=os.path.normpath(os.path.join(top, revision.shown_from)), read_as=OURS
        )
    roots = tuple(_move_root(root, top, files.top) for root in request.roots)
    return show_in_repository(replace(request, roots=roots), top, revision.repository)


def show_in_repository(request: Request, written: str, repository: Repository) -> Request:
    """A request for a written tree with the names of the files in the work tree, where they are shown in full."""

    def rename(name: str) -> str:
        return repository.folder + name.removeprefix(written) if is_within(name, written) else name

    return replace(
        request,
        roots=tuple(replace(root, name=rename(root.name)) for root in request.roots),
        asked=frozenset(map(rename, request.asked)),
    )


def _move_root(root: Root, written: str, top: str) -> Root:
    if (root.only and not root.shared) or root.areas:
        raise NotCovered
    return (
        replace(root, path=top + root.path.removeprefix(written)) if is_within(root.path, written) else root
    )


def _has_followed_link(repository: Repository, files: _TreeFiles, roots: Sequence[Root]) -> bool:
    """Whether a reader of the roots would follow one of the links."""
    tops = [os.path.join(root.path, "") for root in roots if files.does_hold(root.path)]
    links = [link for link in files.links if any(_is_entered(files.join(link.path), top) for top in tops)]
    if any(is_candidate(files.join(link.path)) for link in links):
        return True
    for link, target in zip(links, read_objects(repository, links), strict=True):
        # A link to a file that is not a document is ignored under any other name, too.
        path = os.path.normpath(os.path.join(os.path.dirname(link.path), os.fsdecode(target)))
        if path not in files.others and files.join(path) not in files.entries:
            return True
    return False


def _is_entered(path: str, top: str) -> bool:
    """Whether a path is in a folder, and not below one that is never looked into."""
    if not path.startswith(top):
        return False
    steps = path[len(top) :].split("/")
    return not any(step.startswith(".") or step in SKIPPED_FOLDERS for step in steps)


def _has_our_documents(folder: str, snapshot: Snapshot) -> bool:
    """Whether a folder contains an orgkernel document, so other formats are not searched in it."""
    inside = os.path.join(folder, "")
    return any(
        file.is_orgkernel_document
        and file.read.documents
        and file.located.path.startswith(inside)
        and not file.located.path.endswith(MARKDOWN)
        for file in snapshot.tree.files
    )


# -- what is read of them ------------------------------------------------------------------------------------------------


class _Contents:
    """The contents of files that are not known."""

    def __init__(self, repository: Repository, files: _TreeFiles) -> None:
        self._repository = repository
        self._files = files
        self._contents: dict[str, bytes] = {}
        self.may_name_sources = False
        """Whether one of them could be an organization that names sources."""

    def read(self, located: Sequence[LocatedFile]) -> Iterator[tuple[LocatedFile, bytes]]:
        """Read files of the tree. Raises `NotCovered` for one that is too large, and `UsageError`."""
        entries = [self._files.entries[each.path] for each in located]
        for each, content in zip(located, read_objects(self._repository, entries), strict=True):
            if len(content) > MAX_BYTES:
                raise NotCovered
            yield each, content

    def keep_unpacked(self, path: str, content: bytes) -> None:
        """Keep a content until it is read."""
        self._contents[path] = content
        self.may_name_sources |= all(word in content for word in _SOURCES)

    def read_text(self, located: LocatedFile) -> SourceText:
        """The text of a file."""
        path = located.path
        if path not in self._files.entries:
            return read_located(located)  # a catalog that comes with the package
        if path not in self._contents:
            ((_, self._contents[path]),) = self.read([located])
        return decode(path, located.name, self._contents[path])


def _find_unchanged(
    located: Sequence[LocatedFile],
    files: _TreeFiles,
    digests: ObjectDigests,
    contents: _Contents,
    known: Snapshot | None,
) -> dict[str, LoadedFile]:
    """What files yielded before, by path. The contents of all others are held."""
    before = {file.located.path: file for file in known.tree.files} if known is not None else {}
    unchanged: dict[str, LoadedFile] = {}
    unknown, differing = [], []
    for each in located:
        entry, file = files.entries.get(each.path), before.get(each.path)
        if entry is None:
            if file is not None and file.located.root == each.root:
                unchanged[each.path] = file
            continue
        digest = digests.find(entry)
        if digest is None:
            unknown.append(each)
        elif (reused := _reuse(file, each, digest)) is not None:
            unchanged[each.path] = reused
        else:
            differing.append(each)
    for each, content in contents.read(unknown):
        digest = digests.add(files.entries[each.path], content)
        if (reused := _reuse(before.get(each.path), each, digest)) is not None:
            unchanged[each.path] = reused
        else:
            contents.keep_unpacked(each.path, content)
    for each, content in contents.read(differing):
        contents.keep_unpacked(each.path, content)
    return unchanged


def _reuse(file: LoadedFile | None, located: LocatedFile, digest: str) -> LoadedFile | None:
    """What a file yielded with this content at another place or in another role. None if it has to be read again."""
    if file is None or file.digest != digest:
        return None
    old, new = file.located.root, located.root
    if file.located.leaves or old.areas or old.format or old.shared != new.shared:
        return None
    if (file.located.path == old.path) != (located.path == new.path):
        return None
    if old.context != new.context:
        return None
    if file.located.name == located.name:
        return file
    if file.read.diagnostics or file.read.broken:
        return None  # they name the file
    documents = tuple(
        SourceDocument(located.name, located.path, each.kind, each.packed, digest, new.shared, new.context)
        for each in file.read.documents
    )
    return file._replace(located=located, read=FileResult(documents, skipped=file.read.skipped))
