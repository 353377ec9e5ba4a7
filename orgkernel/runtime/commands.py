"""Compares shell commands with command prefixes, such as `git push`, for policies that restrict part of a tool that
runs commands.

A command is read as the simple commands in it, regardless of pipes, lists, groups and substitutions around them. If the
words of a prefix do not occur in one of them in their order, the command does not match the prefix. If a shell would
build words only at run time (variables, substitutions, wildcards), they can be any word: as the program, or behind a
program that runs what its words name. Behind a program that takes its words for data (`plain_programs.bin`), they are data.
For programs that take commands from elsewhere (`sh`, `eval`, `parallel`, `alias`), a match cannot be ruled out.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .lazy_patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from re import Pattern
    from typing import Any

MAX_CHARACTERS = 10_000
PLAIN_PROGRAMS = "plain_programs.bin"
PROGRAM_NAMES = "program_names.json"
_MAX_NESTED = 20
UNKNOWN_WORD = _UNKNOWN = "\x00"
"""A word, or text in it, that only a run shows."""
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_WORD = lazy_pattern(r"[A-Za-z0-9_./:@%+,~-]+")
_PARTS = lazy_pattern(r"[/:,@]")
_NAME = lazy_pattern(r"[A-Za-z_]\w*|[@*#?$!0-9-]")
_ARITHMETIC = lazy_pattern(r"\$\(\([\w\s+\-*/%<>=!&|?:$]*\)\)")
_BRACES = lazy_pattern(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_BRACKETS = lazy_pattern(r"\[.[^]]*\]")
_ASSIGNMENT = lazy_pattern(r"[a-z_]\w*\+?=")
_HEREDOC = lazy_pattern(r"<<(-?)[ \t]*")
# Delimiters of here-documents that all shells read alike.
_DELIMITER = lazy_pattern(r"'[^'\n]+'|\"[^\"$`\\\n]+\"|[A-Za-z0-9_.+-]+(?=[\s;&|()<>]|\Z)")
# Where `<<` can be an operator of arithmetic.
_MAY_SHIFT = lazy_pattern(r"\(\(|\$\[|\w\[")
_JOINED_LINE = lazy_pattern(r"(?m)\\$")
_OPERATOR = lazy_pattern(r"[<>]{1,2}[&|>]?")
# Quoted text that a program which reads it again can take for something else.
_READ_AGAIN = lazy_pattern(r"[$`\\!\"']|[^\x00-\x7f]")
_READ_BY_SHELL = lazy_pattern(r"[$`\\!\"'*?\[\]{}()#^]|[^\x00-\x7f]")
# Programs that run words which are not in the command: shells, and programs that build commands from their input.
_RUNS_MORE = lazy_pattern(
    r"(?:(?:r?ba|da|z|[mp]?dk|[lmo]?k|a|c|tc|fi|ya|po|xon|elvi|pw)?sh|powershell|eval|source|parallel|fd|fdfind|alias)(?:[0-9.-]*)(?:\.exe)?\Z"
)
_RUNS_TEXT = frozenset({"su", "ssh", "watch", "script", "flock", "tmux", "screen", "entr", "expect"})
_PRINTS = frozenset({"echo", "printf"})
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "time", "{", "}", "fi", "done", "in", "-p"}
)
# Commands of the shell itself that compute subscripts in their words, and those that set variables.
_COMPUTES = frozenset(
    [
        "let",
        "test",
        "[",
        "[[",
        "declare",
        "typeset",
        "local",
        "readonly",
        "export",
        "unset",
        "printf",
        "read",
        "mapfile",
        "readarray",
        "wait",
        "getopts",
    ]
)
_SETS_VARIABLES = frozenset({"declare", "typeset", "local", "readonly", "export"})
_SUBSCRIPT = lazy_pattern(r"\[.*(?:\$\(|`|\$\{)")
_RUN_VARIABLE = lazy_pattern(
    r"(?:\w*(?:pager|editor|visual|command|less|ssh|diff|browser|preload|askpass)\w*|\w*_env|env|ps4)\+?="
)
# Arguments that have further words of the command.
_WORDS_OF_COMMANDS = frozenset({"args", "arguments", "argv", "flags", "options", "parameters", "params"})
_XARGS_VALUED = "nIPLdEsaJR"


class _UnreadableCommand(Exception):
    """A shell could read the text otherwise."""


class SimpleCommand:
    """The words of a program, and its text from here-documents."""

    def __init__(
        self,
        words: tuple[str, ...],
        quoted: frozenset[int],
        *,
        is_piped: bool = False,
        spelled: tuple[str, ...] = (),
    ) -> None:
        self.words = words
        self.spelled = spelled or words
        """The words with their capital letters, because those of options matter."""
        self.quoted = quoted
        """The numbers of the words that are quoted texts of several words."""
        self.is_piped = is_piped
        """Whether another program reads what the program prints."""

    def find_plain_program(self) -> str | None:
        """The program, if it takes all its words for data, so that none of them begins another command."""
        words = self.list_behind_keywords()
        return words[0] if words and self._is_plain_program(words) else None

    def list_behind_keywords(self) -> list[str]:
        """The words from the program on."""
        return [word for word in self.words if word not in _KEYWORDS and not _ASSIGNMENT.match(word)]

    @property
    def is_plain(self) -> bool:
        """Whether the program takes its words for data."""
        words = self.list_behind_keywords()
        if not words or _UNKNOWN in words[0]:
            return not words
        if words[0] in ("for", "select", "case"):
            return True
        program = words[0].rpartition("/")[2]
        return self._is_plain_program(words) or (
            len(words) > 1 and f"{program} {words[1]}" in _read_plain_programs()
        )

    def _is_plain_program(self, words: list[str]) -> bool:
        program = words[0].rpartition("/")[2]
        if program in _read_plain_programs():
            return True
        conditions = _read_conditions().get(program)
        if conditions is None:
            return False
        options, pattern = conditions
        behind = self.spelled[self.words.index(words[0]) + 1 :]
        return not any(_may_be_option(word, options) for word in behind) and not (
            pattern and any(pattern.search(word) for word in behind)
        )

    def list_words(self) -> Iterator[str]:
        """The words that could be a program or its words, in the order of the command."""
        is_plain = self.is_plain
        sets_variables = not _SETS_VARIABLES.isdisjoint(self.words)
        seen_program = False
        for number, word in enumerate(self.words):
            is_run = sets_variables and _RUN_VARIABLE.match(word)
            if seen_program and is_plain and not is_run and (number in self.quoted or _UNKNOWN in word):
                continue
            seen_program = seen_program or not (word in _KEYWORDS or _ASSIGNMENT.match(word))
            if _UNKNOWN in word:
                yield _UNKNOWN
            else:
                yield from _WORD.findall(word)


def may_begin(command: str, beginning: str) -> bool:
    """Whether a command, or a command inside it, could begin with some words. False only if it certainly does not.

    >>> may_begin("git push -f", "git push"), may_begin("cd a && /usr/bin/git -C b push", "git push"), may_begin("g$x push", "git push")
    (True, True, True)
    >>> may_begin("git status | grep 'a*'", "git push"), may_begin("echo push && git log", "git push")
    (False, False)
    >>> may_begin("rmdir a", "rm"), may_begin("rm /etc/passwd", "rm /etc"), may_begin("ls | xargs wc", "rm")
    (True, True, False)
    >>> may_begin("/usr/lib/git-core/git-push -f", "git push"), may_begin("git-log", "git push")
    (True, False)
    """
    return may_begin_with(read_words(command), beginning)


def may_begin_with(commands: tuple[SimpleCommand, ...] | None, beginning: str) -> bool:
    """Like `may_begin`, for a command that was read before."""
    if commands is None:
        return True
    names = _list_names(beginning)
    return not names or any(_may_begin_so(command, names) for command in commands)


def _may_begin_so(command: SimpleCommand, names: list[str]) -> bool:
    # Programs such as git install a subcommand as a program of its own: `git-push`, `/usr/lib/git-core/git-push`.
    return _begins_with_names(command, names) or (
        len(names) > 1 and _begins_with_names(command, [f"{names[0]}-{names[1]}", *names[2:]])
    )


def _begins_with_names(command: SimpleCommand, names: list[str]) -> bool:
    program = command.find_plain_program() if _SETS_VARIABLES.isdisjoint(command.words) else None
    if program is not None and not _is_in(names[0], program, is_whole=len(names) > 1):
        return False
    rest = command.list_words()
    # Each word is searched for after the one before it. Prefixes are compared as strings, so the last word can
    # continue: `rm` is a prefix of `rmdir`.
    for name in names[:-1]:
        if not any(_is_in(name, word, is_whole=True) for word in rest):
            return False
    return any(_is_in(names[-1], word, is_whole=False) for word in rest)


def list_stated_commands(
    arguments: Iterable[str], tool_input: Mapping[str, Any], lists: str | None = None
) -> tuple[str | None, ...]:
    """The shell commands in the input of a tool, given the arguments that contain them. None for one that is not text.

    A list is the words of one command if `lists` is `words`, and several commands if it is `commands`. Otherwise it is
    read both ways, because a caller chooses its form. A program in one argument and its words in another are one command.

    >>> list_stated_commands(["argv"], {"argv": ["git", "push"]}, "words")
    ('git push',)
    >>> list_stated_commands(["argv"], {"argv": ["git", "push"]})
    ('git', 'push', 'git push')
    >>> list_stated_commands(["command"], {"command": "git", "args": ["push", "a b"]})
    ('git', "git push 'a b'")
    """
    names = tuple(arguments)
    values = [tool_input[name] for name in names if name in tool_input]
    if not values:
        return (None,)
    commands: list[str | None] = []
    for value in values:
        if not isinstance(value, list | tuple):
            commands.append(value if isinstance(value, str) else None)
        elif lists != "words" or len(values) > 1:
            commands += [each if isinstance(each, str) else None for each in value] or [None]
    if lists != "commands":
        commands += _join_values(values)
    # Further arguments can hold the words of the program, under a name that the declaration of the tool does not mention.
    first = values[0]
    for name, value in tool_input.items():
        is_more = isinstance(value, list | tuple) or name.casefold() in _WORDS_OF_COMMANDS
        if is_more and name not in names and isinstance(first, str):
            commands += [each for each in _join_values([first, value]) if each is not None]
    return tuple(dict.fromkeys(commands))


def _join_values(values: list[Any]) -> list[str | None]:
    """The command that several values are together, if they can be one."""
    if not any(isinstance(each, list | tuple) for each in values):
        first = values[0]
        if len(values) == 1 or not isinstance(first, str) or len(first.split()) != 1:
            return []
    words: list[str] = []
    for value in values:
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            words += map(_quote_word, value)
        else:
            return [None]
    return [" ".join(words) if words else None]


def _quote_word(word: str) -> str:
    """A word as a shell reads it back."""
    return word if _WORD.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def read_words(command: str) -> tuple[SimpleCommand, ...] | None:
    """The simple commands of a command, folded like names on a case-insensitive file system. None if the command could
    run other words.
    """
    if len(command) > MAX_CHARACTERS or _CONTROL.search(command):
        return None
    reader = _Reader(command)
    try:
        reader.read_list("")
    except (_UnreadableCommand, RecursionError):
        return None
    commands = tuple(reader.commands)
    if any(map(_runs_more, commands)):
        return None
    printed = [*reader.texts, *(text for each in commands for text in _list_printed(each))]
    if printed and not all(each.is_plain for each in commands):
        # A program that does not only read data could run what a here-document contains, or what another
        # program prints.
        texts = [SimpleCommand((text.casefold(),), frozenset()) for text in printed]
        return None if any(map(_READ_BY_SHELL.search, printed)) else (*commands, *texts)
    return commands


def _list_printed(command: SimpleCommand) -> list[str]:
    """The quoted texts that a command prints for another program."""
    prints = command.is_piped and any(word.rpartition("/")[2] in _PRINTS for word in command.words)
    return [command.words[number] for number in sorted(command.quoted)] if prints else []


def _runs_more(command: SimpleCommand) -> bool:
    """Whether the program could run words that are not in the command, or is only known at run time."""
    # A program that is known only at run time (`$CMD x`) can be any program.
    behind = command.list_behind_keywords()
    if behind and _UNKNOWN in behind[0]:
        return True
    is_plain = command.is_plain
    words = [word for number, word in enumerate(command.words) if not (is_plain and number in command.quoted)]
    names = {part for word in words for each in _WORD.findall(word) for part in each.split("/")}
    if any(map(_RUNS_MORE.match, names)) or _sources(command):
        return True
    if not _COMPUTES.isdisjoint(words) and any(_SUBSCRIPT.search(command.words[n]) for n in command.quoted):
        return True
    if is_plain:
        return False
    pattern = _READ_BY_SHELL if not _RUNS_TEXT.isdisjoint(names) else _READ_AGAIN
    return any(pattern.search(command.words[number]) for number in command.quoted)


def _sources(command: SimpleCommand) -> bool:
    """Whether a command runs a file by the shell's other word for `source`: a dot."""
    words = [word for word in command.words if word not in _KEYWORDS and not _ASSIGNMENT.match(word)]
    # `command . FILE` runs the file too.
    while words and words[0] in ("command", "builtin", "exec"):
        words.pop(0)
    return bool(words) and words[0] == "."


def _list_names(beginning: str) -> list[str]:
    """The names of the words of a prefix, without their folders."""
    part_lists = (
        [part for part in _PARTS.split(word.casefold()) if part.strip(".")]
        for word in _WORD.findall(beginning)
    )
    return [parts[-1] for parts in part_lists if parts]


def _is_in(name: str, word: str, *, is_whole: bool) -> bool:
    """Whether a word is a name, contains it as a path component, or, for the last of several, begins with it.

    A word such as `-xrm` can contain the name directly after its option letters.
    """
    # A rule must not be evaded by a word that is built at run time.
    if word == _UNKNOWN:
        return True
    parts = [_read_program_names().get(part, part) for part in _PARTS.split(word)]
    name = _read_program_names().get(name, name)
    if name in parts or (not is_whole and any(part.startswith(name) for part in parts)):
        return True
    return word[:1] == "-" and word[:2] != "--" and name in word


@lru_cache(maxsize=1)
def _read_plain_programs() -> frozenset[str]:
    """The programs, and the programs with a subcommand, that take their words for data. Empty if the file is missing
    or damaged. Then a match is ruled out less often.
    """
    rows = _read_compiled(PLAIN_PROGRAMS)
    if not isinstance(rows, dict):
        return frozenset()
    return frozenset(f"{program} {words}".rstrip() for program, endings in rows.items() for words in endings)


@lru_cache(maxsize=1)
def _read_program_names() -> Mapping[str, str]:
    """The other names of programs, such as `grm`, with the usual one."""
    return dict(_read_compiled(PROGRAM_NAMES) or {})


def _read_compiled(name: str) -> Any:
    import json
    import pkgutil
    import zlib

    try:
        content = pkgutil.get_data(__package__ or "", name) or b"null"
        return json.loads(zlib.decompress(content) if name == PLAIN_PROGRAMS else content)
    except (OSError, ValueError, zlib.error):
        return None


@lru_cache(maxsize=1)
def _read_conditions() -> dict[str, tuple[tuple[str, ...], Pattern[str] | None]]:
    """The programs that take their words for data unless one of some options is given or a word matches a pattern: rows
    such as `rg unless --pre` and `awk unless -f words system`.
    """
    conditions = {}
    for row in _read_plain_programs():
        name, _, rest = row.partition(" unless ")
        if rest:
            options, _, pattern = rest.partition(" words ")
            conditions[name] = tuple(options.split()), re.compile(pattern, re.IGNORECASE) if pattern else None
    return conditions


def _may_be_option(word: str, options: tuple[str, ...]) -> bool:
    """Whether a word is, abbreviates or contains one of some options, or could be one that only a run shows."""
    if word[:1] == _UNKNOWN:
        return True
    if word[:1] != "-":
        return False
    if _UNKNOWN in word:
        return True
    name = word.lstrip("-").partition("=")[0]
    for option in options:
        bare = option.lstrip("-")
        if len(bare) == 1:
            if word[1:2] != "-" and bare in word:
                return True
        elif name and (bare.startswith(name) or name.startswith(bare)):
            return True
    return False


class _Reader:
    """Reads the simple commands of a text."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.commands: list[SimpleCommand] = []
        self.texts: list[str] = []
        """The here-documents."""
        self._text = text
        self._at = 0
        self._depth = depth
        self._awaited: list[tuple[str, bool, bool]] = []
        """The delimiters of here-documents, whether they are quoted, and whether tabs before them are ignored."""
        self._words: list[str] = []
        self._quoted: set[int] = set()
        if depth > _MAX_NESTED:
            raise _UnreadableCommand

    def read_list(self, end: str) -> None:
        """Read until a closing character, or to the end of the text."""
        before = self._words, self._quoted
        self._words, self._quoted = [], set()
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter in " \t":
                self._at += 1
            elif letter == "\n":
                self._at += 1
                self._flush()
                self._read_heredocs()
            elif letter == ")" and end == ")":
                break
            elif letter == "#":
                self._read_comment()
            elif letter in ";&|)":
                self._at += 1
                self._flush(is_piped=letter == "|" and self._text[self._at : self._at + 1] != "|")
            elif letter == "(":
                self._at += 1
                self._flush()
                self._read_nested()
            elif letter in "<>":
                self._redirect()
            else:
                self._add_word()
        else:
            if end or self._awaited:
                raise _UnreadableCommand
        self._flush()
        self._words, self._quoted = before

    def _read_nested(self) -> None:
        """A list in parentheses, behind the opening one."""
        self._depth += 1
        if self._depth > _MAX_NESTED:
            raise _UnreadableCommand
        self.read_list(")")
        self._at += 1
        self._depth -= 1

    def _read_comment(self) -> None:
        """A comment, up to the end of its line.

        Its words count as a command, because an interactive shell can run them.
        """
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        words = tuple(self._text[self._at : end].casefold().split())
        self.commands.append(SimpleCommand(words, frozenset()))
        self._at = end

    def _flush(self, *, is_piped: bool = False) -> None:
        """End a simple command."""
        if self._words:
            words = tuple(word.casefold() for word in self._words)
            spelled = tuple(self._words)
            command = SimpleCommand(words, frozenset(self._quoted), is_piped=is_piped, spelled=spelled)
            self.commands.append(_read_xargs(command))
        self._words, self._quoted = [], set()

    def _add_word(self) -> None:
        word, is_quoted = self._read_word()
        if word[:1] in ("!", "^") and len(word) > 1 and not self._words:
            word = _UNKNOWN  # the history of an interactive shell
        if is_quoted and (len(word.split()) > 1 or _READ_BY_SHELL.search(word)):
            self._quoted.add(len(self._words))
        self._words.append(word)

    def _redirect(self) -> None:
        start = self._text[self._at : self._at + 3]
        if start[1:2] == "(":  # a process substitution
            self._at += 2
            self._read_nested()
            self._words.append(_UNKNOWN)
            return
        if start == "<<<":
            self._at += 3
            self._skip_spaces()
            self.texts.append(self._read_word()[0])
            return
        if start[:2] == "<<":
            self._announce_heredoc()
            return
        operator = _OPERATOR.match(self._text, self._at)
        assert operator is not None
        self._at = operator.end()
        self._skip_spaces()
        if self._at < len(self._text) and self._text[self._at] not in "<>;&|\n()":
            self._read_word()

    def _skip_spaces(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1

    def _announce_heredoc(self) -> None:
        """The operator of a here-document, and its delimiter."""
        if _MAY_SHIFT.search(_ARITHMETIC.sub(" ", self._text[: self._at])):
            raise _UnreadableCommand
        operator = _HEREDOC.match(self._text, self._at)
        assert operator is not None
        delimiter = _DELIMITER.match(self._text, operator.end())
        if delimiter is None or self._text[delimiter.end() : delimiter.end() + 1].strip(" \t\n;&|()<>"):
            raise _UnreadableCommand
        self._at = delimiter.end()
        word = delimiter[0].strip("'\"")
        self._awaited.append((word, word != delimiter[0], bool(operator[1])))

    def _read_heredocs(self) -> None:
        """The texts behind the line that announces them."""
        for delimiter, is_quoted, is_indented in self._awaited:
            lines = []
            while True:
                if self._at >= len(self._text):
                    raise _UnreadableCommand
                line, _, _ = self._text[self._at :].partition("\n")
                self._at += len(line) + 1
                if (line.lstrip("\t") if is_indented else line) == delimiter:
                    break
                lines.append(line)
            text = "\n".join(lines)
            if not is_quoted:
                self._read_expansions(text)
            self.texts.append(text)
        self._awaited = []

    def _read_expansions(self, text: str) -> None:
        """The substitutions in the text of a here-document."""
        if _JOINED_LINE.search(text):  # the delimiter could be behind it
            raise _UnreadableCommand
        reader = _Reader(text, self._depth + 1)
        reader.read_substitutions()
        self.commands += reader.commands
        self.texts += reader.texts

    def read_substitutions(self) -> None:
        """Read the substitutions in a text that is not a command."""
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter == "$":
                self._read_dollar(is_quoted=True)
            elif letter == "`":
                self._read_backticks()
            else:
                self._at += 2 if letter == "\\" else 1

    def _read_word(self) -> tuple[str, bool]:
        """A word with unknown parts, and whether it has a quoted part."""
        parts: list[str] = []
        start, is_quoted = self._at, False
        text = self._text
        while self._at < len(text) and text[self._at] not in " \t\n;&|()<>":
            letter = text[self._at]
            if letter == "'":
                end = text.find("'", self._at + 1)
                if end < 0:
                    raise _UnreadableCommand
                parts.append(text[self._at + 1 : end])
                self._at, is_quoted = end + 1, True
            elif letter == '"':
                self._at += 1
                parts.append(self._read_double_quoted())
                is_quoted = True
            elif letter == "\\":
                if self._at + 1 >= len(text):
                    raise _UnreadableCommand
                parts.append(text[self._at + 1].strip("\n"))
                self._at += 2
            elif letter == "$":
                parts.append(self._read_dollar())
            elif letter == "`":
                parts.append(self._read_backticks())
            else:
                parts.append(_UNKNOWN if letter in "*?" or letter > "\x7f" else letter)
                self._at += 1
        raw = text[start : self._at]
        if _BRACES.search(raw) or (_BRACKETS.search(raw) and not is_quoted):
            parts.append(_UNKNOWN)
        return "".join(parts), is_quoted

    def _read_double_quoted(self) -> str:
        """The text up to the closing quote."""
        parts: list[str] = []
        text = self._text
        while self._at < len(text):
            letter = text[self._at]
            if letter == '"':
                self._at += 1
                return "".join(parts)
            if letter == "\\" and self._at + 1 < len(text):
                following = text[self._at + 1]
                parts.append(following.strip("\n") if following in '$`"\\\n' else letter + following)
                self._at += 2
            elif letter == "$":
                parts.append(self._read_dollar(is_quoted=True))
            elif letter == "`":
                parts.append(self._read_backticks())
            else:
                parts.append(letter)
                self._at += 1
        raise _UnreadableCommand

    def _read_dollar(self, *, is_quoted: bool = False) -> str:
        """An expansion, with the commands in it. In quotes, a quote behind the dollar begins no text."""
        text = self._text
        following = text[self._at + 1 : self._at + 2]
        if arithmetic := _ARITHMETIC.match(text, self._at):
            self._at = arithmetic.end()
            self.commands.append(SimpleCommand((arithmetic[0][3:-2].casefold(),), frozenset()))
            return _UNKNOWN
        if following == "(":
            self._at += 2
            self._read_nested()
            return _UNKNOWN
        if following == "{":
            return self._read_parameter()
        if following == "'" and not is_quoted:
            return self._read_ansi()
        if following == '"' and not is_quoted:
            self._at += 2
            return self._read_double_quoted()
        name = _NAME.match(text, self._at + 1)
        self._at = name.end() if name else self._at + 1
        return _UNKNOWN if name else "$"

    def _read_parameter(self) -> str:
        """`${…}`."""
        self._at += 2
        if self._text[self._at : self._at + 1] in (" ", "\t", "\n", "|"):
            raise _UnreadableCommand  # newer shells run what is in it
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter == "}":
                self._at += 1
                return _UNKNOWN
            if letter == "$":
                self._read_dollar(is_quoted=True)
            elif letter == "`":
                self._read_backticks()
            elif letter in "\"'\\":
                break  # quotes in it follow other rules within double quotes
            else:
                self._at += 1
        raise _UnreadableCommand

    def _read_ansi(self) -> str:
        """`$'…'`."""
        end = self._text.find("'", self._at + 2)
        inner = self._text[self._at + 2 : end]
        if end < 0 or "\\" in inner:
            raise _UnreadableCommand
        self._at = end + 1
        return inner

    def _read_backticks(self) -> str:
        end = self._text.find("`", self._at + 1)
        inner = self._text[self._at + 1 : end]
        if end < 0 or "\\" in inner:
            raise _UnreadableCommand
        reader = _Reader(inner, self._depth + 1)
        reader.read_list("")
        self.commands += reader.commands
        self.texts += reader.texts
        self._at = end + 1
        return _UNKNOWN


def _read_xargs(command: SimpleCommand) -> SimpleCommand:
    """`xargs` as the command that it runs, with unknown words behind it."""
    words = command.words
    at = next((n for n, word in enumerate(words) if word.rpartition("/")[2] in ("xargs", "gxargs")), -1)
    if at < 0:
        return command
    number = at + 1
    while number < len(words) and words[number][:1] == "-" and len(words[number]) > 1:
        option = words[number]
        takes_next = len(option) == 2 and option[1] in _XARGS_VALUED.lower()
        if (
            option[:2] == "--"
            and "=" not in option
            and option not in ("--null", "--no-run-if-empty", "--verbose")
        ):
            takes_next = True
        number += 2 if takes_next else 1
    if number >= len(words):
        return SimpleCommand((*words[:at], _UNKNOWN), frozenset())
    replaced = tuple(_UNKNOWN if "{}" in word or "%" in word else word for word in words[number:])
    quoted = frozenset(n - number + at for n in command.quoted if n >= number)
    return SimpleCommand((*words[:at], *replaced, _UNKNOWN), quoted)
