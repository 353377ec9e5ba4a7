"""Programs that end processes, and that run or stop services, timers and audit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import MANY, OWN_PROCESS, UNKNOWN, ShellWord, is_unclear, shown
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall

_KILLS: Final = frozenset({"9", "KILL", "SIGKILL"})
_ASKS: Final = names_in(
    """0 1 2 10 12 HUP SIGHUP INT SIGINT USR1 SIGUSR1 USR2 SIGUSR2 WINCH CONT SIGCONT SIGWINCH 18 28"""
)
SAFEGUARD: Final = re.compile(
    r"audit|backup|back-up|bak\b|restic|borg|duplicity|duplicati|rsnapshot|snapper|snapshot|timeshift|bacula|bareos|veeam|velero|"
    r"rsyslog|syslog|journald|logrotate|retention|wazuh|osquery|falco|cloudtrail|archiv|pgbackrest|barman|wal-g|walg|zrepl|sanoid|"
    r"syncoid|kopia|urbackup|fail2ban|crowdsec|aide\b|tripwire|ossec|filebeat|fluentd|fluent-bit|vector|promtail|splunk|dump|time-?machine|\bcron(d|ie)?\b|\banacron|\bcron\.",
    re.IGNORECASE,
)
"""Names of services that keep backups or records."""


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
        call.unread("whose processes this ends cannot be seen")


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
            call.unread("whose processes this ends cannot be seen")


def _kill_port(call: ProgramCall) -> None:
    call.found("force_kill", "kills by force whatever listens on this port")


_UNIT_READS: Final = names_in(
    """status show list-units list-unit-files list-timers list-sockets list-dependencies list-jobs is-active is-enabled is-failed cat
    get-default show-environment help daemon-reload start restart reload enable try-restart reload-or-restart unmask
    is-system-running reset-failed preset link set-environment import-environment daemon-reexec edit revert"""
)


def _systemctl(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="tHMnops",
        long_valued=("type", "host", "lines", "signal", "property", "output", "state", "kill-who"),
    )
    words = options.operands
    verb = words[0].text if words else ""
    units = words[1:]
    if not verb or verb in _UNIT_READS:
        return UNKNOWN
    if verb == "kill":
        signal = options.value("s", "signal")
        if signal is not None and signal.text.upper() in _KILLS:
            call.found("force_kill", "kills a service by force")
        else:
            call.unread("whose processes this ends cannot be seen")
        return None
    if verb in ("stop", "disable", "mask"):
        _stop_units(call, verb, units)
        return None
    call.unread(f"what {quote(verb)} does to this machine cannot be seen")
    return None


def _stop_units(call: ProgramCall, verb: str, units: list[ShellWord]) -> None:
    for unit in units:
        if SAFEGUARD.search(unit.text):
            call.found(
                "disable_safeguard", f"{'stops' if verb == 'stop' else verb + 's'} {quote(unit.text)}", unit
            )
        elif is_unclear(unit.text):
            call.unread("which service this stops is not known until the command runs", unit)


def _service(call: ProgramCall) -> None:
    words = [word for word in call.args if not word.text.startswith("-")]
    if len(words) > 1 and words[1].text == "stop":
        _stop_units(call, "stop", words[:1])


def _init_script(call: ProgramCall) -> None:
    words = [word.text for word in call.args]
    if call.name in (
        "chkconfig",
        "update-rc.d",
        "rc-update",
        "sysv-rc-conf",
        "launchctl",
        "brew-services",
    ) and ({"off", "disable", "remove", "del", "unload", "bootout", "stop"} & set(words)):
        for word in call.args:
            if SAFEGUARD.search(word.text):
                call.found("disable_safeguard", f"disables {quote(word.text)}", word)


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
            call.unread("which scheduled jobs this replaces cannot be seen")
    return None


def _auditctl(call: ProgramCall) -> None:
    texts = [word.text for word in call.args]
    if (
        "-D" in texts
        or any(text in ("-e0",) for text in texts)
        or ("-e" in texts and texts[texts.index("-e") + 1 :][:1] == ["0"])
    ):
        call.found("disable_safeguard", "disables the audit of the system")
    elif any(text in ("-d", "-W", "-e", "-r", "-b", "-f", "-R") for text in texts):
        call.unread("which records are lost cannot be seen")


def _journal(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="unpotgSU",
        long_valued=(
            "unit",
            "since",
            "until",
            "vacuum-size",
            "vacuum-time",
            "vacuum-files",
            "lines",
            "output",
            "priority",
        ),
    )
    if any(name.startswith("vacuum") for name in (*options.flags, *options.values)) or options.has("rotate"):
        call.found("disable_safeguard", "deletes records of the journal")
    return UNKNOWN


def _setenforce(call: ProgramCall) -> None:
    if any(word.text.lower() in ("0", "permissive") for word in call.args):
        call.found("disable_safeguard", "turns off enforcement and with it its records")


def _history(call: ProgramCall) -> str | None:
    if any(re.fullmatch(r"-\w*[cw]\w*", word.text) for word in call.args):
        call.unread("whether this history is still needed cannot be seen")
    return UNKNOWN


def _tmutil(call: ProgramCall) -> None:
    verb = call.args[0].text if call.args else ""
    if verb in (
        "disable",
        "delete",
        "deletelocalsnapshots",
        "removedestination",
        "disablelocal",
        "stopbackup",
        "addexclusion",
        "deleteinprogress",
        "thinlocalsnapshots",
    ):
        call.found("disable_safeguard", "disables backups or deletes them")


_BACKUP_VERBS: Final = re.compile(
    r"^(forget|prune|delete|remove|purge|expire|destroy|unset|disable|cleanup|rm|key|recreate|expunge|pause)$"
)


def _backup_tool(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    dry = any(word.text in ("-n", "--dry-run", "--list") for word in call.args)
    if any(_BACKUP_VERBS.match(text) for text in words[:4]) and not dry:
        call.found("disable_safeguard", "deletes backups or their schedule")
    elif "remove-all-but-n-full" in words or "remove-older-than" in words:
        call.found("disable_safeguard", "deletes backups")
    elif "restore" in words:
        call.unread("what this restores over cannot be seen")
    return UNKNOWN


def _volumes(call: ProgramCall) -> None:
    name = call.name
    words = [word.text for word in call.args]
    if name in ("zfs", "zpool", "btrfs"):
        if "destroy" in words or "delete" in words or "labelclear" in words:
            is_copy = any("@" in text or "snap" in text for text in words)
            operation = "disable_safeguard" if is_copy else "delete_resource"
            call.found(operation, "destroys a snapshot" if is_copy else "destroys a volume with its data")
        elif "rollback" in words:
            call.found("destroy_data", "discards what was written since a snapshot")
        elif not set(words) & {
            "list",
            "get",
            "status",
            "show",
            "snapshot",
            "create",
            "send",
            "iostat",
            "history",
            "subvolume",
            "scrub",
            "filesystem",
            "usage",
            "df",
        }:
            call.unread("what this changes on a volume cannot be seen")
        return
    call.found("delete_resource", "removes a volume or an account with its data")


def _power(call: ProgramCall) -> None:
    if not any(word.text in ("--help", "-c", "--show", "-k", "--version") for word in call.args):
        call.unread("whose work this ends cannot be seen")


PROGRAMS: Final[Mapping[str, Program]] = {
    "kill": _kill, "pkill": _kill_by_name, "killall": _kill_by_name, "skill": _kill_by_name, "killall5": _kill_by_name,
    "xkill": _kill_by_name, "fuser": _fuser, "kill-port": _kill_port, "fkill": _kill_by_name,
    "systemctl": _systemctl, "service": _service, "rc-service": _service, "chkconfig": _init_script, "update-rc.d": _init_script,
    "rc-update": _init_script, "launchctl": _init_script, "crontab": _crontab, "auditctl": _auditctl, "journalctl": _journal,
    "setenforce": _setenforce, "history": _history, "tmutil": _tmutil,
    **dict.fromkeys(
        ("restic", "borg", "borgmatic", "duplicity", "rsnapshot", "snapper", "timeshift", "velero", "kopia", "pgbackrest", "barman",
         "wal-g", "duplicati-cli", "rdiff-backup", "tarsnap", "atlas-backup", "vssadmin", "wbadmin"), _backup_tool),
    **dict.fromkeys(("zfs", "zpool", "btrfs", "lvremove", "vgremove", "pvremove", "userdel", "deluser", "groupdel"), _volumes),
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "init", "telinit"), _power),
}  # fmt: skip
