"""The servers of the demo: an HTTP service that publishes posts for callers with the token, and an MCP server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from orgkernel.errors import UsageError

_START_SECONDS, _PAUSE = 20.0, 0.05
TOKEN = "demo-token-of-the-page"


class PostService:
    """A running server, and the posts that were published on it."""

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, {"posts": service.published})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    self._answer(401, {"error": "unknown token"})
                    return
                if self.path == "/posts":
                    service.published.append(body)
                self._answer(201, {"id": f"post-{len(service.published)}"})

            def _answer(self, status: int, value: dict[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Go out of service. A second time does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


@contextmanager
def run_service() -> Iterator[PostService]:
    """The service on a free port of this machine."""
    service = PostService()
    try:
        yield service
    finally:
        service.stop()


class InsightsServer:
    """The MCP server in a process of its own, which starts while the scenario runs."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._address = free.getsockname()
        self.url = f"http://127.0.0.1:{self._address[1]}/mcp"
        command = [sys.executable, "-m", "orgkernel.demo.insights", str(self._address[1])]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        """Until it answers. Raises `UsageError` if it does not start."""
        for _ in range(int(_START_SECONDS / _PAUSE)):
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection(self._address).close()
            except OSError:
                time.sleep(_PAUSE)
            else:
                return
        raise UsageError("the MCP server of the demo does not start", "`orgkernel doctor` says what is wrong")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


@contextmanager
def run_insights() -> Iterator[InsightsServer]:
    """The MCP server on a free port of this machine."""
    server = InsightsServer()
    try:
        yield server
    finally:
        server.stop()
