"""Programs that run another program: with other permissions, later, elsewhere, or once for each input line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import read_words
from orgkernel.shell.marks import MANY, UNKNOWN, ShellWord
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.ownership import join
from orgkernel.shell.reader import Program, ProgramCall


def _nice(call: ProgramCall) -> str | None:
    """`nice -n 5 PROGRAM`, and `nice -5 PROGRAM`."""
    args = call.args[1:] if call.args and re.fullmatch(r"-\d+", call.args[0].text) else call.args
    words = read_options(args, valued="n", long_valued=("adjustment",), first_operand_ends=True).operands
    return call.run(words, passes_status=True) if words else None


def _flock(call: ProgramCall) -> str | None:
    """`flock FILE PROGRAM`, and `flock FILE -c TEXT`."""
    options = read_options(call.args, valued="wE", long_valued=("timeout", "wait"), first_operand_ends=True)
    words = options.operands[1:]
    if options.has("c", "command") or (words and words[0].text in ("-c", "--command")):
        return call.script(words[-1], through="flock -c") if words else None
    return call.run(words) if words else None


def _sudo(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="ugprtCDRTUh",
        long_valued=("user", "group", "prompt", "chdir", "host", "other-user"),
        first_operand_ends=True,
    )
    if options.has("e", "edit"):
        return None
    words = list(options.operands)
    while words and re.match(r"\w+=", words[0].text):
        word = words.pop(0)
        name, _, value = word.text.partition("=")
        call.reader.follow_variable(name, word.but(value), (call.word, *call.args))
    if not words:
        if call.stdin and options.has("s", "i", "shell", "login"):
            return call.script(call.stdin)
        return None
    return _in_folder(call, options.value("D", "chdir"), words)


def _env(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="uCS", long_valued=("unset", "chdir", "split-string"), first_operand_ends=True
    )
    words = list(options.operands)
    for script in options.all_values("S", "split-string"):
        return call.script(
            script.but(" ".join([script.text, *(word.text for word in words)])), through="env -S"
        )
    while words and re.match(r"[\w.]+=", words[0].text):
        word = words.pop(0)
        name, _, value = word.text.partition("=")
        call.reader.follow_variable(name, word.but(value), (call.word, *call.args))
    if not words:
        return UNKNOWN
    return _in_folder(call, options.value("C", "chdir"), words)


def _in_folder(call: ProgramCall, folder: ShellWord | None, words: Sequence[ShellWord]) -> str | None:
    """A program in another directory."""
    if folder is None:
        return call.run(words, passes_status=True)
    before = call.reader.folder
    call.reader.folder = join(before, folder.text)
    try:
        return call.run(words, passes_status=True)
    finally:
        call.reader.folder = before


def _su(call: ProgramCall) -> str | None:
    options = read_options(call.args, valued="cgsw", long_valued=("command", "shell", "group"))
    script = options.value("c", "command")
    if script is not None:
        return call.script(script, through="su -c")
    if call.stdin:
        return call.script(call.stdin)
    return None


_SHELL_VALUED = ("rcfile", "init-file")


def _shell(call: ProgramCall) -> str | None:
    """`sh -c TEXT`, `bash FILE`, `… | sh`."""
    words = list(call.args)
    number, is_command, reads_stdin = 0, False, False
    while number < len(words) and words[number].text[:1] in ("-", "+") and words[number].text != "--":
        text = words[number].text
        number += 1
        if text.startswith("--"):
            if text.lstrip("-") in _SHELL_VALUED:
                if number < len(words):
                    run_file(call, words[number], ())
                number += 1
            elif text.startswith("--init-command="):
                call.script(words[number - 1].but(text.partition("=")[2]))
            continue
        is_command |= "c" in text[1:] and text[0] == "-"
        reads_stdin |= "s" in text[1:]
        if text[1:] in ("o", "O", "eo", "euo", "ceuo", "euxo") or (text[1:].endswith("o") and not is_command):
            number += 1
        # `-n` only checks the syntax, so nothing runs. In `-o noclobber` or `-euo` the letters belong to other options.
        if "n" in text[1:] and "o" not in text:
            return None
    if number < len(words) and words[number].text == "--":
        number += 1
    rest = words[number:]
    if is_command:
        if not rest:
            return None
        # `sh -c TEXT NAME ARG …`: the first word behind the script is `$0`, not an argument.
        return call.script(rest[0], through=f"{call.name} -c", args=rest[2:])
    if rest and not reads_stdin:
        if rest[0].is_open:
            call.unread("the script is not known until the command runs", rest[0])
            return None
        if rest[0].text in ("--version", "--help", "-"):
            return None
        return run_file(call, rest[0], rest[1:])
    if call.stdin is not None:
        return call.script(call.stdin, args=rest)
    return None


def run_file(call: ProgramCall, path: ShellWord, args: Sequence[ShellWord]) -> str | None:
    """A script in a file: read if the command wrote it, otherwise judged by its name."""
    if path.text == "/dev/stdin" and call.stdin is not None:
        return call.script(call.stdin)
    text = call.reader.read_file(path.text)
    if text != UNKNOWN or path.text.startswith("/dev/fd/"):
        return call.script(path.but(text), through=f"{call.name} {path.text}", args=args)
    judge_script(call, path)
    return None


def split_name(name: str) -> list[str]:
    """The words of a name: `build_docs.sh` contains build and docs."""
    stem = name.rsplit("/", 1)[-1]
    stem = re.sub(r"\.(sh|bash|zsh|py|js|mjs|cjs|ts|tsx|rb|pl|php|R|r|jl|lua|go|ps1|jar)$", "", stem)
    return [
        word for word in re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", stem).lower()) if word
    ]


def judge_script(call: ProgramCall, path: ShellWord) -> None:
    """A program of the project, judged only by its name."""
    words = split_name(path.text)
    if (
        path.is_known
        and not set(words) & read_words("risky_words")
        and set(words) & read_words("plain_words")
        and call.reader.owner(path.text) == "own"
    ):
        return
    call.unread("cannot determine what this script does", path)


_CHECKING: Final = frozenset(
    {"lint", "test", "tests", "build", "format", "check", "typecheck", "e2e", "unit"}
)
_SUBJECTS: Final = names_in(
    "mail email sms pay payment charge refund send notify prod production deploy publish kill force"
)


def judge_task(call: ProgramCall, name: ShellWord) -> None:
    """A task that a file of the project declares (`npm run NAME`, `make NAME`), judged only by its name."""
    if re.fullmatch(r"\d+|[A-Za-z_]\w*[:+?]?=.*", name.text):
        return
    if re.search(r"\.([cm]?[jt]sx?|py|sh)$", name.text):
        judge_script(call, name)
        return
    words = set(split_name(name.text.replace(":", " ")))
    risky = words & read_words("risky_words")
    if words & _CHECKING:
        # `build:prod` and `test:payment` name what is built and tested.
        risky -= _SUBJECTS
    if not words & {"db", "database", "data", "prod", "production", "volumes", "s3", "backup", "backups"}:
        risky -= {"clean", "cleanup"}
    if risky or not name.is_known:
        call.unread("cannot determine what this task does", name)


def _eval(call: ProgramCall) -> str | None:
    if not call.args:
        return None
    word = ShellWord(" ".join(each.text for each in call.args), call.args[0].start, call.args[-1].end)
    return call.script(word)


MAX_ITEMS: Final = 50
"""Maximum number of lines that are read one by one. Further ones are unknown."""


def _xargs(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="InLPsdEaJR", long_valued=("replace", "max-args", "max-lines", "max-procs", "max-chars", "delimiter", "arg-file"),
        first_operand_ends=True,
    )  # fmt: skip
    words = list(options.operands)
    text = call.reader.read_file(file.text) if (file := options.value("a", "arg-file")) else call.stdin
    at = options.operands[0] if options.operands else call.word
    items = _items(text, by_line=options.has("I", "replace", "L", "0", "null", "d"))
    if not words:
        return "".join(f"{item}\n" for item in items)
    place = options.value("I", "replace", "J")
    if place is None and "i" in options.flags:
        place = at.but("{}")
    printed = ""
    if place is not None and place.text:
        for item in [*items[:MAX_ITEMS], *([MANY] if len(items) > MAX_ITEMS else [])]:
            value = item if item != MANY else UNKNOWN
            printed += call.run([word.but(word.text.replace(place.text, value)) for word in words], stdin="")
        return printed
    return call.run([*words, *(at.but(item) for item in items)], stdin="")


def _items(text: str | None, *, by_line: bool) -> list[str]:
    if text is None:
        return [MANY]
    items = [item for item in re.split(r"[\n\0]+" if by_line else r"\s+|\0", text) if item]
    if len(items) > 500:
        return [MANY]
    return [MANY if item == UNKNOWN else item for item in items] or []


def _parallel(call: ProgramCall) -> str | None:
    words = [word for word in call.args if word.text not in ("-j", "--jobs")]
    options = read_options(
        call.args, valued="jIaN", long_valued=("jobs", "arg-file"), first_operand_ends=True
    )
    command = list(options.operands)
    given: list[str] = []
    for number, word in enumerate(command):
        if word.text in (":::", "::::", ":::+"):
            given = [each.text for each in command[number + 1 :]] if word.text == ":::" else [MANY]
            command = command[:number]
            break
    else:
        given = _items(call.stdin, by_line=True)
    if not command or not words:
        if call.stdin:
            return call.script(call.stdin)
        return None
    for item in [*given[:MAX_ITEMS], *([MANY] if len(given) > MAX_ITEMS else [])]:
        value = item if item != MANY else UNKNOWN
        replaced = [word.text.replace("{}", value) for word in command]
        text = " ".join(replaced if any("{}" in word.text for word in command) else [*replaced, value])
        call.script(command[0].but(text))
    return None


_RUNNING_SETTINGS: Final = lazy_pattern(
    r"\s*(proxycommand|(permit)?localcommand|knownhostscommand|pkcs11provider|securitykeyprovider|match|include"
    r"|xauthlocation|remotecommand)\b",
    re.IGNORECASE,
)


def _ssh(call: ProgramCall) -> str | None:
    options = read_options(call.args, valued="bcDEeFIiJLlmOopQRSWwB", first_operand_ends=True)
    for word in options.all_values("o"):
        if _RUNNING_SETTINGS.match(word.text):
            call.unread("cannot determine what this option runs", word)
    for word in options.all_values("F", "I"):
        if word.text not in ("none", "/dev/null"):
            call.unread("cannot determine what this file makes `ssh` run", word)
    words = read_options(
        options.operands[1:], valued="bcDEeFIiJLlmOopQRSWwB", first_operand_ends=True
    ).operands
    with call.reader.elsewhere():
        if words:
            text = " ".join(word.text for word in words)
            place = words[0] if len(words) == 1 else ShellWord(text, words[0].start, words[-1].end)
            return call.script(place.but(text))
        if call.stdin:
            return call.script(call.stdin)
    return None


def in_container(call: ProgramCall, words: Sequence[ShellWord], *, is_fresh: bool = False) -> str | None:
    """A program in a container. `is_fresh`: the container is new, and shares no files with others."""
    with call.reader.elsewhere(is_fresh=is_fresh):
        return call.run(words) if words else None


def _script_of_file(call: ProgramCall) -> str | None:
    """`source FILE`."""
    if not call.args:
        return None
    path = call.args[0]
    if path.text == "/dev/stdin" and call.stdin is not None:
        return call.script(call.stdin)
    text = call.reader.read_file(path.text)
    if text != UNKNOWN:
        return call.script(path.but(text), args=call.args[1:])
    name = path.text.rsplit("/", 1)[-1]
    if not (
        name.startswith(
            (
                ".env",
                "env",
                "activate",
                ".bashrc",
                ".profile",
                ".zshrc",
                "nvm.sh",
                "setup",
                "common",
                "lib",
                "venv",
            )
        )
    ):
        call.unread("cannot determine what this file does", path)
    return None


def _trap(call: ProgramCall) -> str | None:
    options = read_options(call.args)
    if len(options.operands) > 1 and options.operands[0].text not in ("", "-"):
        call.reader.traps.append(options.operands[0])
    return None


def _alias(call: ProgramCall) -> str | None:
    for word in call.args:
        name, equals, value = word.text.partition("=")
        if equals:
            call.reader.functions[name] = value
    return None


def _keys(call: ProgramCall) -> None:
    """`tmux send-keys`: texts of several words are typed into a shell."""
    for word in call.args:
        if " " in word.text:
            call.script(word)


READERS: Final[Mapping[str, Program]] = {
    "nice": _nice,
    "flock": _flock,
    "sudo": _sudo,
    "env": _env,
    "su": _su,
    "eval": _eval,
    "xargs": _xargs,
    "parallel": _parallel,
    "shell": _shell,
    "ssh": _ssh,
    "source": _script_of_file,
    "trap": _trap,
    "alias": _alias,
    "keys": _keys,
}
