"""The programs that are connected to a store, as far as the system tells. It serves messages only: locks decide.

A file is held open by processes of this machine, which `/proc` lists, where there is one. PostgreSQL lists its connections.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, text

from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.utc import as_utc

_COMMAND = re.compile("[a-z][a-z-]{0,19}")
_OURS = re.compile("orgkernel ([0-9]+) ([^ ]+) ?(.*)")
_MAX_NAME_BYTES = 63
"""Bytes of a name in PostgreSQL."""
_MAX_SHOWN = 5


class ConnectedProgram(NamedTuple):
    """A program that has a store open. Empty parts are not known."""

    process: str
    """Number of the process, with the command if it is known."""
    host: str
    since: float | None
    """Start of the process, or of its connection to PostgreSQL."""

    @property
    def text(self) -> str:
        """The program in a message."""
        since = f" since {as_utc(self.since)}" if self.since is not None else ""
        return printable(
            f"{self.process or 'an unnamed program'}{f' on {self.host}' if self.host else ''}{since}"
        )


def list_texts(programs: Sequence[ConnectedProgram]) -> str:
    """Programs in a message: the first five, and how many more there are."""
    more = f", and {len(programs) - _MAX_SHOWN} more" if len(programs) > _MAX_SHOWN else ""
    return ", ".join(program.text for program in programs[:_MAX_SHOWN]) + more


def name_this_program() -> str:
    """The name under which PostgreSQL lists the connections of this process: its number, its host and its command."""
    name = f"orgkernel {os.getpid()} {_read_host()} {_read_command('self')}"
    return name.encode("ascii", "replace").decode()[:_MAX_NAME_BYTES]


def list_file_users(path: str, own_file: int) -> tuple[ConnectedProgram, ...]:
    """The processes that have a file open, by number. `own_file` is the descriptor of this process that does not count."""
    return tuple(_find_file_users(path, own_file))


def list_database_users(connection: Connection) -> tuple[ConnectedProgram, ...]:
    """The other connections to a database of PostgreSQL, one for each program, by start."""
    rows = connection.execute(text(_CONNECTIONS)).all()
    programs: dict[tuple[str, str], ConnectedProgram] = {}
    for name, host, pid, since in rows:
        ours = _OURS.fullmatch(name)
        process = _label_process(ours[1], ours[3]) if ours else f"{name or 'a program'} (backend {pid})"
        origin = (ours[2] if ours else host) or ""
        programs.setdefault((process, origin), ConnectedProgram(process, origin, since))
    return tuple(programs.values())


_CONNECTIONS = """
    SELECT COALESCE(application_name, ''), host(client_addr), pid, EXTRACT(EPOCH FROM backend_start)::float8
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND COALESCE(backend_type, 'client backend') = 'client backend'
    ORDER BY backend_start, pid
"""


def _read_host() -> str:
    import platform  # only PostgreSQL and refusals need it

    return platform.node()


def _find_file_users(path: str, own_file: int) -> Iterator[ConnectedProgram]:
    try:
        wanted = os.stat(path)
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())
    except OSError:
        return
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended, or belongs to another user
            for name in os.listdir(f"/proc/{pid}/fd"):
                if pid == os.getpid() and name == str(own_file):
                    continue
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{name}")
                    if (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
                        yield _describe_process(pid)
                        break


def _describe_process(pid: int) -> ConnectedProgram:
    since = None
    with contextlib.suppress(OSError, ValueError, IndexError):
        since = _read_start(pid)
    return ConnectedProgram(_label_process(str(pid), _read_command(str(pid))), _read_host(), since)


def _label_process(pid: str, command: str) -> str:
    return f"process {pid} ({command})" if command else f"process {pid}"


def _read_command(pid: str) -> str:
    """The command of a process. Empty if it is not known."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return _name_command(file.read().decode("utf-8", "replace").split("\0"))
    except OSError:
        return ""


def _read_start(pid: int) -> float:
    """The start of a process in seconds since 1970. Raises OSError, ValueError and IndexError."""
    with open("/proc/stat", encoding="ascii") as file:
        boot = next(float(line.split()[1]) for line in file if line.startswith("btime "))
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def _name_command(arguments: Sequence[str]) -> str:
    """The command in the arguments of a process: `orgkernel serve`, or the name of the program.

    Other arguments are not told, because they can be secrets.
    """
    for place, each in enumerate(arguments[:4]):
        if os.path.basename(each) == "orgkernel":
            words = [word for word in arguments[place + 1 :][:1] if _COMMAND.fullmatch(word)]
            return " ".join(["orgkernel", *words])
    name = os.path.basename(arguments[0]) if arguments else ""
    return re.sub("[^A-Za-z0-9._-]", "_", name)[:20]
