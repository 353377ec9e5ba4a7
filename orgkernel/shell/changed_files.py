"""The files that a program changes, from its words and the table of programs.

`ontology/commands/changed_files.yaml` has the facts, their meaning and their sources.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.loading.shipped_tables import read_shipped_table
from orgkernel.shell.marks import ShellWord
from orgkernel.shell.options import Options, read_options

_TABLE: Final = ("commands", "changed_files.yaml")
# Options of a program before its subcommand that have a value.
_VALUED_BEFORE: Final = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--prefix",
    "--cwd",
    "-n",
    "--context",
)
_FOLDERS: Final = ("-C", "--work-tree", "--cwd", "--prefix")


class ProgramChanges(NamedTuple):
    """The files that a program changes."""

    files: tuple[ShellWord, ...] = ()
    """Relative to `folder`, if it is not empty."""
    is_unseen: bool = False
    """Whether it changes files that its words do not name."""
    folder: str = ""


def find_changes(program: str, args: Sequence[ShellWord]) -> ProgramChanges:
    """The files that a program changes on this machine, as far as its words state them. Empty for unknown programs.

    >>> [each.text for each in find_changes("black", [ShellWord("a.py", 0, 4)]).files]
    ['a.py']
    >>> find_changes("black", [ShellWord("--check", 0, 7), ShellWord("a.py", 8, 12)]), find_changes("ls", [])
    (ProgramChanges(files=(), is_unseen=False, folder=''), ProgramChanges(files=(), is_unseen=False, folder=''))
    """
    if program.startswith("python") and len(args) > 1 and args[0].text == "-m":
        program, args = args[1].text, args[2:]
    entries, rest, folder = _find_entries(program, list(args))
    files: list[ShellWord] = []
    is_unseen = False
    for entry in entries:
        own, unseen = _apply(entry, rest)
        files += own
        is_unseen |= unseen
    return ProgramChanges(tuple(files), is_unseen, folder)


def _apply(entry: Mapping[str, Any], args: list[ShellWord]) -> tuple[list[ShellWord], bool]:
    """The files that an entry names, and whether there are others."""
    if entry.get("bundled") and args and not args[0].text.startswith("-"):
        args = [args[0].but(f"-{args[0].text}"), *args[1:]]
    options = _read(entry, args)
    if not _has(entry, "when", options, args, default=True):
        return [], False
    written = (value for name in _list_names(entry, "writes") for value in options.values.get(name, ()))
    files = [each for each in written if each.text != "-"]
    changes = entry.get("changes")
    if changes is None or _has(entry, "unless", options, args):
        return files, False
    if changes == "operands":
        files += [each for each in options.operands if not _is_remote(each.text)][entry.get("skip", 0) :]
    elif changes == "last":
        files += [each for each in options.operands[-1:] if not _is_remote(each.text)]
    # An output that is named is the only one of a program such as a compiler.
    return files, changes == "unseen" and not files


def find_writing_options(beginning: str) -> Mapping[str, Any]:
    """The options with which a program that reads writes or starts another program: `long`, `letters`, `words`, and the number of
    `operands` from which on it writes.

    A program that changes files without an option has 0 operands, so that every use of it writes.

    >>> find_writing_options("git grep:*")["letters"], find_writing_options("/usr/bin/sort")["letters"]
    ('O', 'To')
    >>> find_writing_options("unheard-of") == find_writing_options("other")
    True
    """
    table = read_table()
    words = beginning.removesuffix(":*").removesuffix("*").split()
    program = os.path.basename(words[0]) if words else ""
    for name in (" ".join([program, *words[1:2]]), program):
        if name in table["programs"]:
            return _collect_options(_as_list(table["programs"][name]))
    return _collect_options([table["others"]])


def list_readers() -> Mapping[str, Mapping[str, Any]]:
    """The options with which programs write, for all programs that otherwise change no file which their words name."""
    return {
        name: _collect_options(_as_list(entries))
        for name, entries in read_table()["programs"].items()
        if not any("changes" in each and "when" not in each for each in _as_list(entries))
    }


def read_table() -> Mapping[str, Any]:
    """The table of programs."""
    table: Mapping[str, Any] = read_shipped_table(os.path.join(get_shipped_folder("ontology"), *_TABLE))
    return table


def _as_list(entries: Any) -> Sequence[Mapping[str, Any]]:
    return [entries] if isinstance(entries, dict) else entries


def _collect_options(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    groups = [entry.get(name, {}) for entry in entries for name in ("other", "writes", "when")]
    always = any("changes" in each and "when" not in each for each in entries)
    return {
        "long": [each for group in groups for each in group.get("long", ())],
        "letters": "".join(group.get("letters", "") for group in groups),
        "words": [each for group in groups for each in group.get("words", ())],
        "operands": 0 if always else next((each["operands"] for each in entries if "operands" in each), -1),
    }


def _find_entries(
    program: str, args: list[ShellWord]
) -> tuple[Sequence[Mapping[str, Any]], list[ShellWord], str]:
    """The entries of a program or of its subcommand, the words behind it, and the folder in which it runs."""
    programs = read_table()["programs"]
    folder = ""
    number = 0
    while number < len(args) and args[number].text.startswith("-"):
        word = args[number].text
        if word in _FOLDERS and number + 1 < len(args):
            folder = args[number + 1].text
        number += 2 if word in _VALUED_BEFORE else 1
    if number < len(args) and (entries := programs.get(f"{program} {args[number].text}")) is not None:
        return _as_list(entries), args[number + 1 :], folder
    return _as_list(programs.get(program, ())), args, ""


def _read(entry: Mapping[str, Any], args: list[ShellWord]) -> Options:
    """The options. Those of one dash and several letters are read before, because no other program has them."""
    groups = [entry.get(name, {}) for name in ("writes", "valued")]
    single = set(_list_words(entry))
    values: dict[str, list[ShellWord]] = {}
    rest: list[ShellWord] = []
    words = iter(args)
    for word in words:
        if word.text in single:
            if (value := next(words, None)) is not None:
                values.setdefault(word.text, []).append(value)
        else:
            rest.append(word)
    options = read_options(
        rest,
        valued="".join(group.get("letters", "") for group in groups),
        long_valued=[each for group in groups for each in group.get("long", ())],
        longs=[each for name in ("when", "unless") for each in entry.get(name, {}).get("long", ())],
    )
    options.values.update(values)
    return options


def _list_words(entry: Mapping[str, Any]) -> Sequence[str]:
    words: Sequence[str] = entry.get("writes", {}).get("words", ())
    return words


def _list_names(entry: Mapping[str, Any], group: str) -> Sequence[str]:
    options = entry.get(group, {})
    return [*options.get("long", ()), *options.get("letters", ""), *options.get("words", ())]


def _has(
    entry: Mapping[str, Any],
    group: str,
    options: Options,
    args: Sequence[ShellWord],
    *,
    default: bool = False,
) -> bool:
    """Whether one of the options of a group is among the words."""
    if group not in entry:
        return default
    words = entry[group].get("words", ())
    return options.has(*_list_names(entry, group)) or any(each.text in words for each in args)


def _is_remote(path: str) -> bool:
    """Whether an operand is a file on another machine or in a container: `HOST:PATH`, or an address."""
    before, colon, _ = path.partition(":")
    return bool(colon) and "/" not in before
