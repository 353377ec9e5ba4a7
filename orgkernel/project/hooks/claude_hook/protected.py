"""The files that decide what agents may do: settings, agents, documents, the store and the hook. No tool changes them.

A call is refused if it names such a file, as it is written or where a link leads, in any letter case. Each word
of a command is checked as a name, without its quotes and with its braces expanded. Commands that only read are
not checked, unless a shell runs their output. A command can build a name that is not in its words, so
for a role that may run any command this is a guard against accidents, and not a boundary.
"""

from __future__ import annotations

import os
import sys

from orgkernel.project.hooks.claude_hook.activated import ActiveOrganization, NotUnderstood
from orgkernel.project.hooks.claude_hook.operating import find_operator_command
from orgkernel.project.hooks.claude_hook.prefixes import does_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Final

SETTINGS: Final = (".claude/settings.json", ".claude/settings.local.json")
ALWAYS: Final = (".orgkernel", *SETTINGS)
"""Relative to the project."""
COMMAND_TOOLS: Final = frozenset({"Bash", "PowerShell", "Monitor"})
# Programs that remove or replace everything below a folder that they name.
_MOVERS: Final = frozenset(
    {"rm", "mv", "rmdir", "unlink", "shred", "chmod", "chown", "ln", "cp", "rsync", "install", "Remove-Item", "Move-Item"}
)  # fmt: skip
_REMOVERS: Final = frozenset({"rm", "rmdir", "shred", "Remove-Item"})
"""Programs that remove a folder with everything in it, so a folder above the project is protected from them."""
_RUNNERS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "pwsh", "at", "batch", "socat"})
"""Programs that run what they read, or open what a part of a word names."""
_HOOKS: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
"""The folder of the running hook. An activation that was made on another machine names another folder."""
_LIBRARY: Final = os.path.dirname(os.path.realpath(os.__file__))
_WRITERS: Final = frozenset(
    {
        *_MOVERS,
        "tee",
        "dd",
        "truncate",
        "sed",
        "perl",
        "find",
        "patch",
        "touch",
        "tar",
        "unzip",
        "curl",
        "wget",
    }
)
"""Programs that can replace a program that they name. Others run it."""
_DOCUMENTS: Final = (".yaml", ".yml", ".md", ".json")
_PROGRAM: Final = "/bin/orgkernel"
"""The end of the path of the program that starts the hook if its own interpreter is missing."""
_MAX_EXPANSIONS: Final = 64
_MAX_WORDS: Final = 100_000
_COMMAND_ORDER: Final = ("command", "cmd", "argv", "args", "arguments")
_COMMAND_KEYS: Final = frozenset({"command", "cmd", "code", "script", "shell", "args", "arguments", "argv"})
_SEPARATORS: Final = str.maketrans(dict.fromkeys("<>()=,{}`", " "))
_OWN_SEPARATORS: Final = str.maketrans(dict.fromkeys("<>(),{}`[]", " "))
_MAX_LENGTH: Final = 4096
_MAX_DEPTH: Final = 8


def find_protected(
    active: ActiveOrganization,
    tool: str,
    call: dict[str, Any],
    given: dict[str, Any],
    path_arguments: tuple[str, ...],
    rights: Sequence[Sequence[str]] = (),
) -> str:
    """The protected file or command that a call names; empty if it names none.

    Without known `path_arguments`, every argument can be a path. `rights` are beginnings of commands of an operator that the role may use.
    """
    if tool in active.data.get("reading_tools", ()):
        return ""
    cwd = call.get("cwd")
    guard = _Guard(active, cwd if isinstance(cwd, str) and os.path.isabs(cwd) else active.project, rights)
    named = {each: given[each] for each in path_arguments if each in given} if path_arguments else given
    for key, text in _list_texts(named, "", 0):
        is_command = tool in COMMAND_TOOLS or key in _COMMAND_KEYS
        if (is_command and guard.find_in_command(text)) or (
            not is_command and (guard.is_protected(text) or guard.is_interpreter(text))
        ):
            return guard.named
    return ""


def _list_texts(value: Any, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """The strings of the arguments, each with the name of its argument."""
    if isinstance(value, str):
        yield key, value
    elif depth < _MAX_DEPTH and isinstance(value, dict):
        for name, each in value.items():
            yield from _list_texts(each, name, depth + 1)
        # A program and its words can be in different arguments. Neither alone would be recognized as a
        # command.
        if words := [each for name in _COMMAND_ORDER for each in _list_words(value.get(name))]:
            yield _COMMAND_ORDER[0], " ".join(words)
    elif depth < _MAX_DEPTH and isinstance(value, list):
        for each in value:
            yield from _list_texts(each, key, depth + 1)


def _list_words(value: object) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [each for each in value if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )


class _Guard:
    """The protected files of a project, and the names of a call."""

    def __init__(self, active: ActiveOrganization, cwd: str, rights: Sequence[Sequence[str]]) -> None:
        self.named = ""
        self._data, self._rights = active.data, rights
        self._cwd, self._real_cwd = cwd, os.path.realpath(cwd)
        self._programs = {
            name: row["writing"] for row in active.data.get("programs", ()) for name in row["names"]
        }
        self._tops = {_fold(os.path.normpath(active.project)), _fold(os.path.realpath(active.project))}
        # Commands name the interpreter of the hook to run other programs, so it is protected only from
        # programs that could replace it.
        self._interpreters = {_fold(each) for each in _list_links(sys.executable)}
        self._interpreter_folders = {os.path.dirname(each) for each in self._interpreters}
        # Python reads `pyvenv.cfg` next to its program or one folder above. This file can name another
        # library.
        libraries = [_LIBRARY, *(os.path.join(each, "pyvenv.cfg") for each in _list_above(sys.executable))]
        listed = (*ALWAYS, _HOOKS, *libraries[:3], *active.data.get("protected", ()))
        self._folders = {_fold(os.path.normpath(each)) for each in active.data.get("document_folders", ())}
        self._files = {_fold(os.path.normpath(os.path.expanduser(each))) for each in listed}
        inside = [each for each in self._files if not os.path.isabs(each)]
        self._above = {above for each in inside for above in _list_above(each)}
        outside = (each for each in (*self._files, *self._interpreters, *self._tops) if os.path.isabs(each))
        self._above_all = {*self._tops, *(above for each in outside for above in _list_above(each))}
        self._commands = [tuple(each) for each in active.data.get("protected_commands", ())]
        self._variables = {"PWD": cwd, "CLAUDE_PROJECT_DIR": active.project, "HOME": os.path.expanduser("~")}
        # Visible folders above a protected file, such as the project itself, are named in almost every call.
        self._hidden_above = {each for each in self._above if each.startswith(".")}

    def is_protected(self, text: str, *, with_content: bool = False, is_removed: bool = False) -> bool:
        """Whether a text names a protected file or something in a protected folder.

        A folder that contains protected files is protected if its name begins with a dot or if `with_content` is
        true. If `is_removed` is true, the folder of the project and those above it are protected too.
        """
        if not text or len(text) > _MAX_LENGTH or "\0" in text or "\n" in text:
            return False
        path = text.removeprefix("file://")
        whole = os.path.join(self._cwd, os.path.expanduser(path))
        # As written and as resolved: a link can lead into a protected folder, and a protected name can be a link.
        for end in {_fold(os.path.normpath(whole)), _fold(self._resolve(path, whole))}:
            if is_removed and end in self._above_all:
                self.named = text
                return True
            for name in self._list_names(end):
                above = self._above if with_content else self._hidden_above
                if name in above or not self._files.isdisjoint((name, *_list_above(name))):
                    self.named = text
                    return True
                if (name.endswith(_DOCUMENTS) and os.path.dirname(name) in self._folders) or name.endswith(
                    _PROGRAM
                ):
                    self.named = text
                    return True
        return False

    def is_interpreter(self, text: str) -> bool:
        """Whether a text names the program that runs the hook. A program in its place could answer all calls."""
        if not text or len(text) > _MAX_LENGTH or "\0" in text or "\n" in text:
            return False
        whole = os.path.join(self._cwd, os.path.expanduser(text.removeprefix("file://")))
        if self._interpreters.isdisjoint((_fold(os.path.normpath(whole)), _fold(os.path.realpath(whole)))):
            return False
        self.named = text
        return True

    def _does_replace_interpreter(self, part: str, words: Sequence[str]) -> bool:
        """Whether a simple command could write the program that runs the hook, or write another program into its
        folder.
        """
        targets = [each.split()[0] for each in part.split(">")[1:] if each.split()]
        if any(os.path.basename(each) in _WRITERS for each in words):
            targets += words
            for word in words:
                if "/" in word and len(word) <= _MAX_LENGTH:
                    whole = os.path.join(self._cwd, os.path.expanduser(word))
                    if not self._interpreter_folders.isdisjoint(
                        (_fold(os.path.normpath(whole)), _fold(os.path.realpath(whole)))
                    ):
                        self.named = word
                        return True
        return any(map(self.is_interpreter, targets))

    def _resolve(self, path: str, whole: str) -> str:
        """Where a path leads. For a plain name, only the name itself can be a link that is not resolved yet."""
        if "/" in path or path[:1] in (".", "~") or os.path.islink(whole):
            return os.path.realpath(whole)
        return os.path.join(self._real_cwd, path)

    def _list_names(self, end: str) -> Iterator[str]:
        """A path as it is, and relative to the project if it is inside."""
        yield end
        for top in self._tops:
            if end.startswith(top + "/"):
                yield end[len(top) + 1 :]

    def find_in_command(self, command: str) -> bool:
        """Whether a command that does not only read names a protected file.

        It is read as it is written, and with the values of variables, which the command can also set itself.
        """
        # Three readings, because a name can be hidden in a variable, in `$'…'`, or by quotes that leave an empty word.
        readings = dict.fromkeys(
            (command, self._replace_variables(_decode_dollar_quotes(command)), _keep_empty_words(command))
        )
        return any(map(self._find_in_reading, readings))

    def _find_in_reading(self, command: str) -> bool:
        runs_output = _does_run_text(command) or "$(" in command or "`" in command
        if sum(map(command.count, " \t\n;|&{")) > _MAX_WORDS:
            # Checking each word would take longer than hosts wait for the hook.
            raise NotUnderstood(f"the command has more than {_MAX_WORDS:,} words")
        plain = (
            command.replace("'", "")
            .replace('"', "")
            .replace("\\\n", " ")
            .replace("\\", "")
            .replace(">|", ">")
        )
        lower = plain.lower()
        may_operate = (
            "orgkernel" in lower or "config" in lower or any(each in plain for each, _ in self._commands)
        )
        for part in plain.replace(";", "\n").replace("|", "\n").replace("&", "\n").split("\n"):
            words = part.translate(_SEPARATORS).split()
            if not words:
                continue
            words += [
                each
                for word in part.split()
                if "{" in word and len(word) <= _MAX_LENGTH
                for each in _expand_braces(word)
            ]
            program = os.path.basename(words[0])
            own_words: list[str] = []
            if may_operate:
                # Without `=`, which `git -c NAME=VALUE` needs, and with brackets, which separate the words of a list in a script.
                own_words = part.translate(_OWN_SEPARATORS).split()[len(_list_assignments(part)) :]
                if named := find_operator_command(own_words, self._data, self._rights, is_first_only=True):
                    self.named = named
                    return True
            # A program that only reads can still write through a redirection, or feed a shell.
            if not runs_output and ">" not in part and self._does_only_read(program, words):
                continue
            if own_words and (named := self._find_changing_command(own_words)):
                self.named = named
                return True
            if self._does_replace_interpreter(part, words):
                return True
            is_removed = not _REMOVERS.isdisjoint(os.path.basename(each) for each in words)
            for word in dict.fromkeys(words):
                if self._is_word_protected(word, is_moved=program in _MOVERS, is_removed=is_removed):
                    return True
        return False

    def _find_changing_command(self, words: list[str]) -> str:
        """A command that changes what decides without naming a file, such as `orgkernel host deactivate`, or an empty string."""
        for number, word in enumerate(words):
            program = os.path.basename(word)
            group = next((each for each in words[number + 1 : number + 20] if each[:1] != "-"), "")
            if (program, group) in self._commands:
                return f"{program} {group}"
        return find_operator_command(words, self._data, self._rights)

    def _replace_variables(self, command: str) -> str:
        """A command with the values of the variables whose values are known."""
        if "$" not in command:
            return command
        import re

        own = dict(re.findall(r"(?:^|[\s;&|(])(\w+)=([^\s;&|()]+)", command[:_MAX_LENGTH]))
        values = {**own, **self._variables}
        return re.sub(
            r"\$(?:(\w+)|\{(\w+)\})", lambda match: values.get(match[1] or match[2], match[0]), command
        )

    def _does_only_read(self, program: str, words: list[str]) -> bool:
        """Whether a program changes no file that its words name."""
        for name, rest in ((" ".join([program, *words[1:2]]), words[2:]), (program, words[1:])):
            if name in self._programs:
                return not does_write(rest, self._programs[name])
        return False

    def _is_word_protected(self, word: str, *, is_moved: bool, is_removed: bool) -> bool:
        for text in _list_readings(word):
            start = min((text.find(sign) for sign in "*?[$" if sign in text), default=-1)
            if start < 0:
                if self.is_protected(text, with_content=is_moved or is_removed, is_removed=is_removed):
                    return True
            elif (is_removed and self._does_name_everything(text)) or self._can_stand_for_protected(
                text[:start]
            ):
                self.named = word
                return True
        return False

    def _does_name_everything(self, text: str) -> bool:
        """Whether a word with wildcards names all files of a folder with protected ones, as `*` and `../*` do."""
        folder, name = os.path.split(text)
        return name in ("*", "**") and self.is_protected(
            folder or os.curdir, with_content=True, is_removed=True
        )

    def _can_stand_for_protected(self, beginning: str) -> bool:
        """Whether a word with wildcards can stand for a hidden protected file, by the text before the first of them."""
        folder, name = os.path.split(beginning)
        whole = _fold(os.path.normpath(os.path.join(self._cwd, os.path.expanduser(folder))))
        if folder and self.is_protected(folder):
            return True
        if not name.startswith("."):
            return False
        return any(
            top == whole
            and any(
                each.startswith(_fold(name))
                for each in (*self._hidden_above, *self._files)
                if each[:1] == "."
            )
            for top in self._tops
        )


def _does_run_text(command: str) -> bool:
    """Whether a part of a command runs what another part prints, as in `echo … | sh` and `at now <<< …`."""
    if "|" not in command and "<" not in command and "socat" not in command:
        return False
    parts = command.replace(";", "\n").replace("|", "\n").replace("&", "\n").split("\n")
    return any(os.path.basename(words[0]) in _RUNNERS for part in parts if (words := part.split()))


def _decode_dollar_quotes(command: str) -> str:
    r"""A command in which `$'…'` is decoded as bash does it, such as `$'\x2egit'`."""
    if "$'" not in command:
        return command
    import re

    def decode(match: re.Match[str]) -> str:
        try:
            return match[1].encode("latin-1", "backslashreplace").decode("unicode_escape")
        except ValueError:
            return match[1]

    return re.sub(r"\$'((?:[^'\\]|\\.)*)'", decode, command)


def _list_assignments(part: str) -> list[str]:
    """The assignments before the program of a simple command."""
    assignments: list[str] = []
    for word in part.split():
        if not word.partition("=")[0].isidentifier() or "=" not in word:
            break
        assignments.append(word)
    return assignments


def _keep_empty_words(command: str) -> str:
    """A command with a word in place of each empty one, which would be lost with its quotes."""
    words = command.split(" ")
    return " ".join("^" if each in ("''", '""') else each for each in words)


def _expand_braces(word: str) -> list[str]:
    """The words that bash makes of one with braces: `a{b,c}` is `ab` and `ac`."""
    words = [word]
    for _ in range(_MAX_DEPTH):
        expanded: list[str] = []
        for each in words:
            close = each.find("}")
            begin = each.rfind("{", 0, close) if close >= 0 else -1
            if begin < 0:
                expanded.append(each)
            else:
                expanded += [
                    f"{each[:begin]}{part}{each[close + 1 :]}" for part in each[begin + 1 : close].split(",")
                ]
        if expanded == words or len(expanded) > _MAX_EXPANSIONS:
            break
        words = expanded
    return words


def _list_readings(word: str) -> Iterator[str]:
    """What a word can name: itself, and what is behind a colon or the letter of an option."""
    yield word
    if word.startswith("-") and len(word) > 2 and not word.startswith("--"):
        yield word[2:]
    if ":" in word:
        yield from (each for each in word.split(":") if each)
    if word.startswith("@"):
        yield word[1:]


def _list_above(name: str) -> Iterator[str]:
    """The folders above a name."""
    above = os.path.dirname(name)
    while above and above != name:
        yield above
        name, above = above, os.path.dirname(above)


def _list_links(path: str) -> Iterator[str]:
    """A path, and where each link leads that it begins with."""
    for _ in range(_MAX_DEPTH):
        yield os.path.normpath(path)
        yield os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))


def _fold(path: str) -> str:
    """A path as file systems compare it that ignore case and characters without a width."""
    path = path.replace(os.sep, "/")
    if not path.isascii():
        from unicodedata import category, normalize

        path = "".join(each for each in normalize("NFKC", path) if category(each) != "Cf")
    return path.casefold()
