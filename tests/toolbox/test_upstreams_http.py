"""Upstream servers over HTTP: whatever one answer does, the other calls of the same connection go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from orgkernel.engines import EnginesOff
from orgkernel.toolbox import McpServer
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstreams import Upstream, UpstreamReply
from tests.support.patience import PATIENCE
from tests.toolbox import hostile_app, upstream_server
from tests.toolbox.serving import nobody, serving
from tests.toolbox.upstream_running import run, text

LIMITS = UpstreamLimits(max_bytes=300_000)


@pytest.fixture
def url() -> Iterator[str]:
    hostile_app.received.clear()
    with serving(hostile_app.app) as url:
        yield f"{url}/mcp"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("never", "timeout", "it did not answer within 2 seconds"),
        ("endless", "failed", "Failed to parse JSON response: the answer is longer than 300000 bytes"),
        ("endless_event", "failed", "SSE stream ended without a response"),
        ("flood", "failed", "SSE stream ended without a response"),
        ("cut", "failed", "SSE stream ended without a response"),
        ("garbage", "failed", "Failed to parse JSON response: "),
        ("page", "failed", "its answer is neither JSON nor an event stream"),
        ("failing", "failed", "it answered with HTTP status 500"),
        ("refused", "failed", "no such thing (-32602)"),
        ("away", "failed", "it answered with HTTP status 404 (-32601)"),
        ("accepted", "failed", "server answered a request with 202 Accepted"),
        ("elsewhere", "failed", "it answered with HTTP status 307, a redirect that is not followed (-32603)"),
    ],
)
def test_a_bad_answer_fails_only_its_own_call(name: str, kind: str, said: str, url: str) -> None:
    """Others are answered meanwhile and after it, by the same connection."""
    run(partial(_fail_alone, name, kind, said, "initialize"), McpServer(url), LIMITS)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("never", "timeout", "it did not answer within 2 seconds"),
        ("endless", "failed", "its answer is longer than 300000 bytes"),
        ("endless_event", "failed", "its answer is longer than 300000 bytes"),
        ("flood", "failed", "its answer is longer than 300000 bytes"),
        ("cut", "failed", "its answer ended too early"),
        ("garbage", "failed", "it answered with HTTP status 200, and with nothing that can be read"),
        ("page", "failed", "it answered with HTTP status 200, and with nothing that can be read"),
        ("failing", "failed", "it answered with HTTP status 500, and with nothing that can be read"),
        ("refused", "failed", "no such thing (-32602)"),
        ("away", "failed", "it answered with HTTP status 404, and with nothing that can be read (-32601)"),
        ("accepted", "failed", "it answered with HTTP status 202, and with nothing that can be read"),
        ("elsewhere", "failed", "it answered with HTTP status 307, a redirect that is not followed (-32603)"),
    ],
)
def test_a_bad_answer_without_a_session_fails_only_its_own_call(
    name: str, kind: str, said: str, url: str
) -> None:
    """The same holds for calls that do not go through the SDK."""
    modern = McpServer(url.replace("/mcp", "/modern"))
    run(partial(_fail_alone, name, kind, said, "server/discover"), modern, LIMITS)


@pytest.mark.parametrize("engine", ["engine", "plain"])
@pytest.mark.parametrize(
    ("name", "kind", "is_uncertain"),
    [
        ("never", "timeout", True),
        ("endless", "failed", True),
        ("cut", "failed", True),
        ("garbage", "failed", True),
        ("failing", "failed", True),
        ("refused", "failed", False),
        ("away", "failed", False),
    ],
)
def test_calls_with_and_without_the_engine_end_alike(
    name: str, kind: str, is_uncertain: bool, engine: str, url: str
) -> None:
    """The SDK words some errors otherwise; whether a call may have had an effect is the same, and so are results."""

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call("echo", {"text": "ü"})) == "echo"
        reply = await upstream.call(name, {}, seconds=2 if name == "never" else 20)
        assert (reply.result, reply.kind, reply.is_uncertain) == (None, kind, is_uncertain)
        assert text(await upstream.call("echo", {})) == "echo"
        assert (next(iter(upstream._open))._tool_client is None) == (engine == "plain")

    with EnginesOff(*(["http_client"] if engine == "plain" else [])):
        run(test, McpServer(url.replace("/mcp", "/modern")), LIMITS)


async def _fail_alone(name: str, kind: str, said: str, start: str, upstream: Upstream) -> None:
    assert text(await upstream.call("echo", {})) == "echo"
    progress = None if start == "server/discover" else _ignore
    bad = asyncio.create_task(
        upstream.call(name, {}, seconds=2 if name == "never" else 20, on_progress=progress)
    )
    for _ in range(10):
        assert text(await upstream.call("echo", {})) == "echo"
    reply = await bad
    may_have_run = name not in ("refused", "away")
    assert (reply.kind, reply.error[: len(said)], reply.is_uncertain) == (kind, said, may_have_run)
    assert text(await upstream.call("echo", {})) == "echo"
    assert [each["method"] for each in hostile_app.received].count(start) == 1


@pytest.mark.parametrize("era", ["mcp", "modern"])
@pytest.mark.parametrize(("name", "said"), [("broken", ""), ("compressed", "its connection broke: ")])
def test_a_broken_answer_may_have_had_an_effect(name: str, said: str, era: str, url: str) -> None:
    """It is not sent again."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call(name, {})
        assert (reply.result, reply.is_uncertain) == (None, True)
        assert reply.error.startswith(said), reply
        assert text(await upstream.call("echo", {})) == "echo"
        calls = [each for each in hostile_app.received if each["method"] == "tools/call"]
        assert len(calls) == 2

    run(test, McpServer(url.replace("mcp", era)), LIMITS)


async def _ignore(*_: object) -> None:
    pass


@pytest.mark.parametrize("era", ["mcp", "modern"])
def test_a_redirect_within_the_server_is_followed(era: str, url: str) -> None:
    """A server that wants a slash at the end of its path is reached."""

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call("next_door", {})) == "next_door"
        assert text(await upstream.call("echo", {})) == "echo"

    run(test, McpServer(url.replace("mcp", era)), LIMITS)


@pytest.mark.parametrize("era", ["mcp", "modern"])
@pytest.mark.parametrize(
    "name",
    ["elsewhere", "elsewhere_in_json", "elsewhere_without_end", "elsewhere_with_a_user", "elsewhere_by_type"],
)
def test_no_text_of_a_refused_redirect_is_repeated(
    name: str, era: str, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the body nor the location is in the error or in a log, and other calls go on."""

    async def test(upstream: Upstream) -> None:
        for progress in (None, _ignore):
            reply = await upstream.call(name, {}, on_progress=progress)
            assert (reply.result, reply.kind) == (None, "failed"), reply
            assert hostile_app.ADVICE.decode() not in reply.error
            assert text(await upstream.call("echo", {})) == "echo"
        assert hostile_app.ADVICE.decode() not in caplog.text

    run(test, McpServer(url.replace("mcp", era)), LIMITS)


def test_a_server_that_forgot_its_session_gets_a_new_one() -> None:
    """The call is sent again, because a server that does not know the session did not begin with it."""
    forgotten: list[str] = []

    def forgetting(app: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            session = dict(scope.get("headers", ())).get(b"mcp-session-id")
            if session is not None and session.decode() in forgotten:
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            if session is not None:
                sessions.append(session.decode())
            await app(scope, receive, send)

        return answer

    sessions: list[str] = []

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call("echo", {"text": "a"})) == "a"
        forgotten.extend(sessions)
        assert text(await upstream.call("echo", {"text": "b"})) == "b"
        assert len(set(sessions)) == 2

    app = upstream_server.older(upstream_server.build().streamable_http_app())
    with serving(forgetting(app)) as url:
        run(test, McpServer(f"{url}/mcp"))


def test_a_server_that_is_away_is_found_again_when_it_is_back() -> None:
    """On the same address; calls in between say that it cannot be reached, and had no effect."""
    port = int(nobody().rpartition(":")[2])

    async def test(upstream: Upstream) -> None:
        for _ in range(2):
            with serving(upstream_server.build().streamable_http_app(), port) as url:
                assert url.endswith(str(port))
                reply = await asyncio.wait_for(_until_done(upstream), PATIENCE)
                assert text(reply) == "a"
            reply = await upstream.call("echo", {"text": "b"})
            assert (reply.kind, reply.is_uncertain) == ("unavailable", False), reply
            assert "cannot be reached" in reply.error

    run(test, McpServer(f"http://127.0.0.1:{port}/mcp"), UpstreamLimits(first_wait=0.05))


async def _until_done(upstream: Upstream) -> UpstreamReply:
    while (reply := await upstream.call("echo", {"text": "a"})).result is None:
        await asyncio.sleep(0.05)
    return reply
