"""A proxy that serves a server below a path, as a company puts several behind one address."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

_PASSED_ON = ("accept", "authorization", "content-type", "origin")


@contextmanager
def proxying(
    target: str, prefix: str, added: Mapping[str, str] | None = None, port: int = 0
) -> Iterator[str]:
    """The address of a proxy, which removes `prefix` and adds headers."""
    client = httpx2.Client(base_url=target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not self.path.startswith(prefix):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
            answer = client.request(
                self.command,
                "/" + self.path.removeprefix(prefix),
                content=body,
                headers={**headers, **(added or {})},
            )
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name not in (
                    "content-encoding",
                    "content-length",
                    "date",
                    "transfer-encoding",
                    "connection",
                ):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            client.close()
