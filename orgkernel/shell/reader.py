"""Simulates the effects of a shell command without running it.

Error policy: fails closed. The effect of a construct is either known, or the construct is reported as not read. No
command is run, and no file is opened. Work, depth and length are limited, and parts beyond a limit are reported as
not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Tree

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell import marks
from orgkernel.shell.marks import (
    CLOSE,
    COMMA,
    FIELD,
    GLOB,
    HOME,
    MANY,
    ONE,
    OPEN,
    OWN_PROCESS,
    PLAIN,
    ROOT,
    UNKNOWN,
    ShellWord,
    shown,
    split_fields,
)
from orgkernel.shell.ownership import Ground, Ownership, classify_owner, is_sink, join
from orgkernel.shell.verdict import CommandPlace, DestructiveOperation, ProgramReading, UnreadPart

MAX_CHARACTERS: Final = 10_000
MAX_SCRIPTS: Final = 12
"""Maximum nesting of scripts in scripts: `sh -c "sh -c …"`."""
MAX_NODES: Final = 60
"""Maximum nesting of constructs in one script."""
MAX_STEPS: Final = 10_000
MAX_FINDINGS: Final = 100
MAX_TEXT_LENGTH: Final = 20_000
"""Maximum length of an output or value. A longer one is unknown."""

MAX_MISTAKES: Final = 3
MAX_SYMBOLS: Final = 2_500
_REDIRECTIONS: Final = frozenset(("<", ">", ">>", ">|", "&>", "&>>", "<&", ">&", "<&-", ">&-", "<>"))
_SYMBOL: Final = lazy_pattern(rb"[][<>|&;(){}$`!]")
_RUN_OF_SYMBOLS: Final = lazy_pattern(rb"[][<>|&;(){}$`!'\"\\]{40}")
_LANGUAGE: Final = Language(tree_sitter_bash.language())
_NUMBER = lazy_pattern(r"\d+")
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}
_ANSI: Final = lazy_pattern(
    r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL
)
_KNOWN_VARIABLES: Final = {
    "HOME": HOME, "PWD": ROOT, "TMPDIR": "/tmp", "!": OWN_PROCESS, "$": OWN_PROCESS, "?": PLAIN, "#": PLAIN, "RANDOM": PLAIN,
    "UID": PLAIN, "EUID": PLAIN, "USER": PLAIN, "HOSTNAME": PLAIN, "LINENO": PLAIN, "SECONDS": PLAIN, "EPOCHSECONDS": PLAIN,
    "BASHPID": OWN_PROCESS, "PPID": PLAIN, "IFS": FIELD,
}  # fmt: skip
_EXPANSIONS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
# Constructs whose parts are run or not.
_BRANCHING: Final = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_statement", "case_item", "while_statement", "for_statement",
    "c_style_for_statement", "negated_command"}
)  # fmt: skip
_SILENT: Final = frozenset(
    {"comment", "heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor", "test_operator"}
)
_SYSTEM: Final = (
    "/etc/",
    "/boot/",
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib",
    "/var/",
    "/opt/",
    "/srv/",
    "/root/",
)
_DEVICE: Final = lazy_pattern(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md|loop)")

ENVIRONMENT: Final = "/proc/self/environ"
"""The file that stands for the environment, whatever prints it."""
_PRINTING_OPTIONS: Final = ("-p", "-x", "-px", "-xp")
_PARTS: Final = lazy_pattern(r"[=@:,;<>]")
_QUOTED: Final = lazy_pattern(r"""['"`]([^'"`\n]{1,500})['"`]""")

PATH: Final = "path"
"""The kind of a file or folder that a command made."""


class MadeThing(NamedTuple):
    """A thing that a command made, such as a branch."""

    kind: str
    name: str
    context: tuple[object, ...] = ()
    """The program, the folder, and what else decides in which place the name is looked for."""


Program = Callable[["ProgramCall"], str | None]
"""Simulates a program: records its operations, and returns its output as far as it is known."""


class ProgramTable(Protocol):
    """The programs that are known."""

    @property
    def readers(self) -> Mapping[str, Program]:
        """The parts of orgkernel that read programs whose words are a language of their own."""

    def get(self, name: str) -> Program | None:
        """A program by one of its names, without a folder."""

    def find_opened(self, name: str, args: Sequence[ShellWord]) -> tuple[str, Sequence[ShellWord]]:
        """The content that a program prints, copies or sends, in the words of the catalog, and the words that can name it."""


@dataclass(slots=True)
class Script:
    """A script, and the positions of its parts in the given text."""

    source: bytes
    start: int
    end: int
    is_exact: bool
    """Whether each byte is at `start` and after. Otherwise the whole script has a single position."""

    def place(self, node: Node) -> tuple[int, int]:
        if self.is_exact:
            return self.start + node.start_byte, self.start + node.end_byte
        return self.start, self.end


@dataclass(slots=True)
class ProgramCall:
    """A program with its words."""

    reader: Reader
    name: str
    args: tuple[ShellWord, ...]
    word: ShellWord
    """The word that names the program."""
    stdin: str | None
    """Standard input: text with marks, or None for nothing."""
    place: str = ""
    """The file and line of its entry in the catalog."""
    is_in_memory: bool = False
    """Whether its SQL acts on a database in memory only."""

    def found(self, operation: str, message: str, at: ShellWord | None = None) -> None:
        self.reader.found(operation, message, (self.word, *self.args), at or self.word, self.place)

    def unread(self, message: str, at: ShellWord | None = None) -> None:
        self.reader.not_read(message, (self.word, *self.args), at or self.word, self.place)

    def with_args(self, args: Sequence[ShellWord]) -> ProgramCall:
        """The same program with other words."""
        return ProgramCall(
            self.reader, self.name, tuple(args), self.word, self.stdin, self.place, self.is_in_memory
        )

    def run(
        self,
        words: Sequence[ShellWord],
        *,
        stdin: str | None = None,
        through: str = "",
        passes_status: bool = False,
    ) -> str:
        """Another program that this one starts. `passes_status`: this one fails if the other fails."""
        made = set(self.reader.made)
        with self.reader.through(through or self.name):
            printed = self.reader.execute(tuple(words), stdin if stdin is not None else self.stdin)
        if not passes_status:
            self.reader.made = made
        return printed

    def script(self, text: ShellWord | str, *, through: str = "", args: Sequence[ShellWord] = ()) -> str:
        """Read a script that this program runs."""
        word = text if isinstance(text, ShellWord) else self.word.but(text)
        made = set(self.reader.made)
        with self.reader.through(through or self.name):
            printed = self.reader.run_text(word, args, self.stdin)
        self.reader.made = made
        return printed

    def owner(self, path: ShellWord | str) -> Ownership:
        """The ownership of a path that the program changes."""
        return self.reader.touch(path if isinstance(path, str) else path.text)


@dataclass(slots=True)
class Reader:
    """The findings while a text is read, and the known state of the shell."""

    programs: ProgramTable
    ground: Ground
    operations: list[DestructiveOperation] = field(default_factory=list)
    unread: list[UnreadPart] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Node | str] = field(default_factory=dict)
    traps: list[ShellWord] = field(default_factory=list)
    """Commands that run when the shell ends."""
    written: dict[str, str] = field(default_factory=dict)
    """Files that the command wrote, with their text as far as it is known."""
    touched: list[tuple[str, Ownership]] = field(default_factory=list)
    """Paths that the command changes on this machine, as far as they are known, with their ownership."""
    programs_run: list[tuple[str, ...]] = field(default_factory=list)
    """The words of each program that the command runs here, as far as they are known."""
    unseen: list[str] = field(default_factory=list)
    """The programs that change files which their words do not name."""
    unnamed: list[str] = field(default_factory=list)
    """Files that the programs change, although their words do not name them."""
    read_paths: list[str] = field(default_factory=list)
    """Paths that the programs read, as far as their words name them."""
    opened: list[str] = field(default_factory=list)
    """Paths whose content the command may print, copy or send, as far as its words name them."""
    opened_trees: list[str] = field(default_factory=list)
    """Folders of which it may do that with all files."""
    made: set[MadeThing] = field(default_factory=set)
    """The things that the command itself certainly made, if control comes here."""
    ends_on_failure: bool = False
    """Whether the shell ends when a command fails: `set -e`."""
    readings: list[ProgramReading] = field(default_factory=list)
    """How each program was read, in order."""
    folder: str = ""
    is_elsewhere: bool = False
    is_fresh: bool = False
    """Whether the files are those of a container that the command started, with nothing of others in it."""
    assigned: Mapping[str, str] = field(default_factory=dict)
    """The variables that are set for the present program only: `DOCKER_HOST=tcp://a docker ps`."""
    _given: bytes = b""
    _script: Script = field(default_factory=lambda: Script(b"", 0, 0, is_exact=True))
    _scripts: dict[str, Script] = field(default_factory=dict)
    _through: list[str] = field(default_factory=list)
    _running: list[str] = field(default_factory=list)
    _called: set[str] = field(default_factory=set)
    _depth: int = 0
    _nesting: int = 0
    _steps: int = 0
    _is_exhausted: bool = False
    _seen: set[object] = field(default_factory=set)

    # Results.

    def list_through(self) -> tuple[str, ...]:
        """The programs and constructs around the present one, outermost first."""
        return tuple(self._through)

    def found(
        self, operation: str, message: str, words: Sequence[ShellWord], at: ShellWord, entry: str = ""
    ) -> None:
        if len(self.operations) >= MAX_FINDINGS:
            return
        finding = DestructiveOperation(
            id=operation,
            message=message,
            words=_told(words),
            through=tuple(self._through),
            at=self._place(at),
            entry=entry,
        )
        if finding not in self._seen:
            self._seen.add(finding)
            self.operations.append(finding)

    def not_read(self, message: str, words: Sequence[ShellWord], at: ShellWord, entry: str = "") -> None:
        if len(self.unread) >= MAX_FINDINGS:
            return
        part = UnreadPart(
            message=message,
            words=_told(words),
            through=tuple(self._through),
            at=self._place(at),
            entry=entry,
        )
        if part not in self._seen:
            self._seen.add(part)
            self.unread.append(part)

    def _place(self, at: ShellWord) -> CommandPlace:
        line, column = self._position(at.start)
        end_line, end_column = self._position(at.end)
        return CommandPlace(line=line, column=column, end_line=end_line, end_column=end_column)

    def _position(self, offset: int) -> tuple[int, int]:
        before = self._given[:offset]
        start = before.rfind(b"\n") + 1
        return before.count(b"\n") + 1, len(before[start:].decode("utf-8", "replace")) + 1

    @contextmanager
    def through(self, name: str) -> Iterator[None]:
        self._through.append(shown(name))
        try:
            yield
        finally:
            self._through.pop()

    # Scripts

    def read(self, text: str) -> None:
        """Read the given text."""
        self._given = text.encode()
        self._run(Script(self._given, 0, len(self._given), is_exact=True), ())
        for script in self.traps:
            with self.through("trap"):
                self.run_text(script)
        for name in [name for name in self.functions if name not in self._called]:
            # A function that was not called yet can be called later.
            self._call_function(ShellWord(name, 0, len(self._given)), (), None)

    def run_text(self, word: ShellWord, args: Sequence[ShellWord] = (), stdin: str | None = None) -> str:
        """Read a script that is a word of another script, or the output of a program."""
        if self._depth >= MAX_SCRIPTS:
            self.not_read("scripts are nested too deeply", (word,), word)
            return UNKNOWN
        if marks.is_unclear(word.text) and not word.text.strip(UNKNOWN + MANY + " \n\t"):
            self.not_read("the script is not known until the command runs", (word,), word)
            return UNKNOWN
        # A mark in a script is what the outer shell puts there: text that this one reads as code.
        if marks.is_unclear(word.text):
            self.not_read("a part of the script is not known until the command runs", (word,), word)
        source = _as_script(word.text).encode()
        given = self._given[word.start : word.end]
        is_exact = given[1:-1] == source and given[:1] in (b"'", b'"')
        script = Script(source, word.start + 1 if is_exact else word.start, word.end, is_exact)
        return self._run(script, args, stdin)

    def _run(self, script: Script, args: Sequence[ShellWord], stdin: str | None = None) -> str:
        if len(script.source) > 2 * MAX_CHARACTERS:
            word = ShellWord("", script.start, script.end)
            self.not_read("the script is too long", (), word)
            return UNKNOWN
        before, ends_on_failure = self._script, self.ends_on_failure
        positional = self._bind(args)
        self._script, self.ends_on_failure = script, False
        self._depth += 1
        try:
            tree = None if self._steps > MAX_STEPS else parse_script(script.source)
            # Mistakes take long to parse: a script with one is not read many times.
            self._steps += len(script.source) // 8 + (
                MAX_STEPS // 8 if tree is None or tree.root_node.has_error else 0
            )
            if tree is None:
                word = ShellWord("", script.start, script.end)
                self.not_read("this is not shell syntax that is understood here", (), word)
                return UNKNOWN
            return self._visit(tree.root_node, stdin)
        finally:
            self._depth -= 1
            self._script, self.ends_on_failure = before, ends_on_failure
            self._unbind(positional)

    def _bind(self, args: Sequence[ShellWord]) -> dict[str, str]:
        """Bind positional parameters. Returns the earlier ones."""
        before = {name: value for name, value in self.variables.items() if name in "@*" or name.isdigit()}
        for name in before:
            del self.variables[name]
        for number, word in enumerate(args, 1):
            self.variables[str(number)] = word.text
        if args:
            self.variables["@"] = self.variables["*"] = FIELD.join(word.text for word in args)
        return before

    def _unbind(self, before: dict[str, str]) -> None:
        for name in [name for name in self.variables if name in "@*" or name.isdigit()]:
            del self.variables[name]
        self.variables.update(before)

    def touch(self, path: str) -> Ownership:
        """Record a changed path. Returns its ownership."""
        ownership = self.owner(path)
        if not self.is_elsewhere:
            self.touched.append((join(self.folder, path), ownership))
        return ownership

    def has_made(self, path: str) -> bool:
        """Whether the command itself made a file or folder, or one above it."""
        name = join(self.folder, path)
        # Only names that are certain: a file that is perhaps the one that was made must not pass for it.
        if not marks.is_known(name) or ".." in name.split("/"):
            return False
        parts = name.rstrip("/").split("/")
        return any(
            MadeThing(PATH, "/".join(parts[:number])) in self.made for number in range(1, len(parts) + 1)
        )

    def owner(self, path: str) -> Ownership:
        """The ownership of a path."""
        if self.is_fresh:
            return "own"
        ownership = classify_owner(join(self.folder, path), self.ground, is_elsewhere=self.is_elsewhere)
        if (
            ownership == "foreign"
            and self.ground == Ground()
            and not self.is_elsewhere
            and _PROJECT.match(self.folder)
        ):
            # A worker in that folder writes `cd ~/shop && rm -rf dist`.
            return "unclear" if classify_owner(path, self.ground) == "own" else ownership
        return ownership

    @contextmanager
    def elsewhere(self, *, is_fresh: bool = False) -> Iterator[None]:
        """Another machine or a container, where no variable is known, and nothing is own unless it `is_fresh`."""
        before = self.folder, self.is_elsewhere, self.variables, self.functions, self.made, self.is_fresh
        self.folder, self.is_elsewhere, self.functions, self.made = "", True, {}, set()
        self.is_fresh = is_fresh
        # Even the names that a shell always sets have other values there.
        self.variables = {"PWD": UNKNOWN}
        try:
            yield
        finally:
            self.folder, self.is_elsewhere, self.variables, self.functions, self.made, self.is_fresh = before

    @contextmanager
    def _subshell(self) -> Iterator[None]:
        folder, variables, ends_on_failure = self.folder, dict(self.variables), self.ends_on_failure
        try:
            yield
        finally:
            self.folder, self.variables, self.ends_on_failure = folder, variables, ends_on_failure

    # Statements

    def _visit(self, node: Node, stdin: str | None) -> str:
        self._steps += 1
        if self._nesting >= MAX_NODES or self._steps > MAX_STEPS:
            self._exhaust(ShellWord("", *self._script.place(node)))
            return UNKNOWN
        self._nesting += 1
        try:
            visit = _STATEMENTS.get(node.type)
            if visit is not None:
                return visit(self, node, stdin)
            if node.type in _SILENT or not node.is_named:
                return ""
            if node.type in _VALUES:
                self._text(node)
                return ""
            self._not_understood(node, "this is not shell syntax that is understood here")
            return UNKNOWN
        finally:
            self._nesting -= 1

    def _exhaust(self, at: ShellWord) -> None:
        # Once for each command: what comes after the limit is unread for the same reason.
        if not self._is_exhausted:
            self._is_exhausted = True
            self.not_read("the command is too long or too deeply nested to be read", (at,), at)

    def _not_understood(self, node: Node, message: str) -> None:
        start, end = self._script.place(node)
        text = (node.text or b"").decode("utf-8", "replace")[:200]
        self.not_read(message, (ShellWord(text, start, end),), ShellWord(text, start, end))

    def _sequence(self, node: Node, stdin: str | None) -> str:
        if node.is_error or node.is_missing:
            self._not_understood(node, "this is not shell syntax that is understood here")
        if node.type == "list":
            return _cut(self._visit_before_last(node, stdin) + self._visit_last(node, stdin))
        printed = []
        for child in node.children:
            if child.is_named:
                before, ends_on_failure = set(self.made), self.ends_on_failure
                # A branch may not run, so neither a `set -e` in it nor what it makes is certain afterward.
                if node.type in _BRANCHING:
                    self.ends_on_failure = False
                printed.append(self._visit(child, stdin))
                if node.type in _BRANCHING:
                    self.made = before
                    self.ends_on_failure |= ends_on_failure
                elif self._may_go_on_after_failure(child):
                    self.made = before
            else:
                self._visit(child, stdin)
        return _cut("".join(printed))

    def _may_go_on_after_failure(self, statement: Node) -> bool:
        """Whether what is behind a statement is reached although it failed, so that what it makes may not be made by it.

        The status of the last statement is that of the whole, which an `&&` behind it tests.
        """
        after = statement.next_sibling
        if after is not None and _source(after) == "&":
            return True
        while after is not None and (not after.is_named or after.type in _SILENT):
            after = after.next_sibling
        return after is not None and not (self.ends_on_failure and self._is_simple(statement))

    def _is_simple(self, statement: Node) -> bool:
        """Whether `set -e` ends the shell whenever a statement fails.

        It does not if a part of `a && b` fails that is not the last one, not even in a group or a function.
        """
        command = (
            statement.child_by_field_name("body") if statement.type == "redirected_statement" else statement
        )
        if command is None or command.type != "command":
            return False
        return _source(command.child_by_field_name("name")) not in self.functions

    def _visit_before_last(self, node: Node, stdin: str | None) -> str:
        """The first part of `a && b` or `a || b`, in which `set -e` has no effect."""
        before, ends_on_failure = set(self.made), self.ends_on_failure
        self.ends_on_failure = False
        printed = self._visit(node.children[0], stdin)
        self.ends_on_failure |= ends_on_failure
        if any(_source(child) == "||" for child in node.children):
            self.made = before
        return printed

    def _visit_last(self, node: Node, stdin: str | None) -> str:
        """The second part of `a && b` or `a || b`, which is run or not."""
        before, ends_on_failure = set(self.made), self.ends_on_failure
        printed = "".join(self._visit(child, stdin) for child in node.children[1:])
        self.ends_on_failure &= ends_on_failure
        if any(_source(child) == "||" for child in node.children):
            self.made = before
        return printed

    def _in_subshell(self, node: Node, stdin: str | None) -> str:
        with self._subshell():
            return self._sequence(node, stdin)

    def _branches(self, node: Node, stdin: str | None) -> str:
        """Branches of which some are run, possibly repeatedly. A variable stays known only if no branch changes it."""
        before, folder = dict(self.variables), self.folder
        made, ends_on_failure = set(self.made), self.ends_on_failure
        printed = self._sequence(node, stdin)
        self.made, self.ends_on_failure = made, ends_on_failure and self.ends_on_failure
        for name in {*before, *self.variables}:
            if before.get(name) != self.variables.get(name):
                old, new = before.get(name), self.variables.get(name)
                self.variables[name] = (
                    new if old is None and new is not None and node.type == "if_statement" else UNKNOWN
                )
        if self.folder != folder:
            self.folder = UNKNOWN
        return printed

    def _loop(self, node: Node, stdin: str | None) -> str:
        """Read a loop twice, so assignments of the first round are known in the second."""
        self._branches(node, stdin)
        return self._branches(node, stdin)

    def _for(self, node: Node, stdin: str | None) -> str:
        name_node = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        name = _source(name_node)
        values = [value for child in node.children_by_field_name("value") for value in self._fields(child)]
        if not values and not node.children_by_field_name("value"):
            values = [ShellWord(MANY, *self._script.place(node))]
        printed = ""
        for value in values[:40]:
            self.variables[name] = _one_word(value.text)
            if body is not None:
                printed += self._branches(body, stdin)
        if len(values) > 40 and body is not None:
            self.variables[name] = UNKNOWN
            printed += self._branches(body, stdin)
        return _cut(printed)

    def _function(self, node: Node, _: str | None) -> str:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if body is not None:
            self.functions[_source(name)] = body
            self._scripts[_source(name)] = self._script
            self._called.discard(_source(name))
        return ""

    def _call_function(self, name: ShellWord, args: Sequence[ShellWord], stdin: str | None) -> str:
        body = self.functions[name.text]
        self._called.add(name.text)
        if name.text in self._running:
            self.not_read("a function calls itself, so its effect is unknown", (name, *args), name)
            return UNKNOWN
        self._running.append(name.text)
        try:
            if isinstance(body, str):
                tail = " ".join(["", *(f"'{word.text}'" if word.is_known else word.text for word in args)])
                with self.through(name.text):
                    return self.run_text(name.but(body + tail))
            before, positional = self._script, self._bind(args)
            self._script = self._scripts.get(name.text, before)
            with self.through(name.text):
                try:
                    return self._visit(body, stdin)
                finally:
                    self._script = before
                    self._unbind(positional)
        finally:
            self._running.pop()

    def _pipeline(self, node: Node, stdin: str | None) -> str:
        for child in node.named_children:
            before = set(self.made)
            with self._subshell():
                stdin = self._visit(child, stdin)
            if child != node.named_children[-1]:
                self.made = before
        return stdin or ""

    def _redirected(self, node: Node, stdin: str | None) -> str:
        body = last = node.child_by_field_name("body")
        earlier = ""
        if last is not None and last.type == "list" and last.named_child_count > 1:
            # The grammar takes `a && b > c` for `(a && b) > c`.
            earlier = self._visit_before_last(last, stdin)
            last = last.named_children[-1]
        following: list[tuple[Node, bool]] = []
        extra: list[ShellWord] = []
        writes: list[tuple[str, ShellWord]] = []
        for child in node.children:
            if child == body:
                continue
            stdin = self._redirect(child, stdin, following, extra, writes)
        made = set(self.made)
        if last is None:
            printed = ""
        elif last.type == "command":
            printed = self._command(last, stdin, extra)
        else:
            printed = self._visit(last, stdin)
        if following or (body is not None and any(_source(child) == "||" for child in body.children)):
            self.made = made
        for operator, target in writes:
            self.write(
                target, printed, appends=operator in (">>", "&>>"), is_empty=body is None or not printed
            )
        passed = "" if any(operator.startswith((">", "&>")) for operator, _ in writes) else printed
        for each, is_piped in following:
            if is_piped:
                for stage in each.named_children if each.type == "pipeline" else (each,):
                    with self._subshell():
                        passed = self._visit(stage, passed)
            else:
                passed += self._visit(each, None)
        return earlier + passed

    def _redirect(
        self,
        node: Node,
        stdin: str | None,
        following: list[tuple[Node, bool]],
        extra: list[ShellWord],
        writes: list[tuple[str, ShellWord]],
    ) -> str | None:
        """The text after an input redirection. Output files, and commands on the line of a here-document, are
        collected.
        """
        if node.type == "herestring_redirect":
            return "".join(self._text(child) for child in node.named_children) + "\n"
        if node.type == "file_redirect":
            operator = next((_source(child) for child in node.children if not child.is_named), "")
            operator += "".join(_source(child) for child in node.children if child.is_error)
            if operator not in _REDIRECTIONS:
                self._not_understood(node, "this is not shell syntax that is understood here")
            descriptor = next(
                (_source(child) for child in node.children if child.type == "file_descriptor"), ""
            )
            if (
                operator == "<>"
            ):  # opened to read and to write, and not emptied; what is printed there is written over it
                operator = ">" if descriptor in ("1", "2") else ">>"
            targets = [
                word for child in node.children_by_field_name("destination") for word in self._fields(child)
            ]
            for number, target in enumerate(targets):
                if number:
                    extra.append(target)
                elif operator.startswith("<") and "&" not in operator:
                    self.open(target.text)
                    stdin = self.read_file(target.text)
                elif ">" in operator and not _NUMBER.fullmatch(target.text) and target.text != "-":
                    writes.append(
                        (f"{descriptor}{operator}" if descriptor not in ("1", "") else operator, target)
                    )
            return stdin
        if node.type == "heredoc_redirect":
            start = next((_source(child) for child in node.children if child.type == "heredoc_start"), "")
            for child in node.named_children:
                if child.type == "heredoc_body":
                    stdin = self._here_document(child, is_quoted=start[:1] in "'\"\\" or "\\" in start)
                elif child.type in ("file_redirect", "herestring_redirect"):
                    self._redirect(child, stdin, following, extra, writes)
                elif child.type in _STATEMENTS:
                    before = child.prev_sibling
                    is_piped = child.type == "pipeline" or (
                        before is not None and _source(before) in ("|", "|&")
                    )
                    following.append((child, is_piped))
                elif child.type in _VALUES and child.type != "heredoc_start":
                    extra += self._fields(child)
                elif child.type not in _SILENT:
                    self._not_understood(child, "this is not shell syntax that is understood here")
            return stdin
        if node.is_error or (node.is_named and node.type not in _SILENT):
            self._not_understood(node, "this is not shell syntax that is understood here")
        return stdin

    def _here_document(self, node: Node, *, is_quoted: bool) -> str:
        if is_quoted:
            return _source(node)
        return self._between(node, lambda text: re.sub(r"\\([$`\\\n])", lambda m: m[1].strip("\n"), text))

    def read_file(self, path: str) -> str:
        """The content of a file for a program. It is known if the command wrote the file."""
        if path == "/dev/null":
            return ""
        return self.written.get(join(self.folder, path), UNKNOWN)

    def open(self, path: str) -> None:
        """Record a file of this machine whose content is read."""
        if not self.is_elsewhere and not path.startswith("/dev/"):
            self.opened.append(join(self.folder, path))

    def _open_words(self, name: str, args: Sequence[ShellWord]) -> None:
        """Record the files that the words of a program may name. Every word counts, unless the catalog says that nothing is opened."""
        kind, naming = self.programs.find_opened(name, args)
        if kind == "environment":
            self.open(ENVIRONMENT)
        if kind in ("nothing", "environment"):
            return
        for word in naming:
            for path in list_named_paths(word.text):
                self.open(path)
                if kind == "trees" and not self.is_elsewhere:
                    self.opened_trees.append(join(self.folder, path))

    def write(self, target: ShellWord, text: str, *, appends: bool, is_empty: bool = False) -> None:
        """Write a file. It is reported if it is not the task's own."""
        path = target.text
        if is_sink(path):
            return
        name = join(self.folder, path)
        self.written[name] = self.written.get(name, UNKNOWN) + text if appends else text
        if _DEVICE.match(path):
            self.found("destroy_data", f"overwrites the device {quote(shown(path))}", (target,), target)
            return
        owner = self.touch(path)
        if owner in ("own", "temporary") or (owner == "unclear" and not appends) or self.has_made(path):
            return
        if owner == "foreign":
            if appends and not path.startswith("/dev/"):
                if path.startswith(("/etc/cron", "/proc", "/sys", "/var/spool/cron")):
                    self.not_read("cannot determine what this file changes", (target,), target)
                return
            # A file in `/etc/apt/sources.list.d` and the like is usually a new one.
            if is_empty or (path.startswith(_SYSTEM) and ".d/" not in path):
                self.found(
                    "destroy_data",
                    f"overwrites {quote(shown(path))}, which is not the task's own",
                    (target,),
                    target,
                )
                return
        if appends:
            return
        self.not_read("cannot determine whether this overwrites a file of another owner", (target,), target)

    # Commands

    def _command(self, node: Node, stdin: str | None, extra: Sequence[ShellWord] = ()) -> str:
        words: list[ShellWord] = []
        assigned: dict[str, str] = {}
        writes: list[tuple[str, ShellWord]] = []
        following: list[tuple[Node, bool]] = []
        late: list[ShellWord] = []
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = self._assignment(child)
                assigned[name] = value
            elif child.type.endswith("_redirect"):
                stdin = self._redirect(child, stdin, following, late, writes)
            elif child.type == "command_name":
                words += [word for each in child.named_children for word in self._fields(each)]
            elif child.is_error:
                self._not_understood(child, "this is not shell syntax that is understood here")
            elif child.type not in _SILENT:
                words += self._fields(child)
        words += [*late, *extra]
        if not words:
            self.variables.update(assigned)
            return ""
        printed = self.execute(tuple(words), stdin, assigned)
        self.assigned = {}
        for operator, target in writes:
            self.write(target, printed, appends=operator in (">>", "&>>"), is_empty=not printed)
        for each, _ in following:
            printed = self._visit(each, printed)
        return printed

    def execute(
        self, words: tuple[ShellWord, ...], stdin: str | None, assigned: Mapping[str, str] | None = None
    ) -> str:
        """Run a program by name. Returns its output."""
        if not words:
            return ""
        self._steps += len(words)
        if self._steps > MAX_STEPS:
            self._exhaust(words[0])
            return UNKNOWN
        first, args = words[0], words[1:]
        if not first.is_known:
            if first.text.strip() and not set(first.text) <= {FIELD, " "}:
                self.not_read("the program is only known at run time", words, first)
            return UNKNOWN
        if not self.is_elsewhere:
            self.programs_run.append(tuple(word.text for word in words))
        for name, value in (assigned or {}).items():
            self.follow_variable(name, first.but(value), words)
        self.assigned = assigned or self.assigned
        function = self.functions.get(first.text)
        # An alias is not expanded again in its own text: `alias rm='rm -i'`.
        if function is not None and not (isinstance(function, str) and first.text in self._running):
            return self._call_function(first, args, stdin)
        name = first.text
        if self._nesting >= MAX_NODES:
            self.not_read("the command is too deeply nested to be read", words, first)
            return UNKNOWN
        folder, _, base = name.rpartition("/")
        is_program = (
            not folder
            or folder in _PROGRAM_FOLDERS
            or folder.endswith(("node_modules/.bin", "venv/bin", "vendor/bin"))
        )
        if base.startswith("git-") and folder.endswith("/git-core"):
            # Git keeps each of its subcommands as a program of its own.
            subcommand = first.but(base.removeprefix("git-"))
            return self.execute((first.but("git"), subcommand, *args), stdin)
        self._open_words(base, args)
        program = self.programs.get(base) if is_program or name.removeprefix("./") in _LAUNCHERS else None
        self._nesting += 1
        try:
            if program is None:
                program = self.programs.readers["./" if folder and not is_program else "?"]
            call = ProgramCall(self, base if is_program else name, args, first, stdin)
            printed = program(call)
        finally:
            self._nesting -= 1
        return UNKNOWN if printed is None else _cut(printed)

    def _assignment(self, node: Node) -> tuple[str, str]:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = _source(name_node)
        text = "" if value is None else self._text(value)
        if "[" in name or (value is not None and value.type == "array"):
            name, text = name.partition("[")[0], MANY
        if any(_source(child) == "+=" for child in node.children):
            text = self.variables.get(name, UNKNOWN) + text
        return name, _cut(text)

    def _assign(self, node: Node, _: str | None) -> str:
        name, value = self._assignment(node)
        self.variables[name] = _one_word(value)
        if name in ("HISTFILE", "HISTSIZE", "HISTFILESIZE") and value in ("", "0", "/dev/null"):
            self._not_understood(node, "cannot determine whether the record of commands is still needed")
        word = ShellWord(value, *self._script.place(node))
        self.follow_variable(name, word, (word,))
        return ""

    def follow_variable(self, name: str, value: ShellWord, words: Sequence[ShellWord]) -> None:
        """What a variable makes programs run: a command that is its value, or unknown code."""
        if name in _RUN_VARIABLES and value.text:
            with self.through(name):
                self.run_text(value)
        loads = _LOADING_VALUES.get(name)
        if name in _LOADING_VARIABLES or (loads is not None and re.search(loads, value.text)):
            self.not_read(f"the variable {name} makes programs run unknown code", words, value)

    def _declare(self, node: Node, stdin: str | None) -> str:
        names = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, stdin)
                names.append("")
            else:
                names.append(self._text(child))
        if all(name in _PRINTING_OPTIONS for name in names):
            self.open(ENVIRONMENT)
        return ""

    def _unset(self, node: Node, _: str | None) -> str:
        for child in node.named_children:
            self.variables[_source(child)] = ""
            if _source(child) == "HISTFILE":
                self._not_understood(node, "cannot determine whether the record of commands is still needed")
        return ""

    def _expressions(self, node: Node, _: str | None) -> str:
        """A test or arithmetic: only substitutions in it are run."""
        for child in node.children:
            if child.type in _EXPANSIONS:
                self._text(child)
            elif child.type in _STATEMENTS and child.type not in ("compound_statement", "subshell"):
                self._visit(child, None)
            elif child.child_count:
                self._nesting += 1
                try:
                    if self._nesting < MAX_NODES:
                        self._expressions(child, None)
                    else:
                        self._not_understood(child, "the command is too deeply nested to be read")
                finally:
                    self._nesting -= 1
        return ""

    def _compound(self, node: Node, stdin: str | None) -> str:
        if node.children and _source(node.children[0]) == "((":
            return self._expressions(node, stdin)
        return self._sequence(node, stdin)

    # Words

    def _fields(self, node: Node) -> list[ShellWord]:
        start, end = self._script.place(node)
        is_bare = node.type in (
            "word",
            "concatenation",
            "simple_expansion",
            "expansion",
            "command_substitution",
            "number",
        )
        text = self._text(node)
        return (
            [ShellWord(field, start, end) for field in split_fields(text)]
            if is_bare
            else [ShellWord(text, start, end)]
        )

    def _text(self, node: Node, *, is_quoted: bool = False) -> str:
        """The text of a word with marks."""
        self._steps += 1
        if self._nesting >= MAX_NODES or self._steps > MAX_STEPS:
            self._visit(node, None)
            return UNKNOWN
        self._nesting += 1
        try:
            return _cut(self._expand_text(node, is_quoted))
        finally:
            self._nesting -= 1

    def _expand_text(self, node: Node, is_quoted: bool) -> str:
        kind = node.type
        if kind in (
            "word",
            "number",
            "extglob_pattern",
            "regex",
            "test_operator",
            "variable_name",
        ) and not any(child.type in _EXPANSIONS for child in node.children):
            return _unquoted(_source(node), at_start=_is_at_start(node))
        if kind in ("string", "translated_string"):
            inner = node if kind == "string" else next((c for c in node.children if c.type == "string"), node)
            return self._between(
                inner, lambda text: re.sub(r"\\([$`\"\\\n])", lambda m: m[1].strip("\n"), text), 1
            )
        if kind == "raw_string":
            return _source(node)[1:-1]
        if kind == "ansi_c_string":
            return _ansi_text(_source(node)[2:-1])
        if kind in ("concatenation", "command_name"):
            return self._concatenated(node)
        if kind in ("simple_expansion", "expansion"):
            return self._variable(node, is_quoted=is_quoted)
        if kind == "command_substitution":
            made = set(self.made)
            with self._subshell(), self.through("$( )"):
                printed = self._sequence(node, None).rstrip("\n")
            self.made = made
            # Without quotes, the shell splits the output into words and expands patterns in them.
            return printed if is_quoted else _as_fields(printed)
        if kind == "process_substitution":
            made = set(self.made)
            with self._subshell(), self.through("<( )"):
                printed = self._sequence(node, None)
            self.made = made
            # As bash does: the command gets a path, and a reader of this path reads what was printed.
            path = f"/dev/fd/{63 - len(self.written) % 60}"
            self.written[path] = printed
            return path
        if kind in ("arithmetic_expansion", "brace_expression"):
            self._expressions(node, None)
            return PLAIN
        if kind in ("array", "subscript", "word", "extglob_pattern", "regex"):
            for child in node.named_children:
                self._text(child)
            return MANY
        if not node.is_named:
            return _source(node)
        if kind in ("comment", "file_descriptor"):
            return ""
        self._not_understood(node, "this is not shell syntax that is understood here")
        return UNKNOWN

    def _concatenated(self, node: Node) -> str:
        parts, at = [], node.start_byte
        for child in node.children:
            if child.start_byte > at:
                parts.append(_unquoted(self._slice(at, child.start_byte)))
            parts.append(self._text(child))
            at = child.end_byte
        return "".join(parts)

    def _between(self, node: Node, unescape: Callable[[str], str], delimiter: int = 0) -> str:
        """The text of a node, with the expansions among its children replaced."""
        parts, at = [], node.start_byte + delimiter
        for child in node.children:
            if child.type in _EXPANSIONS:
                parts.append(unescape(self._slice(at, child.start_byte)))
                parts.append(self._text(child, is_quoted=True))
                at = child.end_byte
            elif child.is_error:
                self._not_understood(child, "this is not shell syntax that is understood here")
        parts.append(unescape(self._slice(at, node.end_byte - delimiter)))
        return "".join(parts)

    def _slice(self, start: int, end: int) -> str:
        return self._script.source[start:end].decode("utf-8", "replace")

    def _variable(self, node: Node, *, is_quoted: bool) -> str:
        named = node.named_children
        text = _source(node)
        name = text[1:] if node.type == "simple_expansion" else text[2:-1]
        if node.type == "expansion" and not re.fullmatch(r"\w+|[@*#?$!]", name):
            for child in named:
                if child.type in _EXPANSIONS or child.type in ("string", "concatenation"):
                    self._text(child)
            first = _source(named[0]) if named else ""
            # A length is a number, whatever the value is.
            if text.startswith("${#"):
                return PLAIN
            operator = text[2 + len(first) : -1]
            known = self.variables.get(first)
            if operator.startswith((":?", "?", ":-", ":=")) and known and marks.is_known(known):
                return known if is_quoted else _as_fields(known)
            value = _without_affix(known, operator)
            if value is not None:
                return value if is_quoted else _as_fields(value)
            return UNKNOWN if is_quoted else MANY
        value = self.variables.get(name, _KNOWN_VARIABLES.get(name))
        # On another machine or in a container, the values of this one are wrong.
        if self.is_elsewhere and name in ("PWD", "TMPDIR", "!", "$"):
            value = self.variables.get(name)
        if value is None:
            return UNKNOWN if is_quoted and name != "@" else MANY
        if name == "PWD" and name not in self.variables:
            return self.here()
        if is_quoted and name != "@":
            return value.replace(FIELD, " ")
        return value if name in ("@", "*") else _as_fields(value)

    def here(self) -> str:
        """The current directory as a path."""
        if self.is_elsewhere:
            return UNKNOWN
        if self.folder[:1] in ("/", HOME, UNKNOWN, MANY, ROOT):
            return self.folder
        return f"{ROOT}/{self.folder}" if self.folder else ROOT


def _without_affix(value: str | None, operator: str) -> str | None:
    """`${name%.txt}`, `${name##*/}`: a value without a literal suffix or prefix."""
    if value is None or marks.is_unclear(value):
        return None
    if operator == "##*/":
        return value.rpartition("/")[2]
    match = re.fullmatch(r"(%%?|##?)([\w./-]+)", operator)
    if match is None:
        return None
    return value.removesuffix(match[2]) if match[1][0] == "%" else value.removeprefix(match[2])


def list_named_paths(text: str) -> Iterator[str]:
    """The paths that a word of a program may name: the word, the parts of `--file=PATH`, `@PATH`, `REVISION:PATH` and
    `-fPATH`, and quoted texts in code.

    >>> [*list_named_paths("HEAD:.env")], [*list_named_paths("-f.env")], [*list_named_paths("open('.env')")]
    (['HEAD', '.env'], ['.env'], ["open('.env')", '.env'])
    """
    if "://" in text and not text.startswith("file://"):
        return
    for part in _PARTS.split(text):
        # The value of an option can follow its letter directly.
        path = "" if part.startswith("--") else part[2:] if part.startswith("-") else part
        if path:
            yield path
    yield from _QUOTED.findall(text)


def parse_script(source: bytes) -> Tree | None:
    """The tree of a script. None for text with mistakes on which the parser would spend too much time."""
    if _RUN_OF_SYMBOLS.search(source) or len(_SYMBOL.findall(source)) > MAX_SYMBOLS:
        return None
    mistakes = 0

    def is_hopeless(_: int, has_error: bool) -> bool:
        nonlocal mistakes
        mistakes += has_error
        return mistakes > MAX_MISTAKES

    try:
        return Parser(_LANGUAGE).parse(lambda at, _: source[at : at + 4096], progress_callback=is_hopeless)
    except ValueError:
        return None


def _as_fields(text: str) -> str:
    """The text of an unquoted expansion: white space separates words, and unknown text can be several words."""
    spread = re.sub(r"\s+", FIELD, text)
    return spread.replace(UNKNOWN, MANY).replace("*", GLOB)


def _one_word(text: str) -> str:
    return text.replace(FIELD, " ").replace(MANY, UNKNOWN)


def _is_at_start(node: Node) -> bool:
    parent = node.parent
    return parent is None or parent.type != "concatenation" or parent.start_byte == node.start_byte


def _unquoted(text: str, *, at_start: bool = False) -> str:
    """An unquoted part of a word: escapes are removed, and wildcards, braces and the home directory are marked."""
    home = ""
    if at_start and text[:1] == "~":
        name, slash, rest = text[1:].partition("/")
        if re.fullmatch(r"[A-Za-z_][\w.-]*|", name):
            home, text = HOME, slash + rest
    parts, number, last = [], 0, text.rfind("]")
    while number < len(text):
        letter = text[number]
        if letter == "\\" and number + 1 < len(text):
            number += 1
            parts.append(text[number].replace("\n", ""))
        elif letter == "[" and last >= number + 2:
            number = text.index("]", number + 2)
            parts.append(ONE)
        else:
            parts.append(_WILD.get(letter, letter))
        number += 1
    return home + "".join(parts)


_WILD: Final = {"*": GLOB, "?": ONE, "{": OPEN, "}": CLOSE, ",": COMMA}


def _ansi_text(text: str) -> str:
    def decode(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            number = int(code[1:], 16)
        elif code[0].isdigit():
            number = int(code, 8)
        else:
            return _ESCAPES.get(code, code[-1] if code[0] != "c" else UNKNOWN)
        return chr(number) if 0 < number < 0xD800 else UNKNOWN

    return _ANSI.sub(decode, text)


def _as_script(text: str) -> str:
    """A text with marks as shell source: an unknown part becomes a variable that is never set."""
    for mark, source in (
        (UNKNOWN, "${__unknown}"), (MANY, "${__unknown}"), (GLOB, "*"), (ONE, "?"), (HOME, "~"), (FIELD, " "), (ROOT, "${PWD}"),
        (OWN_PROCESS, "$!"), (PLAIN, "${RANDOM}"), (marks.TEMPORARY, "${__unknown}"), (marks.MADE, "${__unknown}"),
    ):  # fmt: skip
        text = text.replace(mark, source)
    return text


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_LENGTH else UNKNOWN


def _source(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def _told(words: Sequence[ShellWord]) -> tuple[str, ...]:
    return tuple(shown(word.text[:200]) for word in words[:20])


_PROGRAM_FOLDERS: Final = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"}
)
_LOADING_VARIABLES: Final = frozenset(
    {
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "BASH_ENV",
        "PROMPT_COMMAND",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_EXTERNAL_DIFF",
        "GIT_TEMPLATE_DIR",
        "PERL5OPT",
        "PYTHONSTARTUP",
        "PYTHONBREAKPOINT",
        "PYTHONINSPECT",
    }
)
"""Variables that make other programs run code. `PATH` is not included, because a command with another `PATH` still
names its programs."""
_JAVA_AGENTS: Final = r"-javaagent|-agent(path|lib)|OnOutOfMemoryError|-Xbootclasspath"
_LOADING_VALUES: Final[Mapping[str, str]] = {
    "NODE_OPTIONS": r"--(require|import|loader|experimental-loader)\b|(^|\s)-r\b",
    "RUBYOPT": r"(^|\s)-?[rI]",
    "JAVA_TOOL_OPTIONS": _JAVA_AGENTS,
    "JDK_JAVA_OPTIONS": _JAVA_AGENTS,
    "_JAVA_OPTIONS": _JAVA_AGENTS,
    "GOFLAGS": r"-(toolexec|exec|vettool|overlay|modfile)\b",
    "MAKEFLAGS": r"--?(eval|E|f|file|makefile|I)\b|=|\$\(",
    "GNUMAKEFLAGS": r"--?(eval|E|f|file|makefile|I)\b|=|\$\(",
    "PS4": r"\$\(|`",
}
"""Variables that make other programs run code if their value matches."""
_LAUNCHERS: Final = frozenset(
    {"bin/rails", "bin/rake", "bin/bundle", "bin/console", "gradlew", "mvnw", "manage.py", "artisan"}
)
"""Programs of a project that are known by their entries."""
_PROJECT: Final = lazy_pattern(
    rf"(?:{HOME}|/home/[^/]+|/Users/[^/]+|/workspaces?|/work|/repos?|/code|/projects?)/[^/]+(?!.*\.\.)|/app$"
)
_RUN_VARIABLES: Final = frozenset(
    {
        "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH",
        "GIT_PROXY_COMMAND", "LESSOPEN", "GIT_ASKPASS", "SSH_ASKPASS", "KUBE_EDITOR", "CC", "CXX", "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
    }
)  # fmt: skip
"""Variables whose value is run as a command."""
_VALUES: Final = frozenset(
    {
        "word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number", "array", "subscript",
        "extglob_pattern", "regex", "variable_name", "brace_expression", "special_variable_name", *_EXPANSIONS,
    }
)  # fmt: skip
_STATEMENTS: Final[Mapping[str, Callable[[Reader, Node, str | None], str]]] = {
    "program": Reader._sequence,
    "list": Reader._sequence,
    "negated_command": Reader._sequence,
    "do_group": Reader._sequence,
    "compound_statement": Reader._compound,
    "subshell": Reader._in_subshell,
    "pipeline": Reader._pipeline,
    "redirected_statement": Reader._redirected,
    "command": Reader._command,
    "if_statement": Reader._branches,
    "elif_clause": Reader._branches,
    "else_clause": Reader._branches,
    "case_statement": Reader._branches,
    "case_item": Reader._branches,
    "while_statement": Reader._loop,
    "c_style_for_statement": Reader._loop,
    "for_statement": Reader._for,
    "function_definition": Reader._function,
    "variable_assignment": Reader._assign,
    "variable_assignments": Reader._sequence,
    "declaration_command": Reader._declare,
    "unset_command": Reader._unset,
    "test_command": Reader._expressions,
}
