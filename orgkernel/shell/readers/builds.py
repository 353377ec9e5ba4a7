"""Programs that build, test, lint, format and read. They are harmless, except for some of their commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.marks import UNKNOWN
from orgkernel.shell.reader import Program, ProgramCall

_DEBUGGER_SHELLS: Final = lazy_pattern(r"\s*(!|shell|platform shell|python|script|source)")


def _debugger(call: ProgramCall) -> str | None:
    """`gdb -ex COMMAND --args PROGRAM`."""
    for option, command in pairwise(call.args):
        if option.text in ("-ex", "--eval-command", "-o", "--one-line") and _DEBUGGER_SHELLS.match(
            command.text
        ):
            call.unread("cannot determine what this command of the debugger runs", command)
        elif option.text in ("-x", "--command", "-s", "-S", "--source", "-ix", "-iex"):
            call.unread("cannot determine what this script of the debugger does", command)
        elif option.text == "--args":
            break
    return UNKNOWN


def _editor(call: ProgramCall) -> str | None:
    """`vim -c COMMAND`: an editor that runs commands."""
    for number, word in enumerate(call.args):
        text = word.text
        command = text[1:] if text[:1] == "+" else ""
        if re.fullmatch(r"-[eEsnRX]+c", text) and number + 1 < len(call.args):
            command = call.args[number + 1].text
        if text in (
            "-c",
            "--cmd",
            "-S",
            "-s",
            "--eval",
            "-l",
            "--load",
            "--script",
            "-u",
            "--luafile",
        ) and number + 1 < len(call.args):
            command = call.args[number + 1].text
        if command and not re.fullmatch(r":?(\d+|/\w+|wq?!?|qa?!?|set \w+|syntax on)", command):
            call.unread("cannot determine what this command of the editor does", word)
    if (call.stdin or "").strip():
        call.unread("cannot determine what these commands of the editor do")
    return UNKNOWN


def _unknown(call: ProgramCall) -> str | None:
    if [word.text for word in call.args] not in (["--version"], ["--help"], ["-V"], ["version"], ["help"]):
        call.unread(f"unknown program {quote(call.name)}")
    return UNKNOWN


READERS: Final[Mapping[str, Program]] = {
    "?": _unknown,
    "editor": _editor,
    "debugger": _debugger,
}
