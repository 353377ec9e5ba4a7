"""Programs whose output or effect on the shell matters for later commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.marks import GLOB, HOME, MANY, PLAIN, ROOT, UNKNOWN
from orgkernel.shell.options import read_options
from orgkernel.shell.ownership import join
from orgkernel.shell.reader import Program, ProgramCall

_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "0": "\0", "a": "", "b": "", "e": "\x1b"}


def _unescape(text: str) -> str:
    def decode(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x":
            return chr(int(code[1:], 16)) if len(code) > 1 else "\\x"
        if code[0].isdigit() and len(code) > 1:
            return chr(int(code, 8)) if int(code, 8) < 0x110000 else UNKNOWN
        return _ESCAPED.get(code, "\\" + code)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)", decode, text)


def _echo(call: ProgramCall) -> str:
    words = [word.text for word in call.args]
    while words and re.fullmatch(r"-[neE]+", words[0]):
        words.pop(0)
    text = " ".join(words)
    return (_unescape(text) if "\\" in text else text) + "\n"


def _printf(call: ProgramCall) -> str:
    args = [word.text for word in call.args]
    if args[:1] == ["-v"] and len(args) > 2:
        call.reader.variables[args[1]] = UNKNOWN
        return ""
    if not args:
        return ""
    pattern, values = _unescape(args[0]), args[1:]
    wanted = sum(match[1] != "%" for match in _DIRECTIVE_PATTERN.finditer(pattern))
    printed, at = [], 0
    while True:
        printed.append(_fill_directives(pattern, values[at : at + wanted]))
        at += wanted
        if at >= len(values) or not wanted or len(printed) > 200:
            return "".join(printed)


_DIRECTIVE_PATTERN: Final = lazy_pattern(r"%[-+ #0]*\d*(?:\.\d+)?([a-zA-Z%])")


def _fill_directives(pattern: str, values: list[str]) -> str:
    waiting = iter(values)

    def fill(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        value = next(waiting, "")
        return _unescape(value) if match[1] == "b" else value

    return _DIRECTIVE_PATTERN.sub(fill, pattern)


def _cat(call: ProgramCall) -> str:
    files = [word for word in read_options(call.args).operands if word.text != "-"]
    if not files:
        return call.stdin or ""
    return "".join(call.reader.read_file(word.text) for word in files)


def _grep(call: ProgramCall) -> str:
    options = read_options(
        call.args,
        valued="efmABCd",
        long_valued=("regexp", "file", "include", "exclude", "exclude-dir", "max-count", "context"),
    )
    names = options.has("l", "L", "files-with-matches", "files-without-match")
    has_pattern = options.has("e", "f", "regexp", "file")
    files = options.operands if has_pattern else options.operands[1:]
    if call.stdin is not None and not files:
        # Any line could match, so what follows in the pipe is checked with all of them.
        return call.stdin
    if names:
        # File names that match are unknown, but they are below the searched folders, and their owner is decided by that.
        return "".join(f"{word.text.rstrip('/')}/x{GLOB}\n" for word in files) or f"x{GLOB}\n"
    return UNKNOWN


def _cd(call: ProgramCall) -> str:
    reader = call.reader
    operands = [word for word in call.args if word.text not in ("-P", "-L", "--", "-e")]
    if not operands:
        reader.folder = HOME
    elif operands[0].text == "-" or operands[0].text[:1] in (MANY, UNKNOWN):
        reader.folder = UNKNOWN
    else:
        path = operands[0].text
        # ROOT marks the folder in which the command began, which a relative path already starts from.
        if path[:1] == ROOT:
            reader.folder = path[1:].lstrip("/")
        else:
            reader.folder = join(reader.folder, path)
    if len(reader.folder) > 2000:
        reader.folder = UNKNOWN
    return ""


def _popd(call: ProgramCall) -> str:
    # The stack of folders is not followed.
    call.reader.folder = UNKNOWN
    return ""


def _pwd(call: ProgramCall) -> str:
    return call.reader.here() + "\n"


def _read(call: ProgramCall) -> str:
    options = read_options(call.args, valued="adinNptu")
    for word in [*options.operands, *options.all_values("a")]:
        text = (call.stdin or UNKNOWN).strip("\n")
        is_one = "\n" not in text and " " not in text
        call.reader.variables[word.text] = text if is_one and len(options.operands) == 1 else UNKNOWN
    if not options.operands:
        call.reader.variables["REPLY"] = UNKNOWN
    return ""


def _mapfile(call: ProgramCall) -> str:
    for word in read_options(call.args, valued="dnOsuCc").operands or ():
        call.reader.variables[word.text] = MANY
    if read_options(call.args, valued="dnOsuCc").has("C"):
        call.unread("cannot determine what this option runs")
    return ""


def _set(call: ProgramCall) -> str:
    words = list(call.args)
    if [word.text for word in words[:2]] == ["+o", "history"]:
        call.unread("cannot determine whether the record of commands is still needed")
    for number, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*e[a-zA-Z]*", word.text) or (
            word.text == "errexit" and number and words[number - 1].text == "-o"
        ):
            call.reader.ends_on_failure = True
        elif re.fullmatch(r"\+[a-zA-Z]*e[a-zA-Z]*", word.text) or word.text == "errexit":
            call.reader.ends_on_failure = False
    if words and words[0].text == "--":
        for number, word in enumerate(words[1:], 1):
            call.reader.variables[str(number)] = word.text
    return ""


def _shift(call: ProgramCall) -> str:
    # How often a loop shifts is unknown, so no position is certain afterward.
    for name in [name for name in call.reader.variables if name.isdigit() or name in "@*"]:
        call.reader.variables[name] = UNKNOWN
    return ""


def _getopts(call: ProgramCall) -> str:
    for word in call.args[1:2]:
        call.reader.variables[word.text] = PLAIN
    call.reader.variables["OPTARG"] = UNKNOWN
    return ""


def _basename(call: ProgramCall) -> str:
    if call.args and call.args[0].is_known:
        name = call.args[0].text.rstrip("/").rsplit("/", 1)[-1]
        if len(call.args) > 1 and call.args[1].is_known:
            name = name.removesuffix(call.args[1].text)
        return name + "\n"
    return PLAIN + "\n"


def _dirname(call: ProgramCall) -> str:
    if call.args and call.args[0].is_known:
        return (
            call.args[0].text.rpartition("/")[0] or ("/" if call.args[0].text.startswith("/") else ".")
        ) + "\n"
    return UNKNOWN + "\n"


def _realpath(call: ProgramCall) -> str:
    operands = read_options(call.args).operands
    if len(operands) == 1 and operands[0].is_known and not operands[0].text.startswith("/"):
        return f"{call.reader.here()}/{operands[0].text}\n"
    return (operands[0].text if operands else UNKNOWN) + "\n"


def _yes(call: ProgramCall) -> str:
    return " ".join(word.text for word in call.args) + "\n" if call.args else "y\n"


READERS: Final[Mapping[str, Program]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "grep": _grep,
    "cd": _cd,
    "popd": _popd,
    "pwd": _pwd,
    "read": _read,
    "mapfile": _mapfile,
    "set": _set,
    "shift": _shift,
    "getopts": _getopts,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "yes": _yes,
}
