"""The options with which programs that usually only read write files or start other programs, from the command catalog."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from orgkernel.shell.catalog import (
    HARMLESS,
    Facts,
    Node,
    build_tree,
    find_shipped,
    list_shipped_programs,
    read_words,
)

WRITING_ROLES: Final = frozenset(
    ("path_added", "path_written", "path_changed", "path_deleted", "tree_deleted", "folder_filled")
)
RUNNING_ROLES: Final = frozenset(
    ("command", "package", "shell", "shell_words", "script", "task", "code", "sql")
)


# Readers of programs that only read, without options that the entry states.
_READING_READERS: Final = frozenset(
    ("cat", "echo", "printf", "grep", "ls", "pwd", "basename", "dirname", "realpath", "yes", "sort", "git_paths", "git_one_word",
     "git_lines")
)  # fmt: skip
# Readers whose other options and operands the entry states.
_STATED_READERS: Final = _READING_READERS | {"find", "fd", "sed", "awk"}


def find_writing_options(beginning: str) -> Mapping[str, Any]:
    """The options with which a program that reads writes or starts another program: `long`, `letters`, `words`, and the
    number of `operands` from which on it writes.

    A program that changes files without an option has 0 operands, so that every use of it writes.

    >>> find_writing_options("git grep:*")["letters"], find_writing_options("/usr/bin/sort")["letters"]
    ('Oc', 'To')
    >>> find_writing_options("unheard-of") == find_writing_options("other")
    True
    """
    words = beginning.removesuffix(":*").removesuffix("*").split()
    program = os.path.basename(words[0]) if words else ""
    facts = find_shipped(program)
    if facts is None:
        # Unknown programs share the options that write in many programs. -1: no number of operands makes it write.
        return _split(read_words("doubtful_options"), -1)
    node = build_tree(program, facts)
    entries = [facts]
    for word in words[1:]:
        below = node.find(word)
        if below is None:
            break
        node = below
        entries += [node.facts] if node.facts is not None else []
    return _describe(node, entries)


def list_readers() -> Sequence[Mapping[str, Any]]:
    """The programs that change no file which their words name, with the options with which they write all the same.

    Each row has `names`, which are programs, or programs with their subcommands, and their `writing` options.
    """
    return _group(_does_read)


def _group(is_listed: Callable[[str, Facts], bool]) -> Sequence[Mapping[str, Any]]:
    """The programs, and the programs with a subcommand, by the options with which they write."""
    rows: dict[str, dict[str, Any]] = {}
    for name, facts in list_shipped_programs().items():
        for each in (name, *facts.get("also", ())):
            for key, node, entries in _walk(build_tree(each, facts), facts):
                writing = _describe(node, entries)
                if writing["operands"] != 0 and is_listed(key, entries[-1]):
                    row = rows.setdefault(json.dumps(writing), {"names": [], "writing": writing})
                    row["names"].append(key)
    return list(rows.values())


def _does_read(name: str, facts: Facts) -> bool:
    """Whether an entry says of a program that it reads, or that it changes only what git keeps."""
    is_read = facts.get("effect", "reads" if facts.get("subcommands") else "unknown") == "reads"
    return (is_read or name.startswith("git ")) and facts.get("reader", "cat") in _STATED_READERS


def _walk(root: Node, facts: Facts) -> Iterator[tuple[str, Node, list[Facts]]]:
    """The program, and its subcommands of one word."""
    yield root.name, root, [facts]
    for child in root.children.values():
        if child.facts is not None:
            yield child.name, child, [facts, child.facts]


def _describe(node: Node, entries: list[Facts]) -> Mapping[str, Any]:
    """The options that write, and the number of operands from which on the program writes."""
    # The innermost entry decides about operands, but options of the program itself also apply to its subcommands.
    facts = entries[-1]
    options = {option for each in entries for option in _list_options(each)}
    operands = _count_operands(facts)
    if operands < 0 and (node.children or node.patterns):
        operands = 1  # any subcommand
    return _split(options, operands)


def _list_options(facts: Facts) -> Iterator[str]:
    for role, options in facts.get("values", {}).items():
        if role in WRITING_ROLES or role in RUNNING_ROLES:
            yield from options
    for case in facts.get("cases", ()):
        if _changes(case):
            yield from case.get("options", ())


def _changes(case: Facts) -> bool:
    return (
        "operation" in case
        or case.get("effect", "reads") != "reads"
        or case.get("unseen", False)
        or bool(case.get("files"))
        or _first_writing(case.get("operands")) > 0
    )


def _count_operands(facts: Facts) -> int:
    """0 if the program writes always, the number of the first operand that it writes, and otherwise -1."""
    default = "reads" if facts.get("subcommands") else "unknown"
    if facts.get("unseen") or "operation" in facts or facts.get("effect", default) not in HARMLESS:
        return 0
    counts = [
        case["at_least"]
        for case in facts.get("cases", ())
        if _changes(case) and not case.get("options") and "at_least" in case
    ]
    return _first_writing(facts.get("operands")) or min(counts, default=-1)


def _first_writing(operands: Any) -> int:
    """The number of the first operand that is written or run, from 1. 0 if there is none."""
    if operands is None:
        return 0
    if isinstance(operands, str):
        operands = {"rest": operands}
    roles = [*operands.get("first", ()), operands.get("rest", "text"), operands.get("last", "text")]
    return next((n for n, role in enumerate(roles, 1) if role in WRITING_ROLES or role in RUNNING_ROLES), 0)


def _split(options: Iterable[str], operands: int) -> Mapping[str, Any]:
    names = sorted(options)
    return {
        "long": [each[2:] for each in names if each.startswith("--")],
        "letters": "".join(each[1] for each in names if len(each) == 2),
        "words": [each for each in names if len(each) > 2 and not each.startswith("--")],
        "operands": operands,
    }
