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

NO_BROWSER = "no browser is installed: install Chromium, e.g. `apt-get install chromium`"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


_NUMBERS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "/": 191,
}  # fmt: skip
_CODES = {" ": "Space", "/": "Slash"}


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
        self.problems: list[str] = []
        """What the console shows: errors, warnings, and what the security policy refused, since `watch`."""
        self.requested: list[str] = []
        """The addresses that the page requested since `watch`."""

    def watch(self) -> None:
        """Collect what the console shows, and what is requested."""
        for domain in ("Runtime", "Log", "Network"):
            self._call(f"{domain}.enable", self._session)
        # A page from the cache would request nothing.
        self._call("Network.setCacheDisabled", self._session, cacheDisabled=True)
        self.forget()

    def use_cache(self, *, is_used: bool) -> None:
        """Whether the browser keeps answers. `watch` switches it off."""
        self._call("Network.setCacheDisabled", self._session, cacheDisabled=not is_used)

    def forget(self) -> None:
        """Forget what was collected."""
        self.run("1")  # what happened before is read before this answer
        self.problems.clear()
        self.requested.clear()

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                self.problems.append(
                    " ".join(str(each.get("value", each.get("description"))) for each in about["args"])
                )
            case "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                self.problems.append(str(details.get("exception", {}).get("description", details["text"])))
            case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                self.problems.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
            case "Network.requestWillBeSent":
                self.requested.append(about["request"]["url"])

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._connection.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            answer = json.loads(self._connection.recv(timeout=PATIENCE))
            if "id" not in answer:
                self._note(answer)
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
            "Runtime.evaluate",
            self._session,
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def choose(self, field: str, value: str) -> None:
        """Choose in a field, given as an expression. Value and event are one step: between two steps a page that draws itself again
        puts its own value back.
        """
        self.run(
            f"(box => {{ box.value = {json.dumps(value)}; box.dispatchEvent(new Event('change', {{bubbles: true}})); }})({field})"
        )

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        ends = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < ends, f"{condition} stays false: {self.text()[:2_000]}"
            time.sleep(0.02)

    def count_seconds(self) -> float:
        """The seconds that the page itself has worked. What other programs do at the same time does not count."""
        self._call("Performance.enable", self._session, timeDomain="threadTicks")
        metrics = self._call("Performance.getMetrics", self._session)["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    def text(self) -> str:
        """What the page shows."""
        return str(self.run("document.body?.innerText ?? ''"))

    def press(self, *keys: str) -> None:
        """Press keys, one after the other: a character, or a name such as `ArrowDown` or `Control+k`."""
        for key in keys:
            *held, name = key.split("+") if len(key) > 1 else [key]
            modifiers = 2 * ("Control" in held) + 8 * ("Shift" in held)
            about: dict[str, Any] = {"key": name, "modifiers": modifiers, "code": _CODES.get(name, name)}
            about["windowsVirtualKeyCode"] = _NUMBERS.get(name, ord(name.upper()) if len(name) == 1 else 0)
            text = {"Enter": "\r", "Tab": ""}.get(name, name if len(name) == 1 and not held else "")
            self._call(
                "Input.dispatchKeyEvent",
                self._session,
                type="keyDown",
                **about,
                **({"text": text} if text else {}),
            )
            self._call("Input.dispatchKeyEvent", self._session, type="keyUp", **about)

    def type(self, text: str) -> None:
        """Write a text where the focus is."""
        self._call("Input.insertText", self._session, text=text)

    def show_as(self, width: int = 1000, height: int = 1400, *, scheme: str = "light") -> None:
        """Change the size of the page in pixels, and whether the user prefers light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", self._session, **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", self._session, features=features)

    def save_picture(
        self, path: Path, width: int = 1000, height: int = 1400, *, scheme: str = "light"
    ) -> None:
        """Write a screenshot."""
        self.show_as(width, height, scheme=scheme)
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
