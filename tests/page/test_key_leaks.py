"""Keys against a hostile network path: a redirect to another host, and what the browser keeps in its cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from manifest_api.page_files import BUILT, FILES
from tests.support.browser import Page
from tests.support.patience import until

pytestmark = pytest.mark.browser
SECRET = "orgk_" + "S" * 43
ORGANIZATIONS = b'{"organizations": [], "next": null}'


@contextmanager
def answering(respond: type[BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), respond) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def build_handler(
    seen: list[tuple[str, str]], target: str | None, *, has_policy: bool, is_cacheable: bool = False
) -> type[BaseHTTPRequestHandler]:
    """A server of the built page. A request of the page for data is redirected to `target`, or answered."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            seen.append((self.path, self.headers.get("authorization", "")))
            if path in FILES:
                name, media_type = FILES[path]
                self._answer(200, (BUILT / name).read_bytes(), {"Content-Type": media_type, **self._policy()})
            elif self.headers.get("authorization") is None and target is not None:
                problem = b'{"type": "about:blank", "title": "t", "status": 401, "code": "UNAUTHENTICATED", "detail": "this server asks for a key"}'
                self._answer(401, problem, {"Content-Type": "application/problem+json"})
            elif target is not None:
                self._answer(307, b"", {"Location": f"{target}{self.path}"})
            else:
                cache = {"Cache-Control": "max-age=3600"} if is_cacheable else {}
                self._answer(200, ORGANIZATIONS, {"Content-Type": "application/json", **cache})

        do_POST = do_OPTIONS = do_GET

        def _policy(self) -> dict[str, str]:
            policy = (
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
            )
            return {"Content-Security-Policy": policy} if has_policy else {}

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Access-Control-Allow-Origin", self.headers.get("origin", "*"))
            self.send_header("Access-Control-Allow-Headers", "authorization, *")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    return Handler


def sign_in(page: Page) -> None:
    page.wait("document.querySelector('input[type=password]')")
    page.run("document.querySelector('input[type=password]').focus()")
    page.type(SECRET)
    page.press("Enter")


@pytest.mark.parametrize("has_policy", [False, True])
def test_a_key_follows_no_redirect(page: Page, has_policy: bool) -> None:
    """Whether the browser has the security policy or not, another host is never asked, and does not get the key."""
    elsewhere: list[tuple[str, str]] = []
    own: list[tuple[str, str]] = []
    with (
        answering(build_handler(elsewhere, None, has_policy=False)) as other,
        answering(
            build_handler(own, f"http://127.0.0.1:{other.server_port}", has_policy=has_policy)
        ) as server,
    ):
        page.open("about:blank#")
        page.open(f"http://127.0.0.1:{server.server_port}/")
        sign_in(page)
        until(lambda: [key for _, key in own], lambda keys: any(SECRET in key for key in keys))
        # Without the defense, the page would show the answer of the other host.
        page.wait("document.body.innerText.includes('The server does not answer')")
        page.open("about:blank#")
    assert elsewhere == []
    page.forget()


def test_no_answer_for_a_key_stays_in_the_cache(page: Page) -> None:
    """Even if an answer may be cached, the browser has no copy of it after the page has shown it."""
    own: list[tuple[str, str]] = []
    with answering(build_handler(own, None, has_policy=True, is_cacheable=True)) as server:
        page.open("about:blank#")
        page.use_cache(is_used=True)
        page.open(f"http://127.0.0.1:{server.server_port}/")
        asked = "/v1/orgs?limit=200"
        until(lambda: [path for path, _ in own], lambda paths: asked in paths)
        page.wait(
            "performance.getEntriesByType('resource').some(each => each.name.includes('/v1/orgs') && each.responseEnd)"
        )
        before = [path for path, _ in own].count(asked)
        again = f"fetch({asked!r}, {{cache: 'force-cache', headers: {{Accept: 'application/json'}}}}).then(each => each.text())"
        page.run(again)
        assert [path for path, _ in own].count(asked) == before + 1
        # Now the answer is in the cache, so the question finds what is there.
        page.run(again)
        assert [path for path, _ in own].count(asked) == before + 1
        page.use_cache(is_used=False)
    page.forget()
