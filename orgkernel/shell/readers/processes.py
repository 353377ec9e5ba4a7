"""Programs that end processes, and that run or stop services, timers and audit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import MANY, OWN_PROCESS, UNKNOWN, shown
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall

_KILLS: Final = frozenset({"9", "KILL", "SIGKILL"})
_ASKS: Final = names_in(
    """0 1 2 10 12 HUP SIGHUP INT SIGINT USR1 SIGUSR1 USR2 SIGUSR2 WINCH CONT SIGCONT SIGWINCH 18 28"""
)


def _signal(options_text: list[str]) -> str:
    """The signal of `kill` and its like, without `SIG`."""
    for number, text in enumerate(options_text):
        following = options_text[number + 1] if number + 1 < len(options_text) else ""
        if text in ("-s", "-n", "--signal"):
            return following.upper()
        match = re.fullmatch(r"(?:--signal=|-s|-n)([\w+]+)", text)
        if match and not text.startswith("-SIG"):
            return match[1].upper()
        match = re.fullmatch(r"-(\d+|[A-Z][A-Z0-9]+|SIG\w+)", text)
        if match:
            return match[1].upper()
    return "TERM"


def _kill(call: ProgramCall) -> str | None:
    texts = [word.text for word in call.args]
    if texts[:1] in (["-l"], ["-L"], ["--list"], ["--table"], ["--help"]):
        return UNKNOWN
    signal = _signal(texts[: texts.index("--")] if "--" in texts else texts)
    if "-1" in texts[1:] and signal != "0":
        call.found("force_kill", "ends every process there is")
        return None
    if signal in _ASKS:
        return None
    skips = {number + 1 for number, text in enumerate(texts) if text in ("-s", "-n", "--signal")}
    seen_signal = False
    for number, word in enumerate(call.args):
        text = word.text
        if number in skips or text == "--":
            continue
        if text.startswith("-") and not (
            re.fullmatch(r"-\d+", text) and (seen_signal or skips or "--" in texts[:number])
        ):
            seen_signal |= bool(re.fullmatch(r"-(\d+|[A-Z]\w*)", text))
            continue
        if text.startswith("%") or text == OWN_PROCESS:
            continue
        if signal in _KILLS:
            call.found(
                "force_kill",
                f"kills process {quote(shown(text))} by force, although the command did not start it",
                word,
            )
        elif text in ("1", "-1"):
            call.found("force_kill", "ends every process there is", word)
        elif MANY in text:
            call.unread("which processes this ends is not known until the command runs", word)
    return None


def _kill_by_name(call: ProgramCall) -> None:
    texts = [word.text for word in call.args]
    options = read_options(
        call.args,
        valued="sugGPtUFnyo",
        long_valued=(
            "signal",
            "user",
            "euid",
            "group",
            "parent",
            "uid",
            "pidfile",
            "older-than",
            "younger-than",
        ),
    )
    if options.has("l", "list", "help", "V", "version"):
        return
    signal = _signal(texts)
    if signal in _ASKS:
        return
    if signal in _KILLS or ("K" in options.flags and "I" in options.flags):
        call.found("force_kill", "kills processes by force by their name")
    else:
        call.unread("cannot determine whose processes this ends")


def _fuser(call: ProgramCall) -> None:
    texts = [word.text for word in call.args]
    options = read_options(
        [word for word in call.args if not re.fullmatch(r"-(SIG)?[A-Z]{3,}\d?|-\d+", word.text)], valued="n"
    )
    if options.has("k", "kill"):
        signal = _signal(
            [text for text in texts if re.fullmatch(r"-(SIG)?[A-Z]{3,}\d?|-\d+", text)] or ["-9"]
        )
        if signal in _KILLS:
            call.found("force_kill", "kills by force whatever uses this file or port")
        elif signal not in _ASKS:
            call.unread("cannot determine whose processes this ends")


def _crontab(call: ProgramCall) -> str | None:
    options = read_options(call.args, valued="u", long_valued=("user",))
    if options.has("r"):
        call.found("disable_safeguard", "deletes all scheduled jobs, including backups")
    elif options.has("l", "e"):
        return UNKNOWN
    elif options.operands or call.stdin is not None:
        text = call.stdin if not options.operands or options.operands[0].text == "-" else None
        if text is not None and not text.strip():
            call.found("disable_safeguard", "replaces all scheduled jobs by none")
        else:
            call.unread("cannot determine which scheduled jobs this replaces")
    return None


READERS: Final[Mapping[str, Program]] = {
    "kill": _kill,
    "kill_by_name": _kill_by_name,
    "fuser": _fuser,
    "crontab": _crontab,
}
