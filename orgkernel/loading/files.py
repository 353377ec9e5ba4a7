"""Finds, reads and decodes files within limits. With the cache and `skill_files`, the only modules that read the disk.

Nothing here raises for a bad file. A file that cannot be read is returned as a problem at a mark, like a bad value.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import printable
from orgkernel.loading.marks import LINE_BREAK, compute_mark_after, pack_mark
from orgkernel.loading.parsed import DocumentProblem, find_unprintable
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.regular_files import NotRegular, open_regular, read_regular

SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 16 * 1024 * 1024
_FIRST = pack_mark(1, 1)
# The bytes of which most texts consist.
_USUAL = bytes([9, 10, 13, *range(32, 127)])
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
MARKDOWN = ".md"
SKILL_FILE = "SKILL.md"
NOTES = frozenset(
    {"readme", "changelog", "contributing", "license", "index", "claude", "agents", "todo", "notes"}
)
"""Names of usual files next to agents, without the suffix. Without front matter they are not agents."""
SKILLS, ORDERS = "skills", "standing_orders"
"""The folders of Markdown documents: skills, each in its own folder, and standing orders."""
_ORDERS_OF = ("departments", "roles")
# The number of bytes of a too large file that are read, to tell whether it is an orgkernel document.
_PEEK = 64 * 1024


class Area(NamedTuple):
    """A part of a root in another format: a folder with a pattern for its files, or a single file."""

    path: str
    """The path below the root."""
    files: str = ""
    """A regular expression for the paths below the folder, with `/`. Empty if the path is a file."""
    depth: int | None = None
    """The number of levels of folders below the folder that are searched; None for all."""
    content: str = ""
    """The kind of content, if the format cannot tell it from the path."""

    def holds(self, path: str) -> bool:
        r"""Whether a file belongs to the area. The path is relative to the folder.

        >>> Area(".claude/agents", r".*\.md").holds("team/reviewer.md")
        True
        """
        return re.fullmatch(self.files, path.replace(os.sep, "/")) is not None


class SourceUse(NamedTuple):
    """The place where an organization declares files in another format as a source."""

    file: str
    """The path of the document."""
    name: str
    """The shown name of the document."""
    mark: int
    """The mark of the entry in `sources`."""


class SourceUnion(NamedTuple):
    """Several sources of one format that form one organization. Each source is a department of it."""

    folder: str
    """The folder that contains all of them."""
    name: str
    """The name of the organization."""
    part: str = ""
    """The id of the only source to read. Empty for all of them."""


class Root(msgspec.Struct, frozen=True):
    """A file or folder to read, and the name its files are shown under."""

    path: str
    name: str
    shared: bool = False
    """Whether it contains the catalogs that every organization sees."""
    context: bool = False
    """Whether it is read only as context for others. Its own findings are not reported."""
    links: tuple[str, ...] = ()
    """Real paths of other folders and files that links can lead to."""
    from_settings: bool = False
    """Whether the settings of a project name it. They could be shipped with the documents."""
    only: tuple[str, ...] = ()
    """The only folders below that are read, with all their content, and the folders on the way to them. Empty means
    all.
    """
    format: str = ""
    """The format of another host that its files are in; empty for orgkernel documents."""
    areas: tuple[Area, ...] = ()
    """The areas of a folder in another format. Empty for a file or folder with orgkernel documents."""
    called: str = ""
    """The name of the organization in a folder in another format."""
    uses: tuple[SourceUse, ...] = ()
    """The organizations that declare it as a source. They contain its documents, and it is not an organization of its
    own.
    """
    union: SourceUnion | None = None
    """The union that it is part of. None if it is an organization by itself."""
    is_pooled: bool = False
    """Whether its host loads it together with the other pooled roots of the union, which then share their servers."""

    @property
    def homes(self) -> tuple[str, ...]:
        """The folders of the organizations that declare the root as a source."""
        return tuple(dict.fromkeys(os.path.dirname(use.file) for use in self.uses))

    def find_area(self, path: str) -> Area | None:
        """The first area that contains a file. None if no area does."""
        for area in self.areas:
            full = os.path.normpath(os.path.join(self.path, area.path))
            if path == full or (area.files and path.startswith(os.path.join(full, ""))):
                return area
        return None

    def does_enter(self, folder: str) -> bool:
        """Whether a folder below the root is searched."""
        inside = os.path.join(folder, "")
        return not self.only or any(
            inside.startswith(os.path.join(each, "")) or each.startswith(inside) for each in self.only
        )


class LocatedFile(NamedTuple):
    """A file to read, with the root that it was found below."""

    path: str
    name: str
    root: Root
    number: int
    """The number of the root."""
    leaves: bool = False
    """Whether it is a link that leads out of the roots. Such links are not followed."""


class FoundFile(NamedTuple):
    """A candidate file with its path, its name, and its real path."""

    path: str
    name: str
    real: str
    leaves: bool = False
    """Whether it is a link that leads out of the roots."""


class FolderEntry(Protocol):
    """An entry of a folder, as `os.scandir` yields it."""

    @property
    def name(self) -> str:
        """The name in the folder."""

    @property
    def path(self) -> str:
        """The full path."""

    def is_symlink(self) -> bool:
        """Whether it is a link."""

    def is_dir(self) -> bool:
        """Whether it is a folder, or a link to one."""


class FileSystem(Protocol):
    """Where files are looked for: the disk, or the tree of a revision."""

    def is_folder(self, path: str) -> bool:
        """Whether a path is a folder, or a link to one."""

    def find_real_path(self, path: str) -> str:
        """The path without links."""

    def list_entries(self, folder: str) -> Sequence[FolderEntry]:
        """The entries of a folder, in any order. Raises `OSError` for a folder that cannot be listed."""


class _Disk:
    """The files of this machine."""

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def find_real_path(self, path: str) -> str:
        try:
            return os.path.realpath(path)
        except OSError:  # a link whose target this user may not know, as in `/proc`
            return os.path.abspath(path)

    def list_entries(self, folder: str) -> Sequence[FolderEntry]:
        with os.scandir(folder) as entries:
            return list(entries)


DISK: FileSystem = _Disk()


class SourceText(msgspec.Struct, frozen=True):
    """The text of one file, or the reason why it cannot be read."""

    path: str
    name: str
    text: str
    """The text. If there is a problem, it contains the readable parts, which are only used to tell the kind of file."""
    digest: str
    """The SHA-256 of the bytes, in hexadecimal. Empty if they could not be read."""
    problem: DocumentProblem | None = None


def get_markdown_kind(path: str) -> str | None:
    """The kind of a Markdown document from its path: `skills/NAME/SKILL.md` or `standing_orders/….md`. None for other
    files.

    >>> get_markdown_kind("shop/skills/pricing/SKILL.md"), get_markdown_kind("shop/skills/pricing/references/SKILL.md")
    ('cognitive_skill', None)
    >>> get_markdown_kind("shop/standing_orders/roles/clerk.md")
    'standing_order'
    """
    if not path.endswith(MARKDOWN):
        return None
    folders = path.replace(os.sep, "/").split("/")
    name, above, further = folders[-1], *(["", "", *folders][-2:-4:-1])
    if name == SKILL_FILE and further == SKILLS:
        return "cognitive_skill"
    is_order = above == ORDERS or (further == ORDERS and above in _ORDERS_OF)
    return "standing_order" if is_order else None


def is_candidate(path: str) -> bool:
    """Whether a file with this path could contain documents."""
    return path.endswith(SUFFIXES) or get_markdown_kind(path) is not None


def find_files(root: Root) -> Iterator[tuple[str, str]]:
    """Path and name of every candidate file below a root, sorted. Each folder is searched once, even if links lead to
    it.

    Links come after their possible targets, so a file is found under its own name. A folder that cannot be listed is
    yielded itself, so reading it reports the reason. Links that leave the root are left out.
    """
    return ((each.path, each.name) for each in find_real_files(root) if not each.leaves)


def find_real_files(
    root: Root, others: Iterable[str] = (), file_system: FileSystem = DISK
) -> Iterator[FoundFile]:
    """The files of `find_files`, and the links that leave both the root and `others` (real paths with a separator at the end).

    A root in the format of others is always looked for on the disk.
    """
    real_top = file_system.find_real_path(root.path)
    if not file_system.is_folder(root.path):
        yield FoundFile(root.path, printable(root.name), real_top)
        return
    own = (os.path.join(top, "") for top in (real_top, *root.links))
    tops = tuple(dict.fromkeys((*own, *others)))
    if not root.areas:
        yield from _walk(
            root, root.path, printable(root.name), tops, set(), is_candidate, file_system=file_system
        )
        return
    seen: set[str] = set()
    for area in root.areas:
        path, real = os.path.join(root.path, area.path), os.path.realpath(os.path.join(root.path, area.path))
        name = os.path.normpath(os.path.join(printable(root.name), area.path))
        if not os.path.lexists(path):
            continue
        if not os.path.join(real, "").startswith(tops):
            yield FoundFile(path, name, real, leaves=True)
        elif not area.files:
            yield FoundFile(path, name, real)
        elif os.path.isdir(path):
            accepts = partial(_is_in_area, area, len(path) + 1)
            yield from _walk(root, path, name, tops, seen, accepts, area.depth)


def _is_in_area(area: Area, start: int, path: str) -> bool:
    return area.holds(path[start:])


def _walk(
    root: Root,
    top: str,
    top_name: str,
    tops: tuple[str, ...],
    seen: set[str],
    accepts: Callable[[str], bool],
    depth: int | None = None,
    file_system: FileSystem = DISK,
) -> Iterator[FoundFile]:
    """The files in a folder of a root; `seen` are the real paths of searched folders."""
    pending = [(top, top_name, 0, file_system.find_real_path(top))]
    while pending:
        folder, name, level, real = pending.pop()
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = sorted(
                file_system.list_entries(folder), key=lambda entry: (entry.is_symlink(), entry.name)
            )
        except OSError:
            yield FoundFile(folder, name, real)
            continue
        below, inside = [], os.path.join(real, "")
        if os.path.basename(os.path.dirname(folder)) == SKILLS:
            # Other files next to a SKILL.md belong to the skill and are not documents.
            entries = [each for each in entries if each.name == SKILL_FILE] or entries
        for entry in entries:
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                continue
            if root.only and _is_folder(entry) and not root.does_enter(entry.path):
                continue
            # A name can contain a line break, or invalid bytes that could not be printed or hashed.
            shown = printable(entry.name)
            entry_name = f"{name}/{shown}" if name not in ("", ".") else shown
            # The real path of the folder is known, so only links have to be resolved. This saves five calls for each file.
            is_link = entry.is_symlink()
            here = file_system.find_real_path(entry.path) if is_link else inside + entry.name
            if is_link and not os.path.join(here, "").startswith(tops):
                if accepts(entry.path) or _is_folder(entry):
                    yield FoundFile(entry.path, entry_name, here, leaves=True)
            elif _is_folder(entry):
                if depth is None or level < depth:
                    below.append((entry.path, entry_name, level + 1, here))
            elif accepts(entry.path):
                yield FoundFile(entry.path, entry_name, here)
        pending.extend(reversed(below))


def locate_files(roots: Iterable[Root], file_system: FileSystem = DISK) -> list[LocatedFile]:
    """The files below the roots, in the order of reading. A file below two roots is listed once, for the first of them."""
    located: list[LocatedFile] = []
    seen: set[str] = set()
    roots = tuple(roots)
    find_real_path = file_system.find_real_path
    shared = tuple(os.path.join(find_real_path(root.path), "") for root in roots if root.shared)
    tops = tuple(os.path.join(find_real_path(root.path), "") for root in roots)
    # Files of a declared source belong to its organization, even if another path also covers them.
    for number, root in sorted(enumerate(roots), key=lambda each: not each[1].uses):
        as_shared = replace(root, shared=True)
        ours = {find_real_path(use.file) for use in root.uses}
        for path, name, real, leaves in find_real_files(root, tops, file_system):
            if leaves:
                if path not in seen:
                    seen.add(path)
                    located.append(LocatedFile(path, name, root, number, leaves=True))
                continue
            if real in seen or real in ours:
                continue
            seen.add(real)
            # Shared catalogs remain shared even if a path of the user also covers them. The catalog of a host is for its format alone.
            is_shared = real.startswith(shared) and not root.format
            located.append(LocatedFile(path, name, as_shared if is_shared else root, number))
    return located


def read_located(located: LocatedFile) -> SourceText:
    """The text of a located file; a problem for a link that leaves the roots."""
    if not located.leaves:
        return read_text(located.path, located.name)
    problem = DocumentProblem(
        row.LINK_LEAVES, _FIRST, "the link leads out of the folders that are read",
        "name its target in `paths`, allow its folder under `links` in the settings, or copy the file here",
    )  # fmt: skip
    return _build_refused(located.path, located.name, problem)


def does_stay_inside(path: str, links: Iterable[str] = ()) -> bool:
    """Whether a path is not a link, or leads to its own folder, below it, or to one of the `links`, which are real
    paths.
    """
    if not os.path.islink(path):
        return True
    tops = (os.path.realpath(os.path.dirname(path)), *links)
    return os.path.join(os.path.realpath(path), "").startswith(tuple(os.path.join(top, "") for top in tops))


def does_stay_below(path: str, top: str) -> bool:
    """Whether the real path is a folder or below it."""
    real = os.path.realpath(path)
    return os.path.join(real, "").startswith(os.path.join(os.path.realpath(top), ""))


def _is_folder(entry: FolderEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def read_text(path: str, name: str) -> SourceText:
    """The text of a file: at most `MAX_BYTES` of UTF-8 without characters that parsers treat differently."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                return _build_too_large(path, name, size, file.read(_PEEK))
            # Reading only `size` bytes allocates far less than the limit. The file could have grown since, so read on.
            content = file.read(size + 1)
            if len(content) > size:
                content += file.read(MAX_BYTES + 1 - len(content))
    except NotRegular as error:
        what = "a folder that cannot be listed" if error.is_folder else "not a regular file"
        return _build_refused(path, name, DocumentProblem(row.UNREADABLE, _FIRST, f"the path is {what}"))
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it cannot be opened").lower()
        return _build_refused(
            path, name, DocumentProblem(row.UNREADABLE, _FIRST, f"the file cannot be read: {reason}")
        )
    if len(content) > MAX_BYTES:
        return _build_too_large(path, name, len(content), content[:_PEEK])
    return decode(path, name, content)


def digest_file(path: str) -> str | None:
    """The digest of a file. None if it cannot be read."""
    try:
        content = read_regular(path, MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return hashlib.sha256(content).hexdigest() if len(content) <= MAX_BYTES else None


def decode(path: str, name: str, content: bytes) -> SourceText:
    """Decode bytes as UTF-8. A byte order mark is dropped; any other encoding is refused."""
    digest = hashlib.sha256(content).hexdigest()
    body = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        mark = compute_mark_after(body[: error.start].decode())
        message = f"byte 0x{body[error.start]:02x} is not valid UTF-8"
        return SourceText(
            path,
            name,
            _decode_readable_parts(body),
            digest,
            DocumentProblem(row.NOT_UTF8, mark, message, "save the file as UTF-8"),
        )
    # JSON allows all but the first 32 control characters in strings, and does not end lines at them.
    is_usual = text.isascii() and not body.translate(None, _USUAL)
    if not is_usual and not name.endswith(".json") and (match := find_unprintable(text)):
        problem = DocumentProblem(
            row.CHARACTER, compute_mark_after(text[: match.start()]), f"the character U+{ord(match[0]):04X} is not allowed",
            "remove it, or write it as an escape inside double quotes",
        )  # fmt: skip
        return SourceText(path, name, text, digest, problem)
    return SourceText(path, name, text, digest)


def _decode_readable_parts(body: bytes) -> str:
    """The readable parts of a text in another encoding, only to tell the kind of file."""
    utf16 = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return body.decode("utf-16" if utf16 else "utf-8", "replace")


def list_documents_in(folder: str, links: Iterable[str] = ()) -> list[str]:
    """Paths of the candidate files directly in a folder, sorted. Empty if the folder cannot be listed.

    Links that leave the folder are omitted, unless they lead to one of the `links` (real paths).
    """
    names = (name for name in list_names_in(folder) if name.endswith(SUFFIXES) and not name.startswith("."))
    paths = (os.path.join(folder, name) for name in names)
    return [path for path in paths if os.path.isfile(path) and does_stay_inside(path, links)]


def is_within(path: str, folder: str) -> bool:
    """Whether a full path is a folder or is below it."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def is_folder(path: str) -> bool:
    """Whether a path is a folder, or a link to one."""
    return os.path.isdir(path)


def is_file(path: str) -> bool:
    """Whether a path is a file, or a link to one."""
    return os.path.isfile(path)


def list_folders_in(folder: str) -> list[str]:
    """Paths of the folders directly in a folder, sorted, without hidden ones. Empty if it cannot be listed."""
    names = (name for name in list_names_in(folder) if name[0] != "." and name not in SKIPPED_FOLDERS)
    paths = (os.path.join(folder, name) for name in names)
    return [path for path in paths if os.path.isdir(path)]


def list_files_in(folder: str, names: re.Pattern[str]) -> list[str]:
    """Paths of the files directly in a folder whose names match, sorted. Empty if it cannot be listed."""
    paths = (os.path.join(folder, name) for name in list_names_in(folder) if names.fullmatch(name))
    return [path for path in paths if os.path.isfile(path)]


def list_names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; empty if it cannot be listed."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def list_entries_in(folder: str) -> tuple[list[str], list[str], list[str]]:
    """The names of the files, of the folders, and of everything else directly in a folder, such as links to folders, each sorted.
    Empty if it cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda each: each.name)
    except OSError:
        return [], [], []
    files: list[str] = []
    folders: list[str] = []
    others: list[str] = []
    for entry in listed:
        try:
            is_plain_folder = entry.is_dir(follow_symlinks=False)
            (folders if is_plain_folder else files if entry.is_file() else others).append(entry.name)
        except OSError:
            continue
    return files, folders, others


def does_exist(path: str) -> bool:
    """Whether a path exists, as a file, a folder or a link."""
    return os.path.lexists(path)


def has_markdown(folder: str) -> bool:
    """Whether a folder, or one below it, contains a Markdown file. For a link, whose target is not read, whether it is
    a folder.
    """
    return has_file(folder, MARKDOWN)


def has_file(folder: str, suffix: str, *, deep: bool = True) -> bool:
    """Whether a folder, or one below it if `deep`, contains a file with a suffix. For a link, whether it is a folder."""
    if os.path.islink(folder):
        return os.path.isdir(folder) and deep
    for _, below, names in os.walk(folder):
        below.sort()
        if any(name.endswith(suffix) for name in names):
            return True
        if not deep:
            break
    return False


def list_markdown_below(folder: str, most: int = 1_000) -> list[str]:
    """At most `most` Markdown files of a folder and those below it. None if a link leads there."""
    paths: list[str] = []
    for here, below, names in os.walk(folder) if not os.path.islink(folder) else ():
        below.sort()
        paths += (os.path.join(here, name) for name in sorted(names) if name.endswith(MARKDOWN))
        if len(paths) >= most:
            break
    return paths[:most]


def does_reference_exist(top: str, folder: str, name: str) -> bool:
    """Whether a file exists, by a name relative to a folder below the top. True if this cannot be known.

    It cannot be known outside of `top` and behind a link, because links are not followed.
    """
    parts = os.path.normpath(os.path.join(folder, name)).split(os.sep)
    if parts[0] in (os.pardir, "") or "\0" in name:
        return True
    here = top
    for part in parts:
        here = os.path.join(here, part)
        try:
            state = os.lstat(here)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        if stat.S_ISLNK(state.st_mode):
            return True
    return True


_LINE_BREAK_BYTES = lazy_pattern(rb"\r\n?|\xc2\x85|\xe2\x80[\xa8\xa9]")
_ESCAPED_CHARACTER = lazy_pattern(
    rb"\\(?:x|u00|U000000)(2[013-9A-Fa-f]|[346][0-9A-Fa-f]|[57][0-9ABDEabde]|5[Ff])"
)


def read_head(path: str, size: int) -> bytes:
    """The beginning of a file. Empty for a folder or an unreadable file."""
    try:
        return read_regular(path, size)
    except (OSError, ValueError):
        return b""


def does_mention(path: str, words: str) -> bool:
    """Whether a file contains some words. A folder or an unreadable file contains none."""
    text = read_head(path, MAX_BYTES)
    return bool(text) and words.encode() in text


def find_words(path: str, words: re.Pattern[bytes]) -> list[bytes]:
    """The matches of a pattern in a file. Empty for a folder or an unreadable file."""
    return find_in_head(path, words, MAX_BYTES)


def find_in_head(path: str, words: re.Pattern[bytes], size: int) -> list[bytes]:
    """The matches of a pattern in the beginning of a file. Empty for a folder or an unreadable file.

    Every line break of YAML is read as a line feed, and an escape of YAML or JSON as its character, so that neither hides a key.
    """
    head = read_head(path, size)
    if b"\r" in head or not head.isascii():
        head = _LINE_BREAK_BYTES.sub(b"\n", head)
    if b"\\" in head:
        head = _ESCAPED_CHARACTER.sub(lambda match: bytes.fromhex(match[1].decode()), head)
    return words.findall(head)


def read_lines(path: str, digest: str) -> list[str]:
    """The lines of a file for an excerpt. Empty if it can no longer be read, or has another digest."""
    source = read_text(path, path)
    return LINE_BREAK.split(source.text) if digest and source.digest == digest else []


def may_show_lines(located: LocatedFile, tops: Sequence[str]) -> bool:
    """Whether a file is in one of some folders, or in a folder that the command line names and that is not a link.

    The lines of a file that a link or the settings of a project lead to elsewhere are never shown.
    """
    real, root = os.path.realpath(located.path), located.root.path
    named = () if located.root.from_settings or os.path.islink(root) else (os.path.realpath(root),)
    return any(is_within(real, top) for top in (*tops, *named))


def _build_refused(path: str, name: str, problem: DocumentProblem, text: str = "") -> SourceText:
    return SourceText(path, name, text, "", problem)


def _build_too_large(path: str, name: str, size: int, beginning: bytes) -> SourceText:
    message = f"the file has {size / 2**20:.1f} MiB, more than the limit of {MAX_BYTES // 2**20} MiB"
    problem = DocumentProblem(row.TOO_LARGE, _FIRST, message, "split the documents into several files")
    return _build_refused(path, name, problem, _decode_readable_parts(beginning))
