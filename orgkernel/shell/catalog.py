"""The command catalog: finds the entry of a program and of its subcommands.

The shipped documents are `ontology/commands/*.yaml`. `python -m tools.regenerate` compiles them into `commands.bin`, which
this module reads with the standard library only. An organization can add entries, which are laid over the shipped
ones: what they do not state is taken from there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final
from zlib import decompress

COMPILED: Final = "commands.bin"
"""The compiled catalog next to this module, JSON that is compressed by zlib to a quarter of its size."""
HARMLESS: Final = ("reads", "adds", "writes")
"""The effects that are not findings."""
OPENED: Final = ("nothing", "environment", "named", "trees")
"""The content that programs print, copy or send, from the narrowest to the widest."""
Facts = Mapping[str, Any]
"""The fields of an entry that are not at their default, and `at`, its place: a string, or the file and the line of a shipped entry."""


@dataclass(slots=True)
class CatalogEntry:
    """A program or a subcommand, with the options of the words before it."""

    name: str
    """The program and the words of the subcommand, as the catalog names them."""
    place: str
    """The file and line of the entry."""
    facts: Facts
    roles: Mapping[str, str]
    """The role of the value of each option that has one, by its normalized name."""
    flags: frozenset[str]
    """The options without a value, normalized."""
    harmless_with: frozenset[str]
    is_single_dash: bool
    """Whether long options begin with one dash."""
    outer_cases: tuple[Facts, ...] = ()
    """The cases of the words before it that are about options and are not harmless."""

    @property
    def letters(self) -> str:
        """The letters of options with a value."""
        return "".join(name for name in self.roles if len(name) == 1)

    @property
    def longs(self) -> tuple[str, ...]:
        """The long names of options with a value."""
        return tuple(name for name in self.roles if len(name) > 1)

    def knows(self, option: str) -> bool:
        """Whether the entry states an option, given by its normalized name."""
        return option in self.roles or option in self.flags or option in self.harmless_with


class Node:
    """A word in the tree of the subcommands of a program."""

    __slots__ = ("children", "facts", "name", "patterns")

    def __init__(
        self,
        name: str,
        facts: Facts | None = None,
        children: dict[str, Node] | None = None,
        patterns: list[tuple[str, Node]] | None = None,
    ) -> None:
        self.name, self.facts = name, facts
        self.children: dict[str, Node] = {} if children is None else children
        self.patterns: list[tuple[str, Node]] = [] if patterns is None else patterns

    def find(self, word: str) -> Node | None:
        """The node of the next word: an exact name before a pattern.

        If the exact name is only the beginning of longer ones, what follows the patterns counts, too.
        """
        exact = self.children.get(word)
        if exact is not None and exact.facts is not None:
            return exact
        patterns = [node for pattern, node in self.patterns if fnmatchcase(word, pattern)]
        stated = next((node for node in patterns if node.facts is not None), None)
        if exact is None and stated is not None:
            return stated
        return _unite(patterns if exact is None else [exact, *patterns])


def _unite(nodes: Sequence[Node]) -> Node | None:
    """One node with what follows each of several."""
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    first, rest = nodes[0], _unite(nodes[1:])
    if rest is None:
        return first
    facts = first.facts if first.facts is not None else rest.facts
    children = dict(rest.children)
    for word, child in first.children.items():
        children[word] = child if child.facts is not None else _unite([child, *_list(rest, word)]) or child
    return Node(first.name, facts, children, [*first.patterns, *rest.patterns])


def _list(node: Node, word: str) -> Sequence[Node]:
    child = node.children.get(word)
    return [] if child is None else [child]


class CommandPrograms:
    """The programs of the shipped catalog, under those of an organization."""

    def __init__(self, own: Mapping[str, Facts] | None = None) -> None:
        """`own` are the entries of an organization by the name of the program."""
        self._own = own or {}
        self._own_names = dict(_list_names(self._own))
        self._trees: dict[str, Node] = {}

    @property
    def own(self) -> Mapping[str, Facts]:
        """The entries of the organization."""
        return self._own

    def find(self, name: str) -> Facts | None:
        """The entry of a program by one of its names."""
        own = self._own_names.get(name)
        facts = find_shipped(name)
        if own is None:
            return facts
        return self._own[own] if facts is None else lay_over(facts, self._own[own])

    def build_tree(self, name: str, facts: Facts) -> Node:
        """The tree of the subcommands of a program."""
        tree = self._trees.get(name)
        if tree is None:
            tree = self._trees[name] = build_tree(name, facts)
        return tree


@cache
def read_shipped_programs() -> CommandPrograms:
    """The shipped catalog alone."""
    return CommandPrograms()


@cache
def _read_compiled() -> bytes:
    """The compiled catalog: each field and each program has a line of its own."""
    with open(os.path.join(os.path.dirname(__file__), COMPILED), "rb") as file:
        return decompress(file.read())


@cache
def _read_line(name: str) -> Any:
    """The value of a field or a program. Only its line is parsed, because most commands need few of them."""
    compiled = _read_compiled()
    key = b"\n%b: " % json.dumps(name).encode()
    start = compiled.index(key) + len(key)
    end = compiled.index(b"\n", start)
    return json.loads(compiled[start:end].removesuffix(b","))


def find_shipped(name: str) -> Facts | None:
    """The shipped entry of a program by one of its names."""
    compiled = _read_compiled()
    line = compiled.index(b'\n"names": ')
    key = b"%b: " % json.dumps(name).encode()
    start = compiled.find(key, line + len(b'\n"names": '), compiled.index(b"\n", line + 1))
    if start < 0:
        return None
    start += len(key)
    facts: Facts = _read_line(json.loads(compiled[start : compiled.index(b'"', start + 1) + 1]))
    return facts


@cache
def list_shipped_programs() -> Mapping[str, Facts]:
    """The entries of the shipped catalog by the name of the program."""
    programs: Mapping[str, Facts] = json.loads(_read_compiled())["programs"]
    return programs


@cache
def _compile_safeguards() -> re.Pattern[str]:
    return re.compile("|".join(_read_line("safeguards")), re.IGNORECASE)


def is_safeguard(name: str) -> bool:
    """Whether a name is that of a service, a file or a job that keeps backups or records."""
    return _compile_safeguards().search(name) is not None


def find_provider(host: str, url: str) -> str:
    """The operation that a request which sends data to a host does, if the host is that of a provider."""
    for provider in _read_line("providers"):
        is_host = any(fnmatchcase(f".{host}", f"*.{pattern}") for pattern in provider["hosts"])
        if is_host and re.fullmatch(provider.get("path", ".*"), url, re.DOTALL):
            return str(provider["operation"])
    return ""


@cache
def _compile_trial_marks() -> re.Pattern[str]:
    return re.compile("|".join(_read_line("trial_marks")), re.IGNORECASE)


def is_trial(text: str) -> bool:
    """Whether a text has the mark of a trial account, in which nothing is sent or paid."""
    return _compile_trial_marks().search(text) is not None


@cache
def read_words(name: str) -> frozenset[str]:
    """The `risky_words`, `plain_words` or `doubtful_options` of the shipped catalog, or the `readers` that entries
    can name.
    """
    return frozenset(_read_line(name))


@cache
def read_exit_codes() -> Mapping[str, Any]:
    """What exit codes depend on, by program: the table `exit_codes` of `ontology/commands/words.yaml`."""
    table: Mapping[str, Any] = _read_line("exit_codes")
    return table


def lay_over(shipped: Facts, own: Facts) -> Facts:
    """An entry of an organization over the shipped one. A field that it states counts; subcommands are united."""
    subcommands = [*own.get("subcommands", ()), *shipped.get("subcommands", ())]
    return {**shipped, **own, "subcommands": subcommands}


def compile_names(programs: Mapping[str, Facts]) -> dict[str, str]:
    """Each name of a program, its aliases included, with the name of its entry."""
    return dict(_list_names(programs))


def _list_names(programs: Mapping[str, Facts]) -> Iterator[tuple[str, str]]:
    for name, facts in programs.items():
        for alias in facts.get("also", ()):
            yield alias, name
    for name in programs:
        yield name, name


def build_tree(name: str, facts: Facts) -> Node:
    """The tree of the subcommands of a program."""
    root = Node(name, facts)
    for below in facts.get("subcommands", ()):
        for words in below["names"]:
            node = root
            for word in words.split(" "):
                node = _take_step(node, word)
            # The first entry counts, because those of an organization come first.
            node.facts = below if node.facts is None else node.facts
    return root


def _take_step(node: Node, word: str) -> Node:
    name = f"{node.name} {word}"
    if "*" not in word:
        return node.children.setdefault(word, Node(name))
    for pattern, child in node.patterns:
        if pattern == word:
            return child
    child = Node(name)
    node.patterns.append((word, child))
    return child


def build_entry(name: str, facts: Facts, parent: CatalogEntry | None = None) -> CatalogEntry:
    """The entry with the options of its parent."""
    roles = dict(parent.roles) if parent else {}
    is_single_dash = parent.is_single_dash if parent else False
    flags = set(parent.flags) if parent else set()
    harmless_with = set(parent.harmless_with) if parent else set()
    for role, options in facts.get("values", {}).items():
        for option in options:
            roles[normalize_option(option)] = role
            is_single_dash |= is_single_dash_option(option)
    stated = {normalize_option(each) for options in facts.get("values", {}).values() for each in options}
    for option in facts.get("flags", ()):
        # `docker compose -f FILE rm -f`: what is an option with a value before the subcommand can be a flag behind it.
        if normalize_option(option) not in stated:
            roles.pop(normalize_option(option), None)
    for option in _list_flags(facts):
        is_single_dash |= is_single_dash_option(option)
        if (plain := normalize_option(option)) not in roles:
            flags.add(plain)
    for option in facts.get("harmless_with", ()):
        harmless_with.add(normalize_option(option))
        is_single_dash |= is_single_dash_option(option)
    return CatalogEntry(
        name=name,
        place=_format_place(facts["at"]) if "at" in facts else parent.place if parent else "",
        facts=facts,
        roles=roles,
        flags=frozenset(flags),
        harmless_with=frozenset(harmless_with),
        is_single_dash=is_single_dash,
        outer_cases=() if parent is None else (*parent.outer_cases, *_list_outer_cases(parent.facts)),
    )


def _format_place(at: str | list[str | int]) -> str:
    """The place of an entry. The shipped ones have only the name of the file and the line, because there are many."""
    return at if isinstance(at, str) else f"ontology/commands/{at[0]}:{at[1]}"


def _list_outer_cases(facts: Facts) -> Iterator[Facts]:
    for case in facts.get("cases", ()):
        if case.get("options") and ("operation" in case or case.get("effect", "reads") not in HARMLESS):
            yield case


def _list_flags(facts: Facts) -> Iterable[str]:
    yield from facts.get("flags", ())
    for case in facts.get("cases", ()):
        for name in ("options", "and_options", "unless"):
            yield from case.get(name, ())


def normalize_option(option: str) -> str:
    """The name of an option without dashes."""
    return option.lstrip("-") or option


def is_single_dash_option(option: str) -> bool:
    """Whether an option has a long name after one dash: `-name`."""
    return len(option) > 2 and option[0] == "-" and option[1] != "-"
