"""Ends the server processes of this process if it is killed, because some stay when their input ends.

A guard is a second process that reads from a pipe which process groups to end. The system closes the pipe when this
process ends, however that happens. One guard is enough for all servers. It is started with the first one, by the
path of this file, so it uses the standard library only and nothing of this package.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess

LEAVES_SECONDS: Final = 1.0
"""Seconds for a server to exit after its input was closed, and again after it was signaled."""
_LOOKS_SECONDS: Final = 0.05
_START_FIELD: Final = 19
"""Index of the start time, in ticks since the system started, after the name in `/proc/PID/stat`."""


class ServerGuard:
    """The groups of processes that end with this process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._groups: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._let_go)

    def add(self, group: int) -> None:
        """End a group with this process. Its leader has just been started."""
        with self._lock:
            self._groups[group] = read_start_time(group)
            self._say([group])

    def remove(self, group: int) -> None:
        """Remove a group: it has ended, and its number could be reused by another process."""
        with self._lock:
            if self._groups.pop(group, None) is not None and self._process is not None:
                self._say([group])

    def _say(self, changed: list[int]) -> None:
        """Send a line to the guard. A guard that has ended or does not read is replaced and gets all lines again."""
        for _ in range(2):
            if self._process is None:
                self._process, changed = _start(), list(self._groups)
            if self._process is None:
                return  # then servers only end as far as they notice the end of their input
            assert self._process.stdin is not None
            lines = "".join(f"{each} {self._groups.get(each, '-')}\n" for each in changed)
            try:
                if os.write(self._process.stdin.fileno(), lines.encode()) == len(lines):
                    return
            except OSError:
                pass
            # INVARIANT: it is killed before its pipe is closed, so that it takes that for no end of this process.
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process = None

    def _let_go(self) -> None:
        """In a forked child, close the pipe. Otherwise the guard would not notice the end of the parent."""
        self._lock = threading.Lock()
        self._groups = {}
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            process.returncode = 0  # no child of this process


def _start() -> subprocess.Popen[bytes] | None:
    import subprocess

    if not hasattr(os, "killpg") or not sys.executable or not os.path.isfile(__file__):
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            start_new_session=True,  # a signal to this process group must not end the guard
        )
    except OSError:
        return None
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    return process


def read_start_time(process: int) -> str:
    """The start time of a process, which distinguishes it from a later one with the same number.

    Empty if it does not exist.
    """
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[_START_FIELD]
    except OSError:
        pass
    if os.path.exists("/proc/self/stat"):
        return ""
    import subprocess

    with suppress(OSError):
        command = ["ps", "-o", "lstart=", "-p", str(process)]
        completed_process = subprocess.run(
            command, capture_output=True, check=False, env={"LC_ALL": "C", "PATH": os.defpath}
        )
        return "_".join(completed_process.stdout.decode(errors="replace").split())
    return ""


def guard() -> None:
    """Run the guard: read lines until the pipe is closed, and then end the remaining groups."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: dict[int, str] = {}
    for line in sys.stdin:
        group, _, started = line.strip().partition(" ")
        if started == "-":
            groups.pop(int(group), None)
        else:
            groups[int(group)] = started
    # Their input has ended too: they have the same time to leave as when the connection is closed.
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + LEAVES_SECONDS
        send_to(groups, number)
        while groups and time.monotonic() < deadline:
            time.sleep(_LOOKS_SECONDS)
            send_to(groups, 0)


def send_to(groups: dict[int, str], number: int) -> None:
    """Send a signal to each group, and remove groups that have ended or whose number was reused."""
    for group, started in list(groups.items()):
        # The number of a group is not given to a new process while the group has members. So either its leader is still
        # the same, or it has left and its children are there, or everything is gone.
        if read_start_time(group) not in ("", started):
            del groups[group]
            continue
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            del groups[group]
        except PermissionError:
            pass


if __name__ == "__main__":
    guard()
