"""The response cache has no visible effect: a cached answer equals a new one, and only permitted callers get it."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from manifest_api import create_app
from manifest_api.agent_cards import CardSettings
from manifest_api.guards.limits import MAX_BODY
from manifest_api.guards.request_head import HeadCache, RequestHead
from manifest_api.response_cache import Representation, ResponseCache
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import ORG, ROLE, ROLE_FILE
from tests.support.openapi_document import get_openapi
from tests.support.trees import TEMPLATES, change_line, copy_template

ROLE_URL = f"/v1/orgs/{ORG}/roles/{ROLE}"
VALUES = {"org": ORG, "role": ROLE, "code": "UNKNOWN_ROLE", "agent": "clerk", "bill": "none"}
# What is read from the store, or says the name it was asked under, is never kept.
CHANGING = (
    "/v1/orgs/{org}/grants", "/v1/orgs/{org}/grants/{grant}", "/v1/orgs/{org}/grants/{grant}/revocation", "/v1/orgs/{org}/requests", "/v1/orgs/{org}/requests/{request_id}", "/v1/orgs/{org}/requests/{request_id}/widening",
    "/v1/orgs/{org}/restrictions", "/v1/orgs/{org}/restrictions/{restriction}", "/v1/orgs/{org}/locks", "/v1/audit", "/v1/audit/verification",
    "/v1/orgs/{org}/salute", "/v1/orgs/{org}/salute/stream", "/v1/orgs/{org}/salute/{role}/latest", "/v1/orgs/{org}/salute/{role}/history", "/.well-known/authzen-configuration",
    "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/metrics",
    # Levels of skills fall with time, and files beside a skill change without a new version.
    "/v1/orgs/{org}/skills", "/v1/orgs/{org}/skills/{name}", "/v1/orgs/{org}/skills/{name}/resources/{path}",
    "/v1/orgs/{org}/procedure-proposals",
    "/v1/orgs/{org}/decisions", "/v1/orgs/{org}/contracts/{brief}/next",
    "/v1/orgs/{org}/leadership", "/v1/orgs/{org}/gateway-report",
    # The keys of signed cards change with the clock and with a file.
    "/.well-known/jwks.json",
    # There are none here.
    "/v1/orgs/{org}/bills/{bill}", "/v1/orgs/{org}/agents/{agent}/certificate", "/v1/orgs/{org}/agents/{agent}/episodes",
    "/v1/orgs/{org}/agents/{agent}/service-record", "/v1/orgs/{org}/agents/{agent}/skill-history",
)  # fmt: skip
# Answered without a store as well, but never tagged: what a store has, how the server is, and what never changes.
UNTAGGED = {
    *(f"/v1/orgs/{ORG}/{each}" for each in ("claims", "contracts", "handoffs", "limits", "ownership/audits")),
    "/livez", "/readyz", "/version", "/problems/UNKNOWN_ROLE", "/v1/sign-in",
}  # fmt: skip
# Routes whose parameters need values of their own.
ADDRESSES = {
    "/v1/orgs/{org}/lines": f"/v1/orgs/{ORG}/lines?file=ontology/ranks.yaml&line=1",
    "/v1/rules/{code}": "/v1/rules/ORG202",
}
CARDS = CardSettings("https://agents.example/a2a", "https://org.example", is_public=True)
HOST = (b"host", b"localhost:8000")
Said = tuple[int, list[tuple[bytes, bytes]], bytes]


def ask(
    app: Any,
    url: str,
    *headers: tuple[bytes, bytes],
    method: str = "GET",
    address: str = "127.0.0.1",
    body: bytes = b"",
    host: tuple[tuple[bytes, bytes], ...] = (HOST,),
) -> Said:
    """Status, headers in their order, and body, as they go to the server."""
    path, _, query = url.partition("?")
    if all(name != b"x-request-id" for name, _ in headers):  # a new one would make every answer another
        headers = (*headers, (b"x-request-id", b"one"))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": query.encode(), "root_path": "", "headers": [*host, *headers],
        "client": (address, 50000), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(app(scope, receive, send))
    start, *rest = messages
    return start["status"], list(start["headers"]), b"".join(each.get("body", b"") for each in rest)


def header(said: Said, name: bytes) -> bytes | None:
    """The value of a header of an answer."""
    return dict(said[1]).get(name)


def get_routes() -> Iterator[str]:
    """Every documented GET, and the two undocumented pages of documentation."""
    for path, operations in get_openapi()["paths"].items():
        if "get" in operations and path not in CHANGING:
            # Only the household has agents.
            org = "household" if path.startswith("/v1/orgs/{org}/agents") else ORG
            yield ADDRESSES.get(path) or path.format(**VALUES | {"org": org})
    yield from (
        f"/v1/orgs/{ORG}/manifest?role_type=specialist&limit=2",
        "/v1/orgs?limit=1",
        "/docs",
        "/",
        "/page/page.js",
        "/openapi.json",
    )


def requests() -> Iterator[tuple[str, tuple[tuple[bytes, bytes], ...]]]:
    """The ways to ask for the same."""
    for method in ("GET", "HEAD"):
        for coding in (
            (),
            ((b"accept-encoding", b"gzip, deflate, br"),),
            ((b"accept-encoding", b"gzip;q=0"),),
        ):
            for condition in ((), ((b"if-none-match", b"*"),), ((b"if-none-match", b'"other"'),)):
                yield method, (*coding, *condition)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """The shipped organizations, one of them active."""
    return Kernel.open(TEMPLATES, active=ORG)


@pytest.mark.parametrize("url", [*get_routes()])
def test_kept_equals_new(kernel: Kernel, url: str) -> None:
    """For every request, a cached answer has the status, the headers and the bytes of a new one."""
    keeping, forgetting = create_app(kernel, cards=CARDS), create_app(kernel, cards=CARDS)
    forgetting.state.answers.cache = ResponseCache(0)
    for _ in range(2):
        for method, headers in requests():
            kept = ask(keeping, url, *headers, method=method)
            assert kept == ask(forgetting, url, *headers, method=method)
            assert kept[0] in (200, 304)
    assert len(forgetting.state.answers.cache) == 0
    assert len(keeping.state.answers.cache) in (
        0,
        2,
    )  # health says what is true now; the others in two codings


def test_every_tagged_answer_is_kept(kernel: Kernel) -> None:
    """Every route that supports conditional requests is answered from the cache the second time."""
    app = create_app(kernel, cards=CARDS)
    urls = [*get_routes()]
    tagged = [url for url in urls if header(ask(app, url), b"etag")]
    assert {*urls} - {*tagged} == UNTAGGED
    assert len(app.state.answers.cache) == len(tagged)
    app.gate._app = None  # whoever is let in now fails
    for url in tagged:
        assert ask(app, url)[0] == 200


def test_codings_do_not_mix(kernel: Kernel) -> None:
    """A client gets an encoding that it accepts, with the matching headers, regardless of earlier callers."""
    app = create_app(kernel)
    for _ in range(2):
        packed = ask(app, ROLE_URL, (b"accept-encoding", b"gzip"))
        plain = ask(app, ROLE_URL)
        assert header(packed, b"content-encoding") == b"gzip"
        assert header(plain, b"content-encoding") is None
        assert gzip.decompress(packed[2]) == plain[2]
        assert header(packed, b"content-length") == str(len(packed[2])).encode()
        assert header(packed, b"etag") != header(plain, b"etag")
        assert header(packed, b"vary") == header(plain, b"vary") == b"accept-encoding"
        tag = (b"if-none-match", header(packed, b"etag") or b"")
        assert ask(app, ROLE_URL, tag, (b"accept-encoding", b"gzip"))[0] == 304
        assert ask(app, ROLE_URL, tag)[0] == 200


def test_small_answers_are_not_compressed(kernel: Kernel) -> None:
    """What fits a packet anyway is sent as it is, and still says that it could depend on the coding."""
    said = ask(create_app(kernel), "/v1/snapshot", (b"accept-encoding", b"gzip"))
    assert len(said[2]) < 1024
    assert header(said, b"content-encoding") is None
    assert header(said, b"vary") == b"accept-encoding"


@pytest.mark.parametrize(
    ("address", "host", "headers"),
    [
        ("10.0.0.1", (HOST,), ()),
        ("127.0.0.1", ((b"host", b"example.org"),), ()),
        ("127.0.0.1", (), ()),
        ("127.0.0.1", (HOST, HOST), ()),
        ("127.0.0.1", (HOST,), ((b"x-forwarded-for", b"127.0.0.1"),)),
        ("127.0.0.1", (HOST,), ((b"X-Forwarded-Host", b"localhost"),)),
        ("127.0.0.1", (HOST,), ((b"forwarded", b"for=127.0.0.1"),)),
        ("127.0.0.1", (HOST,), ((b"via", b"1.1 proxy"),)),
    ],
)  # fmt: skip
def test_who_may_not_ask_gets_nothing_kept(
    kernel: Kernel,
    address: str,
    host: tuple[tuple[bytes, bytes], ...],
    headers: tuple[tuple[bytes, bytes], ...],
) -> None:
    """An answer that lies ready is refused like any other, with the headers every response has."""
    app = create_app(kernel)
    assert ask(app, ROLE_URL)[0] == 200
    for _ in range(2):
        said = ask(app, ROLE_URL, *headers, address=address, host=host)
        assert said[0] == 403
        assert header(said, b"cache-control") == b"no-store"
        assert header(said, b"x-content-type-options") == b"nosniff"
    assert ask(app, ROLE_URL)[0] == 200


def test_request_with_a_body_is_not_answered_from_the_cache(kernel: Kernel) -> None:
    """A body that is too large is refused, announced or not, whatever lies ready."""
    app = create_app(kernel)
    assert ask(app, ROLE_URL)[0] == 200
    large = b"x" * (MAX_BODY + 1)
    announced = (b"content-length", str(len(large)).encode())
    assert ask(app, ROLE_URL, announced, body=large)[0] == 413
    assert ask(app, ROLE_URL, (b"transfer-encoding", b"chunked"), body=large)[0] == 413
    assert ask(app, ROLE_URL, (b"content-length", b"0"))[0] == 200


def test_encoded_slash_is_no_other_route(kernel: Kernel) -> None:
    """A path that decodes to that of a kept answer is not that path."""
    app = create_app(kernel)
    assert ask(app, ROLE_URL)[0] == 200
    scope_path = ROLE_URL.replace("/roles/", "%2Froles%2F")
    assert ask(app, scope_path)[0] == 404


def test_reload_is_visible_at_once(tmp_path: Path) -> None:
    """The first request after a reload is answered from the new version, in every coding, and the old one is dropped."""
    folder = copy_template(tmp_path / ORG, ORG)
    kernel = Kernel.open(folder)
    app = create_app(kernel)
    coded = (b"accept-encoding", b"gzip")
    before = [ask(app, ROLE_URL), ask(app, ROLE_URL, coded)]
    change_line(folder / ROLE_FILE, "role_name: Codegen Specialist", "role_name: Code Writer")
    kernel.reload()
    after = [ask(app, ROLE_URL, coded), ask(app, ROLE_URL)]
    assert b"Code Writer" in after[1][2]
    assert gzip.decompress(after[0][2]) == after[1][2]
    assert {header(each, b"etag") for each in before}.isdisjoint({header(each, b"etag") for each in after})
    assert len(app.state.answers.cache) == 2


def test_failed_reading_is_said_of_kept_answers(kernel: Kernel) -> None:
    """While the documents cannot be read, cached answers are marked as stale; afterwards, they are not."""
    app = create_app(kernel)
    fresh = ask(app, ROLE_URL)
    app.state.answers.reading_problem = "failed"
    for _ in range(2):
        stale = ask(app, ROLE_URL)
        assert (header(stale, b"orgkernel-stale"), stale[2]) == (b"true", fresh[2])
    app.state.answers.reading_problem = None
    assert ask(app, ROLE_URL) == fresh


def test_cache_is_bounded_in_bytes(kernel: Kernel) -> None:
    """The cache stays within its limit of bytes, and the most recently requested answer is dropped last."""
    # One moment: a shipped policy speaks of the time, so every minute would empty the cache.
    app = create_app(kernel.with_store(None, lambda: (1_000_000_800.0, 0)))
    cache = app.state.answers.cache = ResponseCache(120_000)
    roles = kernel.organization(ORG).snapshot.index.roles
    urls = [f"/v1/orgs/{ORG}/roles/{role}" for role in roles]
    urls += [f"/v1/orgs/{ORG}/manifest?limit=1&tool={'x' * number}" for number in range(1, 100)]
    for url in urls:
        ask(app, ROLE_URL)
        ask(app, url)
        assert cache.bytes == sum(each.size for each in cache.kept.values()) <= 120_000
        assert ROLE_URL.encode() in {key[0] for key in cache.kept}
    assert len(cache) < len(urls)


def test_answer_that_would_fill_the_cache_is_not_kept() -> None:
    """One of more than a quarter of the room is answered and forgotten."""
    cache, state = ResponseCache(40_000), object()
    for size in (20_000, 5_000):
        cache.put(
            state, (b"/", b"", "identity", "loopback", False), Representation([], b"x" * size, b'"a"', "/")
        )
    assert [len(each.body) for each in cache.kept.values()] == [5_000]


def test_heads_of_requests_fill_no_memory() -> None:
    """The cache of parsed headers stays small, even if every request has other headers or very long ones."""
    cache = HeadCache()
    for number in range(1_000):
        head = cache.read({"headers": [(b"host", b"localhost"), (b"x-number", str(number).encode())]})
        assert head.hosts == ("localhost",)
    assert len(cache._heads) <= 256
    before = len(cache._heads)
    cache.read({"headers": [(b"host", b"localhost"), (b"x-long", b"x" * 5_000)]})
    assert len(cache._heads) == before


def test_head_says_what_the_headers_say() -> None:
    """Names in any case, values joined, the largest announced length."""
    head = RequestHead(
        (
            (b"If-None-Match", b'"a"'),
            (b"if-none-match", b'"b"'),
            (b"Content-Length", b"7"),
            (b"content-length", b"9"),
        )
    )
    assert (head.conditions, head.body_length, head.has_body, head.hosts) == (b'"a","b"', 9, True, ())
