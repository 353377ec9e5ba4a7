r"""Compares paths with globs. Grants, restrictions and file scopes all use this module.

There are two questions, and both are conservative. `is_inside` is true only if every reading of a path is in the
glob, so it is safe for granting. `may_touch` is false only if no reading of the path can reach the glob, so it is
safe for denying. A path that cannot be compared is therefore outside a grant and inside a restriction.

A relative path starts at the root of the workspace. If no root is stated, relative and absolute paths cannot be
compared. The root also shows the kind of host. `C:/repo` is Windows, where a backslash is a separator. Elsewhere,
some programs treat a backslash as part of a name and others as a separator, so a path with a backslash cannot be
compared.

In a glob, `*`, `?` and `[…]` stay within one name, and `**` as a whole name stands for any number of folders. A glob
without them is one file or folder. Symbolic links are not resolved here: the program that opens the file resolves
them first.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
import unicodedata
from fnmatch import translate
from functools import lru_cache
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern

MAX_CHARACTERS: Final = 4096
"""Maximum length. A longer path cannot be compared, because no host opens it."""
MAX_NAMES: Final = 256
ANYWHERE: Final = "**"

_DRIVE: Final = lazy_pattern(r"[A-Za-z]:")
_SCHEME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:")
# Parts that a program can replace before it opens a file: a home folder, a variable, a command, an escaped character.
# A variable can be empty, so a `..` after it leads out of the folder before it.
_REPLACED: Final = lazy_pattern(r"^~|[$`]|%[0-9A-Fa-f]{2}|%\w+%")
# Some programs read `{a,b}` as two paths.
_ALTERNATIVES: Final = frozenset("{,}")
# Starts of globs about the home folder, and about files wherever the workspace is.
_OUTSIDE: Final = ("~/", "//")
# Folders that can be a home folder, or contain home folders.
_HOMES: Final = frozenset({"home", "root", "users"})
# Folders of the namespace of Windows NT. A path below them can be another name for a file on a drive.
_NT_NAMESPACE: Final = lazy_pattern(
    r"(?i)/(?:\?\?|global\?\?|device|dosdevices|globalroot|systemroot|winnt)(?:/|\Z)"
)
_SHORT_NAME: Final = lazy_pattern(r"~[0-9]")
_WILD: Final = lazy_pattern(r"[*?\[]")
_CLASS: Final = lazy_pattern(r"\[!?\]?[^\]]*\]|[?]")


class FilePath(NamedTuple):
    """A comparable path: its start, and the names that lead to the file."""

    start: str
    """`/`, a drive such as `C:/`, or an empty string for a path relative to an unknown root."""
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.start + "/".join(self.names) or "."


@lru_cache(maxsize=1024)
def read_path(path: str, root: str | None = None) -> FilePath | None:
    r"""A normalized path, without `.`, `..`, and doubled or trailing separators. None if it cannot be compared.

    >>> str(read_path("src/../docs//a.md", "/repo")), str(read_path("/repo/docs/./a.md/", "/repo"))
    ('/repo/docs/a.md', '/repo/docs/a.md')
    >>> read_path("../a.md"), read_path("~/a.md", "/repo"), read_path("a\\b", "/repo")
    (None, None, None)
    """
    if not path or len(path) > MAX_CHARACTERS or path != path.strip() or not path.isprintable():
        return None
    if _REPLACED.search(path) or _ALTERNATIVES.issubset(path) or _has_hidden_separator(path):
        return None
    if root is not None and _DRIVE.match(root):
        return _parse_windows_path(path, root)
    if "\\" in path or _SCHEME.match(path) or _DRIVE.match(path):
        return None
    if path.startswith("/"):
        return _walk("/", (), path)
    if root is None:
        return _walk("", (), path)
    start = _walk("/", (), root) if root.startswith("/") else None
    return None if start is None else _walk(start.start, start.names, path)


def _parse_windows_path(path: str, root: str) -> FilePath | None:
    path, root = path.replace("\\", "/"), root.replace("\\", "/")
    start = _walk(f"{root[0].upper()}:/", (), root[2:])
    drive = _DRIVE.match(path)
    if drive is not None:
        # `C:a` starts at a folder that the process remembers for the drive.
        file_path = _walk(f"{path[0].upper()}:/", (), path[2:]) if path[2:3] == "/" else None
    elif path.startswith("//") or _NT_NAMESPACE.match(path):
        # A share or a device can be another name for a file on a drive.
        file_path = None
    elif start is None or path.startswith("/"):
        file_path = start and _walk(start.start, (), path)
    else:
        file_path = _walk(start.start, start.names, path)
    if file_path is None or any(":" in name or _SHORT_NAME.search(name) for name in file_path.names):
        return None
    return file_path


def _walk(start: str, above: tuple[str, ...], path: str) -> FilePath | None:
    names = list(above)
    for name in path.split("/"):
        if name == "..":
            if names:
                if names.pop() == ANYWHERE:
                    return None
            elif not start:
                return None
        elif name not in ("", "."):
            # Windows drops dots at the end of a name, so `...` can be the folder itself.
            if not name.strip(". "):
                return None
            names.append(name)
    return FilePath(start, tuple(names)) if len(names) <= MAX_NAMES else None


def _has_hidden_separator(path: str) -> bool:
    """Whether full-width and similar characters would become separators or dots on a host that normalizes them."""
    if path.isascii():
        return False
    plain = unicodedata.normalize("NFKC", path)
    return any(plain.count(mark) != path.count(mark) for mark in ("/", "\\", "..", ":", "~"))


def is_inside(path: str, glob: str, root: str | None = None) -> bool:
    """Whether a path is certainly in a glob. Use it for granting.

    >>> is_inside("src/a.py", "/repo/src/**", "/repo"), is_inside("src/../a.py", "src/**"), is_inside("SRC/a.py", "src/**")
    (True, False, False)
    """
    read = read_path(path, root)
    pattern = _compile(glob, root)
    if read is None or pattern is None or not pattern.is_exact or read.start != pattern.start:
        return False
    # A program may expand these to other files than the glob allows.
    if any("*" in name or "?" in name for name in read.names):
        return False
    return _do_names_match(read.names, pattern.exact)


def may_touch(path: str, glob: str, root: str | None = None) -> bool:
    """Whether a path could be in a glob, in a folder that the glob names, or a parent folder of it. Use it for denying.

    >>> may_touch("/ETC/passwd", "/etc/**", "/repo"), may_touch("../etc", "/etc/**", "/repo"), may_touch("a", "/etc/**")
    (True, True, True)
    >>> may_touch("/repo/a", "/etc/**", "/repo"), may_touch("/", "/etc/**", "/repo"), may_touch("/srv/a", "/srv/*/key")
    (False, True, True)
    >>> may_touch("/home/a/.ssh/id", "~/.ssh/**"), may_touch("src/a", "~/.ssh/**"), may_touch("src/a", "//etc/**")
    (True, False, False)
    """
    if glob.startswith(_OUTSIDE):
        return _may_touch_outside(path, glob, root)
    read = read_path(path, root)
    pattern = _compile(glob, root)
    if read is None or pattern is None or read.start != pattern.start:
        # Only two different drives are known to be disjoint.
        return read is None or pattern is None or not (read.start[1:2] == pattern.start[1:2] == ":")
    names = tuple(map(fold, read.names))
    wild = next((number for number, name in enumerate(read.names) if _WILD.search(name)), None)
    if wild is not None:
        # A program may expand it to anything in that folder.
        names = names[:wild]
        if pattern.fixed == names[: len(pattern.fixed)]:
            return True
    return (
        _may_contain(names, pattern.folded)
        or _do_names_match(names, pattern.folded)
        or _do_names_match(read.names, pattern.below)
    )


def is_comparable_glob(glob: str, root: str | None = None) -> bool:
    """Whether paths can be compared with every part of a glob.

    >>> is_comparable_glob("src/**"), is_comparable_glob("~/.ssh/**"), is_comparable_glob("*.{a,b}"), is_comparable_glob("$X/a")
    (True, True, False, False)
    """
    if glob.startswith(_OUTSIDE):
        return bool(glob[2:].strip("/")) and is_comparable_glob(glob[2:].strip("/"))
    pattern = _compile(glob, root)
    return pattern is not None and pattern.is_exact


def _may_touch_outside(path: str, glob: str, root: str | None) -> bool:
    """Whether a path could be in a glob that starts at the home folder (`~/`) or at the top of the file system (`//`).

    Where home is stays unknown, so any folder can be. Without a root, a relative path is in a workspace that could be above
    the part, but not in it, because then every call would be about the part.
    """
    is_home, rest = glob.startswith("~"), glob[2:].strip("/")
    names = rest.split("/")
    if (
        read_path(rest) is None
        or names in ([""], [ANYWHERE])
        or (root is not None and not root.startswith("/"))
    ):
        return True
    if is_home and path.startswith("~/"):
        return may_touch(path[2:] or ".", rest)
    read = read_path(path, root)
    if read is None:
        return True
    if read.start == "/":
        if not is_home:
            return may_touch(str(read), f"/{rest}")
        # `/`, `/home` and `/home/a` contain home folders, so deleting one of them touches what is below.
        may_hold_home = len(read.names) < 3 and (not read.names or fold(read.names[0]) in _HOMES)
        return may_hold_home or may_touch(str(read), f"/{ANYWHERE}/{rest}")
    # A relative path may begin in any folder of the glob, so it is compared with each of its endings.
    first = 0 if is_home or _WILD.search(names[0]) else 1
    suffixes = (names[number:] for number in range(first, len(names)))
    return any(may_touch(path, "/".join(each)) for each in suffixes if each != [ANYWHERE])


def _may_contain(names: tuple[str, ...], patterns: _Patterns) -> bool:
    """Whether a folder can be a parent of files in a glob. After the first `**`, any folder can."""
    for number, name in enumerate(names):
        pattern = patterns[number] if number < len(patterns) else None
        if pattern is None or not pattern.fullmatch(name):
            return False
    return True


def are_names_inside(names: tuple[str, ...], glob: str, root: str | None = None) -> bool:
    """Whether an existing file is certainly in a glob. Its names, starting at the root, are taken literally.

    >>> are_names_inside(("app", "$id.tsx"), "app/**"), are_names_inside(("App", "a"), "app/**")
    (True, False)
    """
    start, pattern = _start_of(root), _compile(glob, root)
    if start is None or pattern is None or not pattern.is_exact or start.start != pattern.start:
        return False
    return _do_names_match((*start.names, *names), pattern.exact)


def may_names_be_inside(names: tuple[str, ...], glob: str, root: str | None = None) -> bool:
    """Whether an existing file could be in a glob, or below a path that it names. Case and accents are ignored.

    >>> may_names_be_inside(("WEB", ".Env"), "**/.env"), may_names_be_inside(("web", "env"), "**/.env")
    (True, False)
    """
    start, pattern = _start_of(root), _compile(glob, root)
    if start is None or pattern is None or start.start != pattern.start:
        # Only two different drives are known to be disjoint.
        return start is None or pattern is None or not (start.start[1:2] == pattern.start[1:2] == ":")
    whole = (*start.names, *names)
    return _do_names_match(tuple(map(fold, whole)), pattern.folded) or _do_names_match(whole, pattern.below)


@lru_cache(maxsize=64)
def _start_of(root: str | None) -> FilePath | None:
    return FilePath("", ()) if root is None else read_path(".", root)


def is_glob_inside(given: str, held: str, root: str | None = None) -> bool:
    """Whether every path that is certainly in one glob is certainly in another. Use it for passing on permissions.

    >>> is_glob_inside("/srv/a/*.py", "/srv/**"), is_glob_inside("/srv/**", "/srv/*"), is_glob_inside("/srv", "/srv/**")
    (True, False, False)
    """
    one, other = _read_glob(given, root), _read_glob(held, root)
    if one is None or other is None or one.start != other.start or not (_is_clear(one) and _is_clear(other)):
        # A glob that cannot be compared is surely inside an equal one, and nothing else is known about it.
        return given == held
    return _is_within(one.names, other.names)


def may_globs_meet(one: str, other: str, root: str | None = None) -> bool:
    """Whether two globs could contain the same path, or one of them a parent folder of a path in the other.

    >>> may_globs_meet("/etc/**", "/srv/**"), may_globs_meet("/etc/**", "/**"), may_globs_meet("/ETC/**", "/etc/passwd")
    (False, True, True)
    """
    first, second = _compile(one, root), _compile(other, root)
    if first is None or second is None or first.start != second.start:
        return first is None or second is None or not (first.start[1:2] == second.start[1:2] == ":")
    # Only names before the first wildcard are compared. Beyond that, two globs are taken to meet.
    common = min(len(first.fixed), len(second.fixed))
    return first.fixed[:common] == second.fixed[:common]


FixedNames = tuple[str, tuple[str, ...]]
"""The start of a path, and folded names that follow it."""


def get_fixed_names(glob: str, root: str | None = None) -> FixedNames | None:
    """The names of a glob before the first name with a wildcard. None if the glob cannot be compared.

    Every path in the glob begins with these names. So does every path that touches the glob, except for parent folders.

    >>> get_fixed_names("/srv/Data/*.csv"), get_fixed_names("src/**"), get_fixed_names("$HOME/**")
    (('/', ('srv', 'data')), ('', ('src',)), None)
    """
    read = read_path(glob, root)
    if read is None:
        return None
    names: list[str] = []
    for name in read.names:
        if _WILD.search(name) or "{" in name:
            break
        names.append(fold(name))
    return read.start, tuple(names)


def get_folded_names(path: str, root: str | None = None) -> FixedNames | None:
    """The names of a path up to the first name that a program could expand. None if the path cannot be compared.

    >>> get_folded_names("/srv/Data/a.csv"), get_folded_names("src/*/b")
    (('/', ('srv', 'data', 'a.csv')), ('', ('src',)))
    """
    read = read_path(path, root)
    if read is None:
        return None
    wild = next((number for number, name in enumerate(read.names) if _WILD.search(name)), None)
    return read.start, tuple(map(fold, read.names[:wild]))


def _is_within(given: tuple[str, ...], held: tuple[str, ...]) -> bool:
    if given and held:
        # Globs that begin or end with a literal name nearly always differ in that name.
        if held[0] != ANYWHERE and not _is_name_within(given[0], held[0]):
            return False
        if held[-1] != ANYWHERE and not _is_name_within(given[-1], held[-1]):
            return False
    # Row by row from the end: whether what is left of `given` is within what is left of `held`.
    below = [each == len(given) for each in range(len(given) + 1)]
    for number in reversed(range(len(held))):
        name, last = held[number], number == len(held) - 1
        row = [False] * (len(given) + 1)
        for at in reversed(range(len(given) + 1)):
            if name == ANYWHERE:
                row[at] = at < len(given) if last else below[at] or (at < len(given) and row[at + 1])
            elif at < len(given):
                row[at] = _is_name_within(given[at], name) and below[at + 1]
        below = row
    return below[0]


def _is_name_within(given: str, held: str) -> bool:
    if given == ANYWHERE or held in (given, "*"):
        return given != ANYWHERE
    return not _WILD.search(given) and _compile_name_pattern(held).fullmatch(given) is not None


@lru_cache(maxsize=4096)
def _compile_name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(translate(name))


@lru_cache(maxsize=8192)
def fold(name: str) -> str:
    r"""Fold a name like the most permissive file system: without case, with normalized accents, without trailing dots.

    >>> fold("ÉTC. ") == fold("e\u0301tc"), fold("file.txt::$DATA")
    (True, 'file.txt')
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = unicodedata.normalize("NFKC", name.upper().casefold())
        name = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    name = name.casefold()
    before, colon, _ = name.partition(":")
    name = before if colon and before else name
    return name.rstrip(". ")


_Patterns = tuple[re.Pattern[str] | None, ...]
_ANY_NAME: Final = lazy_pattern(r"(?s:.)+")


class _Pattern(NamedTuple):
    start: str
    is_exact: bool
    """Whether every part of the glob is understood."""
    exact: _Patterns
    """The names in the glob: a pattern for each name, and None for any number of folders. A folder itself is not in
    the glob of its contents."""
    below: _Patterns
    """The same names, and everything below them."""
    folded: _Patterns
    """The same for folded names."""
    fixed: tuple[str, ...]
    """The folded names before the first name with a wildcard."""
    names: tuple[str, ...]
    """The original names."""


@lru_cache(maxsize=4096)
def _read_glob(glob: str, root: str | None) -> FilePath | None:
    return read_path(glob, root)


def _is_clear(glob: FilePath) -> bool:
    """Whether every part of a glob is understood."""
    return not any(name != ANYWHERE and (ANYWHERE in name or "{" in name) for name in glob.names)


@lru_cache(maxsize=4096)
def _compile(glob: str, root: str | None) -> _Pattern | None:
    read = _read_glob(glob, root)
    if read is None:
        return None
    exact: list[re.Pattern[str] | None] = []
    folded: list[re.Pattern[str] | None] = []
    fixed: list[str] = []
    for name in read.names:
        if name == ANYWHERE:
            exact.append(None)
            folded.append(None)
        elif ANYWHERE in name or "{" in name:
            break
        else:
            exact.append(re.compile(translate(name)))
            # Folding may change the number of letters.
            loose = _CLASS.sub("*", name)
            folded.append(re.compile(translate(fold(loose) or "*")))
            if len(fixed) == len(folded) - 1 and not _WILD.search(name):
                fixed.append(fold(name))
    # At the end, `**` needs at least one name: the contents of a folder do not include the folder itself.
    within = (*exact[:-1], _ANY_NAME, None) if exact and exact[-1] is None else exact
    return _Pattern(
        read.start, _is_clear(read), tuple(within), (*exact, None), (*folded, None), tuple(fixed), read.names
    )


def _do_names_match(names: tuple[str, ...], patterns: _Patterns) -> bool:
    """Whether names match patterns. For each None, the nearest folder is tried first."""
    # `at` counts names and `here` patterns. `back` is where the last `**` could take one more folder, if the rest does not match.
    at = here = 0
    back: tuple[int, int] | None = None
    while at < len(names):
        pattern = patterns[here] if here < len(patterns) else ...
        if pattern is None:
            here += 1
            back = at, here
        elif pattern is not ... and pattern.fullmatch(names[at]):
            at, here = at + 1, here + 1
        elif back is not None:
            at, here = back[0] + 1, back[1]
            back = at, here
        else:
            return False
    return all(pattern is None for pattern in patterns[here:])
