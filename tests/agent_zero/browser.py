"""A real browser, driven over its DevTools protocol. Tests with it run where Chromium or Chrome is installed."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.support.patience import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """The browser of this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of the browser."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._connection.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            answer = json.loads(self._connection.recv(timeout=PATIENCE))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, url: str) -> None:
        """Load a page."""
        self._call("Page.navigate", self._session, url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression. A promise is awaited."""
        done = self._call(
            "Runtime.evaluate", self._session, expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        ends = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < ends, f"{condition} stays false: {self.text()}"
            time.sleep(0.02)

    def text(self) -> str:
        """What the page shows."""
        return str(self.run("document.body?.innerText ?? ''"))

    def save_picture(self, path: Path, width: int = 1000, height: int = 1400) -> None:
        """Write a screenshot."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", self._session, **size)
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", self._session)["data"]))


@contextmanager
def browsing(folder: Path) -> Iterator[Page]:
    """A browser with one page. Its profile is in the folder."""
    program = find_browser()
    assert program is not None, "no browser is installed"
    options = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --remote-debugging-port=0"
    process = subprocess.Popen(
        [program, *options.split(), f"--user-data-dir={folder}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        said, ends = folder / "DevToolsActivePort", time.monotonic() + PATIENCE
        while not said.is_file() or len(said.read_text().split()) < 2:
            assert process.poll() is None, "the browser ended"
            assert time.monotonic() < ends, "the browser does not start"
            time.sleep(0.02)
        port, path = said.read_text().split()
        with connect(f"ws://127.0.0.1:{port}{path}", proxy=None, max_size=None) as connection:
            yield Page(connection)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
