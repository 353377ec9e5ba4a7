"""Finds the uses that an organization's entry of the command catalog takes for harmless and the shipped one does not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from orgkernel.shell.catalog import HARMLESS, OPENED, Facts, Node, build_tree, find_shipped, lay_over
from orgkernel.shell.writing_options import RUNNING_ROLES, WRITING_ROLES

_ACTING_ROLES: Final = {*WRITING_ROLES, *RUNNING_ROLES, "sql_file"}
_HELP: Final = ("-h", "--help", "--version")
# Parts of a case that are not conditions.
_ANSWERS: Final = ("effect", "operation", "message", "operands", "values", "unseen", "files", "prints")


class Opening(NamedTuple):
    """A program or a subcommand with uses that are harmless only for the organization."""

    words: str
    route: tuple[str | int, ...]
    """The place of the entry below that of the program."""
    effect: str
    """The effect or the operation in the shipped catalog. Empty if `fields` open uses with some options or words only."""
    fields: tuple[str, ...] = ()


def list_openings(name: str, own: Facts) -> Iterator[Opening]:
    """The openings of an entry, for one name of the program."""
    shipped = find_shipped(name)
    if shipped is None:
        return
    if own.get("effect") in HARMLESS and not _is_harmless(shipped):
        yield Opening(name, ("effect",), _name_effect(shipped))
    elif fields := tuple(dict.fromkeys(_list_opened(own, shipped, lay_over(shipped, own)))):
        yield Opening(name, (fields[0],), "", fields)
    tree, merged = build_tree(name, shipped), build_tree(name, lay_over(shipped, own))
    for number, below in enumerate(own.get("subcommands", ())):
        for words in below["names"]:
            for facts in _list_restated(tree, merged, below, shipped, words):
                opening = _compare(f"{name} {words}", number, below, facts, shipped)
                if opening is not None:
                    yield opening
                    break


def _compare(words: str, number: int, own: Facts, shipped: Facts, root: Facts) -> Opening | None:
    route = ("subcommands", number)
    if own.get("effect") in HARMLESS and "operation" not in own and not _is_harmless(shipped):
        return Opening(words, (*route, "effect"), _name_effect(shipped))
    fields = tuple(dict.fromkeys(_list_opened(own, shipped, own, root)))
    return Opening(words, (*route, fields[0]), "", fields) if fields else None


def _list_restated(tree: Node, merged: Node, own: Facts, shipped: Facts, words: str) -> Iterator[Facts]:
    """The shipped facts about what a name of the organization stands for: one subcommand, or some that its pattern matches."""
    if "*" not in words:
        facts = _find_facts(tree, words)
        if facts is not None:
            yield facts
        return
    for sample in _list_samples(shipped, words):
        facts = _find_facts(tree, sample)
        # An exact name, or an earlier pattern, can count before this one.
        if facts is not None and _find_facts(merged, sample) is own:
            yield facts


def _list_samples(shipped: Facts, words: str) -> Iterator[str]:
    """Subcommands that a pattern matches, each also with a shipped name or pattern."""
    yield words.replace("*", "x")
    patterns = words.split(" ")
    for below in shipped.get("subcommands", ()):
        for name in below["names"]:
            steps = name.split(" ")
            if len(steps) == len(patterns):
                sample = [_find_common(*pair) for pair in zip(steps, patterns, strict=True)]
                if all(sample):
                    yield " ".join(sample)


def _find_common(step: str, pattern: str) -> str:
    """A word that matches both patterns. Empty if none is found."""
    for word, other in ((step.replace("*", "x"), pattern), (pattern.replace("*", "x"), step)):
        if fnmatchcase(word, other):
            return word
    return ""


def _find_facts(tree: Node, words: str) -> Facts | None:
    node: Node | None = tree
    for word in words.split(" "):
        node = None if node is None else node.find(word)
    return None if node is None else node.facts


def _name_effect(facts: Facts) -> str:
    return str(facts.get("operation") or facts.get("effect", "unknown"))


def _list_opened(own: Facts, shipped: Facts, result: Facts, root: Facts | None = None) -> Iterator[str]:
    """The fields of an entry, or its `names`, by which uses become harmless that are not harmless in the shipped one."""
    closed = _list_closed(shipped)
    added = set(own.get("harmless_with", ())) - {*shipped.get("harmless_with", ()), *_HELP}
    # Help prints and ends, so an option for it never makes a use harmless that was not.
    if added and (closed or not _is_harmless(shipped)):
        yield "harmless_with"
    # What a program opens counts for the rule that no agent reads secret files.
    if OPENED.index(own.get("opens") or "trees") < OPENED.index(shipped.get("opens") or "named"):
        yield "opens"
    if {*own.get("names_only_with", ())} - {*shipped.get("names_only_with", ())}:
        yield "names_only_with"
    otherwise = own.get("otherwise")
    if otherwise in (*HARMLESS, "task") and shipped.get("otherwise", "unknown") not in (otherwise, *HARMLESS):
        yield "otherwise"
    for field in ("makes", "removes"):
        if field in own and own[field] != shipped.get(field):
            yield field
    if own.get("prints") == "made" != shipped.get("prints"):
        yield "prints"
    for case in own.get("cases", ()):
        for field in ("makes", "removes", "in_memory", "prints"):
            is_shipped = any(case.get(field) == each.get(field) for each in shipped.get("cases", ()))
            if case.get(field) and not is_shipped and (field != "prints" or case[field] == "made"):
                yield "cases"
    if "operation" in result or result.get("effect", "reads") not in HARMLESS:
        return
    if own.get("options_first") and not shipped.get("options_first") and closed:
        yield "options_first"
    acting = {
        option
        for role, options in (root or {}).get("values", {}).items()
        if role in _ACTING_ROLES
        for option in options
    }
    # An option that takes a value in the shipped entry would lose it as a flag.
    if acting & {*own.get("flags", ())} - {*shipped.get("flags", ())}:
        yield "flags"
    for field, _ in sorted(closed - _list_closed(result)):
        yield field if field in own else "names" if "names" in own else "effect"


def _list_closed(facts: Facts) -> set[tuple[str, str]]:
    """What an entry closes: each with the field that states it."""
    closed = {("reader", facts["reader"])} if "reader" in facts else set()
    for field in ("unseen", "elsewhere"):
        if facts.get(field):
            closed.add((field, ""))
    if facts.get("otherwise", "reads") not in HARMLESS:
        closed.add(("otherwise", ""))
    if facts.get("piped") in _ACTING_ROLES:
        closed.add(("piped", ""))
    closed |= {("operands", role) for role in _list_roles(facts.get("operands")) & _ACTING_ROLES}
    for role, options in facts.get("values", {}).items():
        if role in _ACTING_ROLES:
            closed |= {("values", option) for option in options}
    for case in facts.get("cases", ()):
        if "operation" in case or case.get("effect", "reads") not in HARMLESS:
            # Without its answers, a case is its conditions: two entries close the same use if these are equal.
            rest = {name: value for name, value in case.items() if name not in (*_ANSWERS, "options")}
            conditions = json.dumps(rest, sort_keys=True) if rest else ""
            closed |= {("cases", f"{option} {conditions}") for option in case.get("options", ("",))}
    return closed


def _list_roles(operands: object) -> set[str]:
    if isinstance(operands, str):
        return {operands}
    if not isinstance(operands, Mapping):
        return set()
    return {*operands.get("first", ()), operands.get("rest", "text"), operands.get("last", "text")}


def _is_harmless(facts: Facts) -> bool:
    """Whether a use without options is harmless for the shipped catalog."""
    default = "reads" if facts.get("subcommands") else "unknown"
    return "operation" not in facts and ("reader" in facts or facts.get("effect", default) in HARMLESS)
