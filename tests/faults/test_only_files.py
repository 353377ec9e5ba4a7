"""Pipes, devices and sockets in the place of files: nothing waits for them, and each is reported."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from extension.host import organization
from manifest_api.answering import Answers
from manifest_api.app import create_app
from manifest_api.guards.tokens import TokenVerifier, read_settings
from manifest_api.reloading import Reloader
from orgkernel.errors import BadBaseline, BadProject
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import digest_file, does_mention, read_text
from orgkernel.project.baseline import read_baseline
from orgkernel.runtime.regular_files import NotRegular, open_regular
from orgkernel.runtime.report_files import build_latest_name, read_latest
from orgkernel.state.checkpoints import Checkpoints
from tests.cli.running import ORGKERNEL, SHOP
from tests.support.patience import PATIENCE, until
from tests.support.trees import REPOSITORY, write_tree

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def make_socket(path: Path) -> None:
    """A socket, of which the file stays."""
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket may be 107 bytes
    try:
        listener.bind(path.name)
    finally:
        os.chdir(here)
        listener.close()


NO_FILES: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": make_socket,
    "link to a pipe": lambda path: (
        os.mkfifo(path.with_suffix(".pipe")),
        path.symlink_to(path.with_suffix(".pipe")),
    )[1],
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to standard input": lambda path: path.symlink_to("/dev/stdin"),
    "link to an open file": lambda path: path.symlink_to("/proc/self/fd/0"),
    "folder": Path.mkdir,
}
each_kind = pytest.mark.parametrize("put", NO_FILES.values(), ids=NO_FILES)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that has to end, with standard input from a regular file."""
    with open(__file__, "rb") as file:
        return subprocess.run(
            [ORGKERNEL, *command], cwd=cwd, env=ENVIRONMENT, stdin=file, capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip


@each_kind
def test_no_reader_opens_what_is_no_file(put: Callable[[Path], None], tmp_path: Path) -> None:
    """Every reader of ours refuses it at once."""
    path = tmp_path / "a.yaml"
    put(path)
    name = str(path)
    with pytest.raises(NotRegular):
        open_regular(name)
    refusal = read_text(name, "a.yaml").problem
    assert refusal is not None
    assert refusal.row.code == "ORG001"
    assert digest_file(name) is None
    assert not does_mention(name, "a")
    with pytest.raises(BadBaseline):
        read_baseline(name)
    with pytest.raises(organization.OrganizationError):
        organization.read_json(name)
    (tmp_path / "keys").mkdir()
    put(tmp_path / "keys" / "key")
    with pytest.raises(NotRegular):
        Checkpoints(str(tmp_path / "keys"), os.urandom, time.time).key()
    put(tmp_path / build_latest_name("dev"))
    report, problem = read_latest(str(tmp_path), "dev")
    assert report is None
    assert problem


def test_a_link_to_a_file_in_memory_is_read(tmp_path: Path) -> None:
    """`/dev/shm` holds files as any other folder does, and a link from there to what a process has open is still refused."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        file, link = Path(folder, "file"), Path(folder, "link")
        file.write_text("x", encoding="utf-8")
        link.symlink_to(file)
        with open_regular(str(link)) as found:
            assert found.read() == b"x"
        link.unlink()
        link.symlink_to("/dev/shm/../stdin")
        with pytest.raises(NotRegular):
            open_regular(str(link))


@each_kind
def test_settings_that_are_no_file(put: Callable[[Path], None], tmp_path: Path) -> None:
    """Settings and keys of tokens are refused with a sentence."""
    put(tmp_path / "orgkernel.toml")
    with pytest.raises(BadProject, match="not a regular file"):
        find_project(str(tmp_path))
    (tmp_path / "orgkernel.toml").rmdir() if put is Path.mkdir else (tmp_path / "orgkernel.toml").unlink()
    put(tmp_path / "jwks.json")
    oidc = {"issuer": "https://id.example", "audience": "orgkernel", "jwks": "jwks.json"}
    with pytest.raises(BadProject, match="cannot be read"):
        TokenVerifier(read_settings(oidc, str(tmp_path)), time.time)


@each_kind
def test_a_cache_entry_that_is_no_file(put: Callable[[Path], None], tmp_path: Path) -> None:
    """It is missing."""
    put(tmp_path / "a.cached")
    assert Cache(str(tmp_path)).find("a") is None


@each_kind
def test_check_ends_and_reports_it(put: Callable[[Path], None], tmp_path: Path) -> None:
    """`check` exits with 1 or 2, whether it stands among the documents, is named, or is their baseline."""
    shop = write_tree(tmp_path / "shop", SHOP)
    put(shop / "extra.yaml")
    done = run("check", "--format", "concise", cwd=shop)
    if put is not Path.mkdir:
        assert done.returncode == 1
        assert re.search(r"extra.yaml:1:1: error\[ORG0(01|23)\]", done.stdout)
        assert run("check", "extra.yaml", cwd=shop).returncode == 1
    assert run("check", "--baseline", "extra.yaml", cwd=shop).returncode == 2
    assert run("test", "extra.yaml", cwd=shop).returncode == 2


def test_a_pipe_does_not_stop_a_server(tmp_path: Path) -> None:
    """A reload reports the pipe, questions are answered, and SIGTERM ends the server."""
    shop = write_tree(tmp_path / "shop", SHOP)
    server = subprocess.Popen(
        [ORGKERNEL, "serve", "--port", "0"], cwd=shop, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    try:
        url = url_of(server)
        os.mkfifo(shop / "extra.yaml")
        found = wait_for(url, "/v1/diagnostics", lambda said: said["count"] > 0)
        assert [each["code"] for each in found["diagnostics"]] == ["ORG001"]
        assert ask(url, "/readyz")["reading"] == "ok"
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.communicate()


HANGING = """
import sys, threading
from orgkernel.snapshots.loader import Loader
load, loads = Loader.load, []
def hang(loader):
    loads.append(1)
    if len(loads) > 1:
        threading.Event().wait()
    return load(loader)
Loader.load = hang
from orgkernel.cli import main
sys.argv = ["orgkernel", "serve", "--port", "0", "--reload-limit", "0.5", "--no-cache"]
main()
"""


def test_a_reload_that_hangs_is_reported_and_does_not_hold_the_server(tmp_path: Path) -> None:
    """Where a file system does not answer, `/readyz`, the diagnostics and the log say so, and SIGTERM ends the server."""
    shop = write_tree(tmp_path / "shop", SHOP)
    server = subprocess.Popen(
        [sys.executable, "-c", HANGING], cwd=shop, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    try:
        url = url_of(server)
        said = wait_for(url, "/readyz", lambda said: said["reading"] != "ok")
        assert (said["status"], said["reading"]) == ("degraded", "overrun")
        assert ask(url, "/v1/diagnostics")["reading_problem"] == "the last reload did not end in time"
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        said_last = server.communicate()[1]
    assert "the reload takes longer than 0.5 seconds" in said_last


def test_a_late_reload_counts_when_it_ends(tmp_path: Path) -> None:
    """What it read answers then, and nothing is stale any more."""
    shop = write_tree(tmp_path / "shop", SHOP)
    kernel = Kernel.open(shop)
    ends = threading.Event()
    original = kernel.reload
    kernel.reload = lambda: (ends.wait(PATIENCE), original())[1]  # type: ignore[method-assign]
    answers = Answers(kernel)
    reloader = Reloader(answers, seconds=0.05)

    async def attend() -> list[str | None]:
        problems = []
        for _ in range(2):
            await reloader.reload()
            problems.append(answers.reading_problem)
        os.mkfifo(shop / "extra.yaml")
        ends.set()
        async with asyncio.timeout(PATIENCE):
            while answers.reading_problem is not None:
                await asyncio.sleep(0.05)
        return [*problems, answers.reading_problem]

    assert asyncio.run(attend()) == ["overrun", "overrun", None]
    assert [found.code for found in kernel.check()] == ["ORG001"]


def test_an_application_takes_the_limit(tmp_path: Path) -> None:
    """The limit is an argument of the application."""
    app = create_app(Kernel.open(write_tree(tmp_path, SHOP)), reload_seconds=7)
    assert app.state.reloader._seconds == 7


def url_of(server: subprocess.Popen[str]) -> str:
    """The URL that a server says it listens on."""
    assert server.stderr is not None
    for line in server.stderr:
        if found := re.search(r"http://[\d.]+:\d+", line):
            return found[0]
    raise AssertionError("the server ended")


def ask(url: str, path: str) -> dict[str, object]:
    """The answer of a server."""
    with urllib.request.urlopen(url + path, timeout=PATIENCE) as response:
        return json.load(response)


def wait_for(url: str, path: str, is_there: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    """The first answer of some kind."""
    return until(lambda: ask(url, path), is_there, pause=0.1)
