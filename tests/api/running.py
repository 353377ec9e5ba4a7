"""A server in a process of its own, as `orgkernel serve` starts one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.support.patience import PATIENCE, until
from tests.support.trees import REPOSITORY

__all__ = ["Server", "running", "until"]
_PROGRAM = """
import logging, sys
from manifest_api import serve
from manifest_api.guards import connections
from orgkernel.kernel.kernel import Kernel
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
from orgkernel.state.location import parse_location
import json, os
from manifest_api.agent_cards import read_card_settings
from manifest_api.guards.tokens import read_settings
store = os.environ.get("TEST_STORE")
cards = os.environ.get("TEST_CARDS")
tokens = os.environ.get("TEST_TOKENS")
connections.HEAD_SECONDS = float(os.environ.get("TEST_HEAD_SECONDS", connections.HEAD_SECONDS))
serve(
    Kernel.open(*sys.argv[1:]), port=0, reload=True, on_ready=lambda url: print(url, flush=True),
    drain_seconds=float(os.environ["TEST_DRAIN"]), store=parse_location(store, os.getcwd()) if store else None,
    cards=read_card_settings(json.loads(cards), os.getcwd()) if cards else None,
    tokens=read_settings(json.loads(tokens), os.getcwd()) if tokens else None,
)
"""


class Server:
    """A running server: its URL, its process, what it logs."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log
        self.key = ""
        """A key that opens everything, where the test has made one."""
        self.client = httpx2.Client(base_url=url, timeout=PATIENCE)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def folder(self) -> Path:
        """The folder it was started in."""
        return self._log.parent

    @property
    def log(self) -> str:
        """What it has logged so far."""
        return self._log.read_text(encoding="utf-8")

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """The answer to a GET."""
        return self.client.get(path, **options)

    def until_logged(self, words: str) -> None:
        """Wait for words in the log."""
        until(lambda: self.log, lambda log: words in log)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def running(
    folder: Path, *paths: Path, store: Path | str | None = None, drain: float = 0.0, **env: str
) -> Iterator[Server]:
    """A server over some paths, its log beside them; killed at the end whatever happened."""
    log = folder / f"server-{time.monotonic_ns()}.log"
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *map(str, paths)],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "TEST_DRAIN": str(drain),
                **({} if store is None else {"TEST_STORE": str(store)}),
                **env,
            },
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, log.read_text(encoding="utf-8")
        server = Server(process, url, log)
        try:
            yield server
        finally:
            server.client.close()
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()
