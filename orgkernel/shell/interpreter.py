"""Simulates a program by its entry in the command catalog.

Error policy: fails closed. A program, a subcommand or a use without a stated effect is reported as not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import (
    HARMLESS,
    OPENED,
    CatalogEntry,
    CommandPrograms,
    Facts,
    Node,
    build_entry,
    is_safeguard,
    normalize_option,
)
from orgkernel.shell.marks import MADE, PLAIN, PRIVATE, UNKNOWN, ShellWord, is_unclear, shown
from orgkernel.shell.options import Options, read_options
from orgkernel.shell.ownership import join
from orgkernel.shell.reader import PATH, MadeThing, Program, ProgramCall
from orgkernel.shell.sql import may_leave_memory
from orgkernel.shell.verdict import ProgramReading, WordUse

# The operation of an effect that is always a destructive one.
_OPERATIONS: Final = {
    "deletes": "delete_resource",
    "publishes": "publish",
    "disables_safeguard": "disable_safeguard",
}
_PATTERN_OPTION: Final = lazy_pattern(r"-[A-Za-z0-9]*[ef]|--(re|fi)|--$")
_UNREAD: Final = {
    "changes": "cannot determine what {name} changes",
    "runs": "cannot determine what {name} runs",
    "changes_rights": "cannot determine what {name} changes in permissions",
    "needs_somebody": "{name} waits for a person",
    "sends": "cannot determine what {name} sends",
    "unknown": "cannot determine what {name} does",
}
_DONE: Final = {
    "deletes": "deletes a resource",
    "publishes": "publishes what others can fetch, which cannot be undone",
    "disables_safeguard": "disables a safeguard",
    "sends": "sends a message",
}
_CHANGING: Final = (
    "path_added",
    "path_written",
    "path_changed",
    "path_deleted",
    "tree_deleted",
    "folder_filled",
)
# An option with such a word that an entry does not state is not taken for harmless.
_DOUBTFUL: Final = lazy_pattern(
    r"(^|-)(delete|destroy|erase|drop|prune|purge|wipe|nuke|overwrite|remove|uninstall|unpublish|shred|revoke)(-|d$|$)"
)
_NOT_GIVEN: Final = ("false", "none", "no", "0", "never", "off")
_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_]\w*=")


class _Outcome(NamedTuple):
    """The effect of one use of a program."""

    effect: str
    operation: str
    message: str
    operand: ShellWord | None
    removes: str = ""
    named_by: tuple[str, ...] = ()
    """The options whose values name what is deleted, if no operand does."""


class CatalogedPrograms:
    """The programs of a catalog, and the readers of those whose words are a language of their own."""

    def __init__(self, catalog: CommandPrograms, readers: Mapping[str, Program]) -> None:
        self._catalog = catalog
        self.readers = readers

    def get(self, name: str) -> Program | None:
        """A program by one of its names, without a folder."""
        facts = self._catalog.find(name)
        if facts is None:
            return self.readers.get(name)
        return lambda call: interpret(call, self._catalog.build_tree(name, facts))

    def find_opened(self, name: str, args: Sequence[ShellWord]) -> tuple[str, Sequence[ShellWord]]:
        """The content that a program prints, copies or sends, in the words of the catalog, and the words that can name it.

        Of several subcommands among the words, the widest counts.
        """
        facts = self._catalog.find(name)
        if facts is None:
            return "named", args
        opened = str(facts.get("opens", "named"))
        if opened == "environment":
            prints = "reader" not in facts or all(word.text in ("-0", "--null") for word in args)
            return opened if prints else "nothing", ()
        tree = self._catalog.build_tree(name, facts)
        stated = {
            each
            for number, word in enumerate(args)
            for each in _list_opened(tree, word.text, args[number + 1 :])
        }
        is_searching = facts.get("reader") == "grep"
        return max(stated, key=OPENED.index) if stated else opened, _skip_pattern(
            args
        ) if is_searching else args


def _skip_pattern(args: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """The words of `grep` without the pattern, unless an option could give it."""
    if any(_PATTERN_OPTION.match(word.text) for word in args):
        return args
    first = next((number for number, word in enumerate(args) if not word.text.startswith("-")), len(args))
    return [*args[:first], *args[first + 1 :]]


def _list_opened(tree: Node, word: str, following: Sequence[ShellWord]) -> Iterator[str]:
    """What the subcommands open that begin with a word, given the words behind it."""
    node = tree.find(word)
    if node is None:
        return
    belows = (node.find(each.text) for each in following)
    for each in (node, *belows):
        facts = None if each is None else each.facts
        if facts is None:
            continue
        if "names_only_with" in facts and _has_only_options(following, facts["names_only_with"]):
            yield "nothing"
        elif "opens" in facts:
            yield facts["opens"]


def _has_only_options(words: Sequence[ShellWord], known: Sequence[str]) -> bool:
    """Whether the options among some words are all known. A number behind a dash is the value of an option."""
    for word in words:
        text = word.text
        if text == "--":
            break
        if PRIVATE.match(text):
            return False  # it could become an option
        is_letters = text[:1] == "-" and text[1:2] != "-"
        is_known = (
            text.partition("=")[0] in known
            or text[1:].isdecimal()
            or (is_letters and all(f"-{letter}" in known for letter in text[1:]))
        )
        if text[:1] == "-" and not is_known:
            return False
    return True


def interpret(call: ProgramCall, tree: Node) -> str | None:
    """Simulate a program, given the tree of its subcommands. Returns its output as far as it is known."""
    use = _find_entry(call, tree)
    if use is None:
        return UNKNOWN
    entry, options, args = use
    call.place = entry.place
    reader = entry.facts.get("reader")
    if reader is not None:
        _touch_files(call, entry, options, args)
        inner = call.with_args(args) if entry.name.count(" ") else call
        inner.place = entry.place
        printed = call.reader.programs.readers[reader](inner)
        is_made = _find_output(entry, _list_cases(call, entry, options, args)) == "made"
        return f"{MADE}\n" if is_made else printed
    if any(_is_given(options, name) for name in entry.harmless_with):
        _note(call, entry, [_Outcome("reads", "", "", None)], [])
        return _print(call, entry, ())
    with _folder(call, entry, options):
        return _apply(call, entry, options, args)


def _touch_files(call: ProgramCall, entry: CatalogEntry, options: Options, args: Sequence[ShellWord]) -> None:
    """Record the files that a program with a reader of its own changes. The reader finds what is destructive in it."""
    cases = _list_cases(call, entry, options, args)
    uses = _list_uses(entry, cases, options)
    outcomes = [_judge(entry, case, options) for case in cases] or [_judge(entry, entry.facts, options)]
    for case in _list_outer_cases(call, entry, options, args):
        _report(call, entry, _judge(entry, case, options))
    _note(call, entry, [each for each in outcomes if each.effect != "unknown"], uses)
    with _folder(call, entry, options):
        for word, role in uses:
            if role == "path_read":
                _read_path(call, word)
            elif role == "shell":
                # The program gives it a file or a text.
                _run_script(call, word.but(f"{word.text} {UNKNOWN}"))
            elif role in _CHANGING and word.text != "-" and not _is_remote(word.text):
                call.owner(word)
    _record_unnamed(call, entry, cases)
    for facts in cases:
        _make(call, entry, facts, options)


def _list_cases(
    call: ProgramCall, entry: CatalogEntry, options: Options, args: Sequence[ShellWord]
) -> Sequence[Facts]:
    """The uses of the entry that apply."""
    return [case for case in entry.facts.get("cases", ()) if _holds(call, case, options, args)]


def _list_outer_cases(
    call: ProgramCall, entry: CatalogEntry, options: Options, args: Sequence[ShellWord]
) -> Sequence[Facts]:
    """The uses of the words before it that apply, because options of the program are given."""
    return [case for case in entry.outer_cases if _holds(call, case, options, args)]


def _list_uses(entry: CatalogEntry, cases: Sequence[Facts], options: Options) -> Sequence[_Use]:
    operands = next(
        (case["operands"] for case in reversed(cases) if "operands" in case), entry.facts.get("operands")
    )
    roles = {**entry.roles, **_collect_roles(cases)}
    return [*_list_values(roles, options), *_list_operands(operands, options)]


def _collect_roles(cases: Sequence[Facts]) -> Mapping[str, str]:
    """The roles that the values of options have in these uses."""
    return {
        normalize_option(option): role
        for case in cases
        for role, names in case.get("values", {}).items()
        for option in names
    }


def _record_unnamed(call: ProgramCall, entry: CatalogEntry, cases: Sequence[Facts]) -> None:
    """Record the changed files that the words do not name."""
    if call.reader.is_elsewhere:
        return
    for facts in cases or [entry.facts]:
        if facts.get("unseen", entry.facts.get("unseen")):
            call.reader.unseen.append(call.word.text)
        for path in facts.get("files", entry.facts.get("files", ())):
            call.reader.unnamed.append(join(call.reader.folder, path))


def _find_entry(call: ProgramCall, root: Node) -> tuple[CatalogEntry, Options, tuple[ShellWord, ...]] | None:
    """The entry of the subcommand, its options with those before it, and its words. None if it is not known."""
    node, args = root, call.args
    entry = build_entry(root.name, root.facts or {})
    before = Options()
    while True:
        has_children = bool(node.children or node.patterns)
        is_leaf = not has_children
        options = _read(entry, args, first_operand_ends=has_children or _ends_options(entry))
        if is_leaf or not options.operands:
            break
        verb = options.operands[0]
        if not verb.is_known:
            call.place = entry.place
            call.unread(f"which subcommand of {quote(entry.name)} this is, is only known at run time", verb)
            return None
        child = node.find(verb.text)
        if child is None:
            if "operands" in entry.facts:
                options = _read(entry, args, first_operand_ends=_ends_options(entry))
                break
            if _has_harmless(entry, call.args):
                break
            _report_unknown(call, entry, root, options.operands)
            return None
        _collect(before, options)
        entry = build_entry(child.name, child.facts or {"at": entry.place}, entry)
        args, node = tuple(options.operands[1:]), child
    _forget_other_meanings(before, entry)
    _collect(options, before)
    return entry, options, args


def _forget_other_meanings(before: Options, entry: CatalogEntry) -> None:
    """In `git -C FOLDER branch NAME`, the folder is not the option `-C` of `git branch`."""
    conditions = {
        normalize_option(option) for case in entry.outer_cases for option in case.get("options", ())
    }
    for flag in map(normalize_option, entry.facts.get("flags", ())):
        if flag not in conditions and flag not in entry.roles:
            before.values.pop(flag, None)


def _has_harmless(entry: CatalogEntry, args: Sequence[ShellWord]) -> bool:
    options = _read(entry, args, first_operand_ends=False)
    return any(_is_given(options, name) for name in entry.harmless_with)


def _report_unknown(call: ProgramCall, entry: CatalogEntry, root: Node, words: Sequence[ShellWord]) -> None:
    call.place = entry.place
    otherwise = (root.facts or {}).get("otherwise", "unknown")
    is_effect = otherwise in _UNREAD or otherwise in HARMLESS
    _note(call, entry, [_Outcome(otherwise, "", "", None)] if is_effect else [], [(words[0], otherwise)])
    if otherwise == "command":
        _run(call, words, is_package=False)
    elif not is_effect:
        _USES[otherwise](call, words[0])
    elif otherwise == "unknown":
        call.unread(f"unknown subcommand {quote(f'{entry.name} {shown(words[0].text)}')}", words[0])
    else:
        _report(call, entry, _Outcome(otherwise, "", "", None))


def _collect(options: Options, more: Options) -> None:
    options.flags |= more.flags
    options.is_open |= more.is_open
    for name, values in more.values.items():
        options.values.setdefault(name, []).extend(values)


def _read(entry: CatalogEntry, args: Sequence[ShellWord], *, first_operand_ends: bool) -> Options:
    """The options and operands. An option whose value is a command takes all words behind it."""
    rest: Sequence[ShellWord] = ()
    commands = [name for name, role in entry.roles.items() if role == "command"]
    for number, word in enumerate(args) if commands else ():
        if word.text.startswith("-") and normalize_option(word.text) in commands:
            args, rest = args[:number], args[number:]
            break
    if entry.facts.get("bundled") and args and args[0].text[:1] not in ("-", ""):
        args = [args[0].but(f"-{args[0].text}"), *args[1:]]
    options = _read_plain(entry, args, first_operand_ends=first_operand_ends)
    if len(rest) > 1:
        options.values[normalize_option(rest[0].text)] = [*rest[1:]]
    return options


def _read_plain(entry: CatalogEntry, args: Sequence[ShellWord], *, first_operand_ends: bool) -> Options:
    return read_options(
        args,
        valued=entry.letters,
        long_valued=entry.longs,
        longs=sorted(entry.flags | entry.harmless_with),
        first_operand_ends=first_operand_ends,
        single_dash_longs=entry.is_single_dash,
    )


def _ends_options(entry: CatalogEntry) -> bool:
    facts = entry.facts
    roles = _list_roles(facts.get("operands"))
    return bool(facts.get("options_first")) or bool({"command", "package"} & set(roles))


def _list_roles(operands: Any) -> list[str]:
    if operands is None:
        return []
    if isinstance(operands, str):
        return [operands]
    return [*operands.get("first", ()), operands.get("rest", "text"), operands.get("last") or "text"]


# Effects


def _apply(call: ProgramCall, entry: CatalogEntry, options: Options, args: Sequence[ShellWord]) -> str | None:
    cases = _list_cases(call, entry, options, args)
    outcomes = [_judge(entry, case, options) for case in cases] or [_judge(entry, entry.facts, options)]
    uses = _list_uses(entry, cases, options)
    own = [each for each in outcomes if _removes_own(call, entry, each, options)]
    outcomes = [each for each in outcomes if each not in own]
    outcomes += [_judge(entry, case, options) for case in _list_outer_cases(call, entry, options, args)]
    noted = [each._replace(effect="deletes_own", operation="") for each in own]
    _note(call, entry, [*outcomes, *noted], uses)
    for outcome in outcomes:
        _report(call, entry, outcome)
    # An unknown option can change only an answer that is harmless so far. Any other is reported already.
    if all(each.effect in HARMLESS and not each.operation for each in outcomes):
        _doubt_options(call, entry, options, args)
    _record_unnamed(call, entry, cases)
    for facts in cases or [entry.facts]:
        _make(call, entry, facts, options)
    # `:memory:` is harmless only if no word or script opens or attaches a file besides.
    call.is_in_memory = any(case.get("in_memory") for case in cases) and not any(
        may_leave_memory(text) for text in (*(word.text for word in args), call.stdin or "")
    )
    printed = _use_words(call, entry, uses, options)
    return printed if printed is not None else _print(call, entry, cases)


def _judge(entry: CatalogEntry, facts: Facts, options: Options) -> _Outcome:
    operand = next(iter(options.operands), None)
    if (pattern := facts.get("operand")) is not None:
        operand = next((each for each in options.operands if _matches(pattern, each.text)), operand)
    effect = facts.get("effect")
    operation = facts.get("operation", "")
    if effect is None and not operation:
        effect = entry.facts.get("effect")
        operation = entry.facts.get("operation", "")
    if effect is None and not operation:
        effect = _default_effect(entry, options)
    if effect is None:
        effect = "deletes"
    return _Outcome(
        effect,
        operation or _OPERATIONS.get(effect, ""),
        facts.get("message", "") or entry.facts.get("message", ""),
        operand,
        facts.get("removes") or entry.facts.get("removes", ""),
        tuple(facts.get("named_by", ()) or entry.facts.get("named_by", ())),
    )


def _default_effect(entry: CatalogEntry, options: Options) -> str:
    if entry.facts.get("subcommands") and not options.operands:
        return "reads"
    return "unknown"


def _removes_own(call: ProgramCall, entry: CatalogEntry, outcome: _Outcome, options: Options) -> bool:
    """Whether a use only deletes what the command itself made."""
    names = [each.text for each in options.operands or _list_named(outcome.named_by, options)]
    context = _find_context(call, entry)
    return bool(outcome.removes and names) and all(
        name == MADE or MadeThing(outcome.removes, name, context) in call.reader.made for name in names
    )


def _make(call: ProgramCall, entry: CatalogEntry, facts: Facts, options: Options) -> None:
    """Record what a use makes."""
    kind = facts.get("makes")
    if kind is None or options.is_open:
        return
    words = _list_named(facts.get("options", ()), options)
    if not words:
        position = facts.get("position", 1)
        words = options.operands if kind == PATH else options.operands[position - 1 : position]
    for word in words:
        if word.is_known:
            name = join(call.reader.folder, word.text) if kind == PATH else word.text
            call.reader.made.add(MadeThing(kind, name, () if kind == PATH else _find_context(call, entry)))


def _list_named(names: Sequence[str], options: Options) -> Sequence[ShellWord]:
    return [value for name in names for value in _get_values(options, name)]


def _find_context(call: ProgramCall, entry: CatalogEntry) -> tuple[object, ...]:
    """What decides in which place a name is looked for: the program, its folder, the words before the subcommand, and variables."""
    steps = entry.name.split(" ")[1:]
    before = []
    for word in call.args if steps else ():
        if fnmatchcase(word.text, steps[0]):
            break
        before.append(word.text)
    settings = {name: value for name, value in call.reader.variables.items() if name.isupper()}
    return (
        call.name,
        call.reader.folder,
        *before,
        *sorted(settings.items()),
        *sorted(call.reader.assigned.items()),
    )


def _report(call: ProgramCall, entry: CatalogEntry, outcome: _Outcome) -> None:
    at, message = None, outcome.message
    if "{operand}" in message:
        at = outcome.operand
        operand = "what it names" if at is None else quote(shown(at.text))
        message = message.replace("{operand}", operand)
    if outcome.operation:
        text = message or _DONE.get(outcome.effect) or f"does {quote(entry.name)}"
        call.found(outcome.operation, text, at)
    elif outcome.effect not in HARMLESS:
        call.unread(message or _UNREAD[outcome.effect].format(name=quote(entry.name)), at)


def _doubt_options(
    call: ProgramCall, entry: CatalogEntry, options: Options, args: Sequence[ShellWord]
) -> None:
    """Report options that can change a harmless use."""
    risky = [each for each in entry.facts.get("cases", ()) if each.get("options") and _is_risky(each)]
    if options.is_open and risky:
        call.unread(f"the options of {quote(entry.name)} are only known at run time")
    names = {*options.flags, *options.values}
    for word in args:
        name = normalize_option(word.text.partition("=")[0])
        if word.text.startswith("--") and name in names and not entry.knows(name) and _DOUBTFUL.search(name):
            call.unread(
                f"cannot determine what the option {quote(word.text)} of {quote(entry.name)} does", word
            )


def _is_risky(case: Facts) -> bool:
    return "operation" in case or case.get("effect", "reads") not in HARMLESS


# Conditions


def _holds(call: ProgramCall, case: Facts, options: Options, args: Sequence[ShellWord]) -> bool:
    number = len(options.operands)
    return (
        _has_one(case.get("options"), options, case.get("value"))
        and _has_one(case.get("and_options"), options)
        and not (case.get("unless") and _has_one(case["unless"], options))
        and case.get("at_least", 0) <= number <= case.get("at_most", number)
        and (case.get("safeguard") is None or case["safeguard"] == _names_safeguard(options))
        and (case.get("unclear") is None or case["unclear"] == _has_unclear(options))
        and (case.get("piped") is None or case["piped"] == bool((call.stdin or "").strip()))
        and (case.get("operand") is None or _has_operand(case, options, args))
    )


def _has_one(names: Sequence[str] | None, options: Options, value: str | None = None) -> bool:
    """Whether one of the options is given, with a value that matches."""
    if not names:
        return True
    for name in names:
        plain = normalize_option(name)
        if value is None:
            if options.has(plain):
                return True
        elif any(_matches(value, each.text) for each in options.values.get(plain, ())):
            return True
    return False


def _has_operand(case: Facts, options: Options, args: Sequence[ShellWord]) -> bool:
    words = options.operands
    if (position := case.get("position")) is not None:
        words = words[position - 1 : position]
    return any(_matches(case["operand"], word.text) for word in words)


def _has_unclear(options: Options) -> bool:
    return any(is_unclear(word.text) for word in options.operands)


def _names_safeguard(options: Options) -> bool:
    return any(is_safeguard(word.text) for word in options.operands)


def _matches(pattern: str, text: str) -> bool:
    return _compile(pattern).fullmatch(text) is not None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def _is_given(options: Options, name: str) -> bool:
    """Whether an option is given and not turned off by its value."""
    if name in options.flags:
        return True
    return any(value.text.lower() not in _NOT_GIVEN for value in options.values.get(name, ()))


def _get_values(options: Options, option: str) -> Sequence[ShellWord]:
    return options.values.get(normalize_option(option), ())


# Words


_Use = tuple[ShellWord, str]


def _list_values(roles: Mapping[str, str], options: Options) -> Iterator[_Use]:
    for name, role in roles.items():
        if role not in ("text", "folder"):
            for word in options.values.get(name, ())[: 1 if role == "command" else None]:
                yield word, role


def _list_operands(operands: Any, options: Options) -> Iterator[_Use]:
    """The operands with their roles. A command or a script of a shell takes all words behind it."""
    words = options.operands
    if operands is None:
        return
    if isinstance(operands, str):
        operands = {"rest": operands}
    first, rest, last = operands.get("first", ()), operands.get("rest", "text"), operands.get("last")
    for number, word in enumerate(words):
        is_last = number == len(words) - 1 and number >= len(first)
        role = str(last) if last and is_last else first[number] if number < len(first) else rest
        yield word, role
        if role in ("command", "package"):
            return


def _use_words(call: ProgramCall, entry: CatalogEntry, uses: Sequence[_Use], options: Options) -> str | None:
    """Follow the roles of the words. Returns the output."""
    printed: str | None = None
    shell_words: list[ShellWord] = []
    with _place(call, entry):
        for word, role in uses:
            if role in ("command", "package"):
                printed = _run(call, _take_from(entry, options, word), is_package=role == "package")
            elif role == "shell_words":
                shell_words.append(word)
            else:
                printed = _USES[role](call, word) or printed
        if shell_words:
            printed = call.script(_join(shell_words))
        elif call.stdin and "piped" in entry.facts and not _has_sql(uses):
            printed = _USES[entry.facts["piped"]](call, call.word.but(call.stdin)) or printed
    return printed


def _has_sql(uses: Sequence[_Use]) -> bool:
    return any(role in ("sql", "sql_file") for _, role in uses)


def _take_from(entry: CatalogEntry, options: Options, word: ShellWord) -> Sequence[ShellWord]:
    """The words of a command, of which one is given: operands, or the values of an option."""
    for name, role in entry.roles.items():
        if role == "command" and word in options.values.get(name, ()):
            return options.values[name]
    return options.operands[options.operands.index(word) :]


def _join(words: Sequence[ShellWord]) -> ShellWord:
    if len(words) == 1:
        return words[0]
    return ShellWord(" ".join(word.text for word in words), words[0].start, words[-1].end)


def _run(call: ProgramCall, words: Sequence[ShellWord], *, is_package: bool) -> str | None:
    words = list(words)
    while words and _ASSIGNMENT.match(words[0].text):
        words.pop(0)
    if not words:
        return None
    if is_package:
        name = re.sub(r"(?<=.)@[^/]*$", "", words[0].text)
        words[0] = words[0].but(name.rpartition("/")[2] if name.startswith("@") else name)
    return call.run(words)


def _place(call: ProgramCall, entry: CatalogEntry) -> AbstractContextManager[None]:
    return call.reader.elsewhere() if entry.facts.get("elsewhere") else nullcontext()


@contextmanager
def _folder(call: ProgramCall, entry: CatalogEntry, options: Options) -> Iterator[None]:
    """The folder in which the program runs."""
    before = call.reader.folder
    for name, role in entry.roles.items():
        if role == "folder":
            for word in options.values.get(name, ()):
                call.reader.folder = join(call.reader.folder, word.text)
    try:
        yield
    finally:
        call.reader.folder = before


def _find_output(entry: CatalogEntry, cases: Sequence[Facts]) -> str:
    stated = (case["prints"] for case in reversed(cases) if "prints" in case)
    return str(next(stated, entry.facts.get("prints", "unknown")))


def _print(call: ProgramCall, entry: CatalogEntry, cases: Sequence[Facts]) -> str | None:
    kind = _find_output(entry, cases)
    if kind == "made":
        return f"{MADE}\n"
    if kind == "word":
        return PLAIN + "\n"
    if kind == "nothing":
        return ""
    if kind == "input":
        return call.stdin or UNKNOWN
    if kind == "changed_input":
        return UNKNOWN if (call.stdin or "").strip() else ""
    return UNKNOWN


def _is_remote(path: str) -> bool:
    """Whether a path is on another machine or in a container: `HOST:PATH`, or an address."""
    before, colon, _ = path.partition(":")
    return bool(colon) and "/" not in before


def _read_path(call: ProgramCall, word: ShellWord) -> None:
    if word.text != "-":
        call.reader.read_paths.append(join(call.reader.folder, word.text))


def _add_path(call: ProgramCall, word: ShellWord) -> None:
    if word.text != "-" and not _is_remote(word.text):
        call.owner(word)


def _write_path(call: ProgramCall, word: ShellWord) -> None:
    if word.text != "-" and not _is_remote(word.text):
        call.reader.write(word, UNKNOWN, appends=False)


def _change_path(call: ProgramCall, word: ShellWord) -> None:
    if word.text == "-" or _is_remote(word.text):
        return
    if call.owner(word) == "foreign" and not _is_own_folder(word):
        call.unread(f"cannot determine what this changes in {quote(shown(word.text))} of another owner", word)


def _is_own_folder(word: ShellWord) -> bool:
    """Whether a word names the folder in which the command runs."""
    return not word.text.startswith("/") and not shown(word.text).strip("./") and ".." not in word.text


def _fill_folder(call: ProgramCall, word: ShellWord) -> None:
    if _is_remote(word.text):
        return
    is_foreign = call.owner(word) in ("foreign", "variable") and not call.reader.has_made(word.text)
    if is_foreign and not _is_own_folder(word):
        call.unread("cannot determine whether this overwrites files of another owner", word)


def _run_file(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["run_script"](call.with_args((word,)))


def _run_task(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["run_task"](call.with_args((word,)))


def _read_sql(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["sql"](call.with_args((word,)))


def _read_sql_file(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["sql_file"](call.with_args((word,)))


def _delete_path(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["delete_file"](call.with_args((word,)))


def _delete_tree(call: ProgramCall, word: ShellWord) -> str | None:
    return call.reader.programs.readers["delete_tree"](call.with_args((word,)))


def _run_script(call: ProgramCall, word: ShellWord) -> str | None:
    return call.script(word)


def _doubt_code(call: ProgramCall, word: ShellWord) -> None:
    call.unread("cannot determine what this code does", word)


def _skip(call: ProgramCall, word: ShellWord) -> None:
    """Nothing follows from the word."""


_USES: Final[Mapping[str, Callable[[ProgramCall, ShellWord], str | None]]] = {
    "text": _skip,
    "host": _skip,
    "url": _skip,
    "folder": _skip,
    "path_read": _read_path,
    "path_added": _add_path,
    "path_written": _write_path,
    "path_changed": _change_path,
    "path_deleted": _delete_path,
    "tree_deleted": _delete_tree,
    "folder_filled": _fill_folder,
    "shell": _run_script,
    "script": _run_file,
    "task": _run_task,
    "sql": _read_sql,
    "sql_file": _read_sql_file,
    "code": _doubt_code,
}


def _note(call: ProgramCall, entry: CatalogEntry, outcomes: Sequence[_Outcome], uses: Sequence[_Use]) -> None:
    """Record how the program was read."""
    call.reader.readings.append(
        ProgramReading(
            words=tuple(shown(word.text) for word in (call.word, *call.args)),
            entry=entry.name,
            place=entry.place,
            effects=tuple(dict.fromkeys(each.effect for each in outcomes)),
            operations=tuple(dict.fromkeys(each.operation for each in outcomes if each.operation)),
            uses=tuple(_describe_words(call, entry, uses)),
            through=call.reader.list_through(),
        )
    )


def _describe_words(call: ProgramCall, entry: CatalogEntry, uses: Sequence[_Use]) -> Iterator[WordUse]:
    roles = {word.text: role for word, role in uses}
    steps = entry.name.split(" ")[1:]
    for word in call.args:
        text = word.text
        name, _, value = text.partition("=")
        if text in roles:
            role = roles[text]
        elif steps and fnmatchcase(text, steps[0]):
            role = "subcommand"
            steps.pop(0)
        elif text.startswith("-") and len(text) > 1:
            is_known = entry.knows(normalize_option(name)) or not text.startswith("--")
            role = roles.get(value, "option") if is_known else "unknown option"
        else:
            role = "text"
        yield WordUse(word=shown(text), role=role)
