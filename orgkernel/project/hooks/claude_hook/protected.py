"""The files that decide what agents may do: settings, agents, documents, the store and the hook. No tool changes them.

A call is refused if it names such a file, as it is written or where a link leads, in any letter case. Each word
of a command is checked as a name, without its quotes, with its braces and wildcards expanded, in every folder that
the command changes to. Commands that only read are not checked, unless a shell runs their output. A command can
build a name that is not in its words, so for a role that may run any command this is a guard against accidents,
and not a boundary.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

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
_MAX_FOLDERS: Final = 64
_MAX_JOINED: Final = 8
"""The strings of an object that are also compared in pairs, as a folder and a name in it."""
_CHANGES_FOLDER: Final = frozenset({"cd", "pushd", "chdir", "Set-Location"})
_FOLDER_OPTIONS: Final = frozenset({"-C", "--directory", "--chdir"})
_FIND_PATTERNS: Final = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})
_WILDCARDS: Final = frozenset("*?[")
_COMMAND_ORDER: Final = ("command", "cmd", "argv", "args", "arguments")
_COMMAND_KEYS: Final = frozenset({"command", "cmd", "code", "script", "shell", "args", "arguments", "argv"})
_SEPARATORS: Final = str.maketrans(dict.fromkeys("<>()=,{}`", " "))
_OWN_SEPARATORS: Final = str.maketrans(dict.fromkeys("<>(),{}`[]", " "))
_MAX_LENGTH: Final = 4096
_MAX_DEPTH: Final = 8
_MAX_ARGUMENT_DEPTH: Final = 64


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
    for number, (key, text) in enumerate(_list_texts(named, "", 0), 1):
        if number > _MAX_WORDS:
            raise NotUnderstood(f"it has more than {_MAX_WORDS:,} arguments")
        is_command = tool in COMMAND_TOOLS or key in _COMMAND_KEYS
        if (is_command and guard.find_in_command(text)) or (
            not is_command and (guard.is_protected(text) or guard.is_interpreter(text))
        ):
            return guard.named
    return ""


def _list_texts(value: Any, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """The strings of the arguments, each with the name of its argument."""
    if depth > _MAX_ARGUMENT_DEPTH:
        raise NotUnderstood(f"its arguments have more than {_MAX_ARGUMENT_DEPTH} levels")
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, each in value.items():
            # Below the arguments themselves, the names in an object can be those of files.
            if depth:
                yield "", name
            yield from _list_texts(each, name, depth + 1)
        yield from _join_pairs(value)
        # A program and its words can be in different arguments. Neither alone would be recognized as a
        # command.
        if words := [each for name in _COMMAND_ORDER for each in _list_words(value.get(name))]:
            yield _COMMAND_ORDER[0], " ".join(words)
    elif isinstance(value, list):
        for each in value:
            yield from _list_texts(each, key, depth + 1)


def _join_pairs(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The paths that a folder and a name in different arguments make."""
    texts = [each for each in given.values() if isinstance(each, str) and 0 < len(each) < _MAX_LENGTH]
    if len(texts) <= _MAX_JOINED:
        yield from (("", f"{one}/{other}") for one in texts for other in texts if one is not other)


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
        # The folder of the call, and those that its command changes to, each as written and as resolved.
        self._cwds = {cwd: os.path.realpath(cwd)}
        self._project = active.project
        self._targets: dict[bool, list[list[str]]] = {}
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
        return any(
            self._is_path_protected(path, cwd, with_content=with_content, is_removed=is_removed)
            for path in _list_path_readings(text)
            for cwd in self._cwds
        )

    def _is_path_protected(self, text: str, cwd: str, *, with_content: bool, is_removed: bool) -> bool:
        whole = os.path.join(cwd, os.path.expanduser(text))
        # As written and as resolved: a link can lead into a protected folder, and a protected name can be a link.
        for end in {_fold(os.path.normpath(whole)), _fold(self._resolve(text, whole, cwd))}:
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
        for path in _list_path_readings(text):
            for cwd in self._cwds:
                whole = os.path.join(cwd, os.path.expanduser(path))
                ends = (_fold(os.path.normpath(whole)), _fold(os.path.realpath(whole)))
                if not self._interpreters.isdisjoint(ends):
                    self.named = text
                    return True
        return False

    def _does_replace_interpreter(self, part: str, words: Sequence[str]) -> bool:
        """Whether a simple command could write the program that runs the hook, or write another program into its
        folder.
        """
        targets = [each.split()[0] for each in part.split(">")[1:] if each.split()]
        if any(os.path.basename(each) in _WRITERS for each in words):
            targets += words
            for word in words:
                if "/" in word and len(word) <= _MAX_LENGTH:
                    whole = os.path.join(next(iter(self._cwds)), os.path.expanduser(word))
                    if not self._interpreter_folders.isdisjoint(
                        (_fold(os.path.normpath(whole)), _fold(os.path.realpath(whole)))
                    ):
                        self.named = word
                        return True
        return any(map(self.is_interpreter, targets))

    def _resolve(self, path: str, whole: str, cwd: str) -> str:
        """Where a path leads. For a plain name, only the name itself can be a link that is not resolved yet."""
        if "/" in path or path[:1] in (".", "~") or os.path.islink(whole):
            return os.path.realpath(whole)
        return os.path.join(self._cwds[cwd], path)

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
            command.replace("'", "").replace('"', "").replace("\\\n", "").replace("\\", "").replace(">|", ">")
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
            self._follow_folders(program, words)
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
            if "-delete" in words:
                patterns = [each for name, each in pairwise(words) if name in _FIND_PATTERNS]
                if any(map(self._can_find_protected, patterns)):
                    return True
                is_removed = is_removed or not patterns
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
            elif (
                (is_removed and self._does_name_everything(text))
                or self._can_stand_for_protected(text[:start])
                or self._does_match_protected(text, with_content=is_removed)
            ):
                self.named = word
                return True
        return False

    def _follow_folders(self, program: str, words: list[str]) -> None:
        """Add the folders that a simple command changes to. Names are then read in each of them, because a change can fail."""
        operands = (each for each in words[1:] if not each.startswith("-"))
        folders = [next(operands, "~")] if program in _CHANGES_FOLDER else []
        for word, after in zip(words, [*words[1:], ""], strict=True):
            if word in _FOLDER_OPTIONS:
                folders.append(after)
            elif word.startswith("-C"):
                folders.append(word[2:])
        for folder in folders:
            for cwd in tuple(self._cwds):
                below = os.path.normpath(os.path.join(cwd, os.path.expanduser(folder)))
                if "\0" not in below and os.path.isdir(below):
                    self._cwds.setdefault(below, os.path.realpath(below))
            if len(self._cwds) > _MAX_FOLDERS:
                raise NotUnderstood(f"the command changes to more than {_MAX_FOLDERS} folders")

    def _list_protected(self, *, with_content: bool) -> list[list[str]]:
        """The protected files and folders, and the folders with some of them, as lists of the names in their absolute paths."""
        if with_content not in self._targets:
            folders = self._data.get("document_folders", ())
            documents = (
                _fold(os.path.normpath(os.path.join(folder, name)))
                for folder in folders
                for name in _list_documents(os.path.join(self._project, folder))
            )
            names = dict.fromkeys((*self._files, *documents, *(self._above if with_content else ())))
            self._targets[with_content] = [
                os.path.join(top, each).split("/") for each in names for top in self._tops
            ]
        return self._targets[with_content]

    def _does_match_protected(self, pattern: str, *, with_content: bool) -> bool:
        """Whether a word with wildcards stands for a protected file, or for something in a protected folder, as bash expands it."""
        if _WILDCARDS.isdisjoint(pattern) or len(pattern) > _MAX_LENGTH:
            return False
        names = self._list_protected(with_content=with_content)
        for cwd in self._cwds:
            whole = _fold(os.path.normpath(os.path.join(cwd, os.path.expanduser(pattern)))).split("/")
            # Several `**` in a row are one, and would take long to compare.
            parts = [
                each for each, before in zip(whole, ["", *whole], strict=False) if not each == before == "**"
            ]
            if any(_does_expand_to(parts, name) for name in names):
                return True
        return False

    def _can_find_protected(self, pattern: str) -> bool:
        """Whether `find` with a pattern of names or paths finds a protected file."""
        from fnmatch import fnmatchcase

        pattern = _fold(pattern).replace("[^", "[!")
        for name in self._list_protected(with_content=True):
            if fnmatchcase("/".join(name) if "/" in pattern else name[-1], pattern):
                self.named = pattern
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
        ends = {
            _fold(os.path.normpath(os.path.join(each, os.path.expanduser(folder)))) for each in self._cwds
        }
        if folder and self.is_protected(folder):
            return True
        if not name.startswith("."):
            return False
        return any(
            top in ends
            and any(
                each.startswith(_fold(name))
                for each in (*self._hidden_above, *self._files)
                if each[:1] == "."
            )
            for top in self._tops
        )


def _list_path_readings(text: str) -> Iterator[str]:
    """The paths that a text can be for the program that gets it: without blanks around it, as a URI, with the separators of Windows."""
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        text = os.path.normpath(text)  # programs shorten a path before they open it
    if not text or len(text) > _MAX_LENGTH or "\0" in text or "\n" in text:
        return
    if text[:5].lower() == "file:":
        rest = text[5:]
        # Behind two slashes, the name of a host precedes the path.
        text = f"/{rest[2:].partition('/')[2]}" if rest.startswith("//") and rest[2:3] != "." else rest
    yield text
    if "\\" in text:
        yield text.replace("\\", "/")
    if "%" in text:
        from urllib.parse import unquote

        if "\0" not in (decoded := unquote(text)):
            yield decoded


def _does_expand_to(pattern: Sequence[str], name: Sequence[str]) -> bool:
    """Whether bash expands a pattern to a path or to something below it. Both are lists of names."""
    from fnmatch import fnmatchcase

    if not name:
        return True
    if not pattern:
        return False
    first = pattern[0].replace("[^", "[!")
    if first == "**" and (
        _does_expand_to(pattern[1:], name) or (name[0][:1] != "." and _does_expand_to(pattern, name[1:]))
    ):
        return True
    if first != name[0] and (
        _WILDCARDS.isdisjoint(first)
        or (name[0].startswith(".") and not first.startswith("."))
        or not fnmatchcase(name[0], first)
    ):
        return False
    return _does_expand_to(pattern[1:], name[1:])


def _list_documents(folder: str) -> list[str]:
    try:
        return [each for each in os.listdir(folder) if each.endswith(_DOCUMENTS)]
    except OSError:
        return []


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
