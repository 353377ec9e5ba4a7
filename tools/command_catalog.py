"""Compiles the documents of `ontology/commands/` into the form that the reader of shell commands loads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from orgkernel.documents.records import CommandCatalog, ProgramEntry
from orgkernel.loading.marks import Marks, find_mark, unpack_mark
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.runtime.commands import PLAIN_PROGRAMS
from orgkernel.shell.catalog import COMPILED, compile_names, list_shipped_programs
from orgkernel.shell.readers import READERS

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = REPOSITORY / "ontology/commands"
WORDS = "words.yaml"
TARGET = f"orgkernel/shell/{COMPILED}"


def render_command_catalog() -> str:
    """The compiled catalog as JSON, one program in a line."""
    programs: dict[str, Any] = {}
    words: Mapping[str, Any] = {}
    for path in sorted(DOCUMENTS.glob("*.yaml")):
        parsed = parse_yaml(path.read_text(encoding="utf-8"))
        assert not parsed.problems, (path.name, parsed.problems)
        (document,) = parsed.documents
        if path.name == WORDS:
            words = document.value
            continue
        catalog = msgspec.convert(document.value, CommandCatalog)
        for name, entry in catalog.programs.items():
            assert name not in programs, f"two documents have an entry for {name}"
            programs[name] = _compile_program(path.name, document.marks, name, entry)
    _refuse_repeated_names(programs)
    rows = ",\n".join(f"{json.dumps(name)}: {_compress(facts)}" for name, facts in sorted(programs.items()))
    for pattern in (*words["safeguards"], *words["trial_marks"]):
        re.compile(pattern)
    shared = {**words, "readers": sorted(READERS), "names": dict(sorted(compile_names(programs).items()))}
    assert not shared.keys() & programs.keys(), "a program has the name of a field"
    # Names are looked for in their line as `json.dumps` writes them.
    head = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(value) if name == 'names' else _compress(value)}"
        for name, value in shared.items()
    )
    return f'{{\n{head},\n"programs": {{\n{rows}\n}}}}\n'


def _refuse_repeated_names(programs: Mapping[str, Any]) -> None:
    seen: dict[str, list[str | int]] = {}
    for name, facts in programs.items():
        for each in (name, *facts.get("also", ())):
            assert each not in seen, f"{facts['at']} names {each}, which {seen[each]} names, too"
            seen[each] = facts["at"]


def _compile_program(file: str, marks: Marks, name: str, entry: ProgramEntry) -> Mapping[str, Any]:
    def place(*route: str | int) -> list[str | int]:
        line, _ = unpack_mark(find_mark(marks, ("programs", name, *route), key=True))
        return [file, line]

    facts = msgspec.to_builtins(entry)
    facts["at"] = place()
    seen: set[str] = set()
    for number, below in enumerate(facts.get("subcommands", ())):
        below["at"] = place("subcommands", number)
        assert not seen & {*below["names"]}, f"{below['at']} states {seen & {*below['names']}} again"
        seen |= {*below["names"]}
    return facts


PLAIN_TARGET = f"orgkernel/runtime/{PLAIN_PROGRAMS}"
_RUNNING_ROLES = frozenset(("command", "package", "shell", "shell_words", "script", "sql", "task", "code"))
_RUNNING_EFFECTS = frozenset(("runs", "unknown"))
# Readers of programs that run nothing which their words name.
_PLAIN_READERS = frozenset(
    (
        "cat", "echo", "printf", "grep", "ls", "pwd", "basename", "dirname", "realpath", "yes", "copy", "dd", "truncate", "shred",
        "mktemp", "permissions", "tee", "erase_device", "git_checkout", "git_restore", "git_rm", "git_paths", "git_one_word",
        "git_lines", "kill", "kill_by_name", "fuser", "curl",
    )
)  # fmt: skip


def _compress(value: object) -> str:
    """JSON without spaces, because the file is in the wheel."""
    return json.dumps(value, separators=(",", ":"))


def render_plain_programs() -> str:
    """The programs, and the subcommands of others, that take all their words for data: one program in a line."""
    names: set[str] = set()
    for name, facts in list_shipped_programs().items():
        subcommands = facts.get("subcommands", ())
        is_plain = _is_plain(facts) and facts.get("otherwise", "reads") != "task"
        for each in (name, *facts.get("also", ())):
            if is_plain and all(map(_is_plain, subcommands)):
                names.add(each)
            elif not subcommands and (conditions := _find_conditions(facts)):
                names.add(f"{each} unless {conditions}")
            elif "reader" not in facts:
                names |= {f"{each} {word}" for word in _list_plain_subcommands(subcommands)}
    words_by_program: dict[str, list[str]] = {}
    for name in sorted(names):
        program, _, words = name.partition(" ")
        words_by_program.setdefault(program, []).append(words)
    rows = ",\n".join(f"{json.dumps(name)}:{_compress(words)}" for name, words in words_by_program.items())
    return f"{{\n{rows}\n}}\n"


NAMES_TARGET = "orgkernel/runtime/program_names.json"


def render_program_names() -> str:
    """The programs that exist under a second name with a `g` in front, as GNU programs do beside those of another system."""
    second_names = {}
    for name, facts in list_shipped_programs().items():
        names = {name, *facts.get("also", ())}
        second_names |= {each: each[1:] for each in names if each[:1] == "g" and each[1:] in names}
    return json.dumps(dict(sorted(second_names.items())), indent=0) + "\n"


def _list_plain_subcommands(subcommands: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The subcommands of one word that take all their words for data, and have no subcommand that does not."""
    running = {
        words.partition(" ")[0] for below in subcommands if not _is_plain(below) for words in below["names"]
    }
    for below in subcommands:
        if _is_plain(below):
            yield from (word for word in below["names"] if not {"*", " "} & {*word} and word not in running)


def _is_plain(facts: Mapping[str, Any]) -> bool:
    reader = facts.get("reader")
    if reader is not None and reader not in _PLAIN_READERS:
        return False
    default = "reads" if reader or facts.get("subcommands") or "operation" in facts else "unknown"
    roles = {
        *facts.get("values", ()),
        facts.get("piped", "text"),
        facts.get("otherwise", "text"),
        *_list_roles(facts),
    }
    effects = {
        facts.get("effect", default),
        *(case.get("effect", "reads") for case in facts.get("cases", ())),
    }
    if reader is not None:
        effects -= {"unknown"}
    return not roles & _RUNNING_ROLES and not effects & _RUNNING_EFFECTS


# Readers of programs that run something only by some options, and what a word contains if it could run something, too.
_CONDITIONAL_READERS = {"grep": "", "awk": r"[|@]|system|getline"}


def _find_conditions(facts: Mapping[str, Any]) -> str:
    """The options without which a program takes its words for data, and what its words must not contain. Empty if its words
    are commands or code anyway.
    """
    pattern = _CONDITIONAL_READERS.get(facts.get("reader", ""))
    if pattern is None:
        return ""
    cases = facts.get("cases", ())
    closed = [
        case
        for case in cases
        if case.get("effect", "reads") in _RUNNING_EFFECTS or not _is_plain({**case, "effect": "reads"})
    ]
    others = {**facts, "values": {}, "cases": [case for case in cases if case not in closed]}
    if pattern:
        others = {**others, "operands": "text", "reader": "grep", "cases": []}
    if not _is_plain(others) or (not pattern and any(not case.get("options") for case in closed)):
        return ""
    options = {
        option
        for role, names in facts.get("values", {}).items()
        if role in _RUNNING_ROLES
        for option in names
    } | {option for case in closed for option in case.get("options", ())}
    return " ".join([*sorted(options), *(["words", pattern] if pattern else [])])


def _list_roles(facts: Mapping[str, Any]) -> Iterator[str]:
    for each in (facts, *facts.get("cases", ())):
        operands = each.get("operands")
        if isinstance(operands, str):
            yield operands
        elif operands:
            yield from operands.get("first", ())
            yield operands.get("rest", "text")
            yield operands.get("last", "text")
        yield from each.get("values", ())
