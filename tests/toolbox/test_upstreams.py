"""Connections to upstream servers: shared, started when needed, limited, and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from orgkernel.toolbox import McpServer
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstreams import Upstream, UpstreamError, UpstreamReply
from orgkernel.toolbox.upstream_tools import open_servers
from tests.support.patience import PATIENCE
from tests.toolbox import hostile_server, upstream_server
from tests.toolbox.serving import serving, silent
from tests.toolbox.upstream_running import hostile, run, runs, text, until

SECRET = "s3cr3t-v4lue-of-the-key"
SMALL = UpstreamLimits(max_bytes=200_000, call_seconds=PATIENCE, start_seconds=PATIENCE)


@pytest.fixture(params=["process", "http", "older http"])
def server(request: pytest.FixtureRequest) -> Iterator[McpServer]:
    if request.param == "process":
        yield McpServer((sys.executable, str(Path(upstream_server.__file__))))
        return
    app = upstream_server.build().streamable_http_app()
    with serving(upstream_server.older(app) if request.param == "older http" else app) as url:
        yield McpServer(f"{url}/mcp", headers={"authorization": f"Bearer {SECRET}"})


def test_a_tool_is_called_in_the_era_of_its_server(server: McpServer) -> None:
    """Over HTTP and with a process, and nothing is listed for it."""

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call("echo", {"text": "é"})) == "é"
        unknown = await upstream.call("unknown", {})
        assert unknown.kind == "failed" or text(unknown).startswith("Unknown tool")

    run(test, server)


def test_lists_prompts_and_resources_pass(server: McpServer) -> None:
    """As the server says them."""

    async def test(upstream: Upstream) -> None:
        tools = {tool["name"]: tool for tool in await upstream.tools()}
        assert tools["echo"]["inputSchema"]["required"] == ["text"]
        assert [each["name"] for each in await upstream.prompts()] == ["greet"]
        assert [each["uri"] for each in await upstream.resources()] == ["notes://all"]
        assert [each["uriTemplate"] for each in await upstream.resource_templates()] == ["notes://{name}"]
        prompt = await upstream.get_prompt("greet", {"name": "ann"})
        assert prompt["messages"][0]["content"]["text"] == "hello ann"
        assert (await upstream.read_resource("notes://b"))["contents"][0]["text"] == "note b"
        with pytest.raises(UpstreamError):
            await upstream.get_prompt("unknown")

    run(test, server)


def test_progress_is_passed_on(server: McpServer) -> None:
    """In order, before the call returns; a receiver that fails does not fail the call."""

    async def test(upstream: Upstream) -> None:
        seen: list[Any] = []

        async def receive(*report: Any) -> None:
            seen.append(report)

        async def fail(*_: Any) -> None:
            raise ValueError

        assert text(await upstream.call("count", {"to": 3}, on_progress=receive)) == "counted"
        assert seen == [(step, 3.0, f"step {step}") for step in range(3)]
        assert text(await upstream.call("count", {"to": 3}, on_progress=fail)) == "counted"

    run(test, server)


@pytest.mark.parametrize("how", ["cancelled", "timeout"])
def test_a_call_that_is_given_up_is_cancelled_at_the_server(
    server: McpServer, how: str, tmp_path: Path
) -> None:
    """Only this call, whether its caller is cancelled or its time is over."""
    notes = tmp_path / "notes"

    async def test(upstream: Upstream) -> None:
        seconds = 4.0 if how == "timeout" else None
        await upstream.call("echo", {"text": "warm"})
        given_up = asyncio.create_task(upstream.call("wait", {"notes": str(notes)}, seconds=seconds))
        await until(lambda: notes.exists() and notes.read_text() == "started")
        other = asyncio.create_task(upstream.call("count", {"to": 2}))
        if how == "cancelled":
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
        else:
            reply = await given_up
            assert (reply.kind, reply.is_uncertain) == ("timeout", True)
            assert reply.error == "it did not answer within 4 seconds"
        await until(lambda: notes.read_text() == "cancelled")
        assert text(await other) == "counted"
        assert text(await upstream.call("echo", {"text": "again"})) == "again"

    run(test, server)


def test_what_a_server_asks_is_refused(server: McpServer) -> None:
    """It is never left waiting, and the call may have had an effect."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("ask", {})
        assert (reply.result, reply.kind, reply.is_uncertain) == (None, "failed", True)

    run(test, server)


def test_a_list_is_kept_until_the_server_says_that_it_changed(server: McpServer) -> None:
    """The list is requested again, and subscribers are informed once."""
    changed: list[str] = []

    async def test(upstream: Upstream) -> None:
        await upstream.call("echo", {"text": "warm"})
        if upstream.era == "2026-07-28":
            await until(lambda: bool(upstream._connection and upstream._connection.announces_changes))
        before = await upstream.tools()
        assert await upstream.tools() is before
        await upstream.call("change", {})
        if upstream.era == "2026-07-28":  # a server of the SDK announces it to subscribers only
            await until(lambda: changed == ["u"])
            names = [tool["name"] for tool in await upstream.tools()]
            assert names == [*(tool["name"] for tool in before), "added"]

    run(test, server, on_change=changed.append)


def test_an_argument_that_belongs_in_a_header_gets_there() -> None:
    """Without a list before: the server refuses once, then the list is asked for, and the call is sent again."""

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call("header", {"region": "north"})) == "north"

    with serving(upstream_server.build().streamable_http_app()) as url:
        run(test, McpServer(f"{url}/mcp"))


def test_secrets_are_masked_in_what_comes_back(server: McpServer) -> None:
    """In results and in errors."""

    async def test(upstream: Upstream) -> None:
        assert SECRET not in str(await upstream.call("key", {}))
        assert text(await upstream.call("echo", {"text": f"<{SECRET}>"})) == "<***>"

    run(test, server, secrets={"KEY": SECRET})


def test_nothing_starts_before_it_is_needed_and_one_connection_serves_many_callers() -> None:
    """The first of many waiting callers starts the process, and all calls reach the same one."""

    async def test(upstream: Upstream) -> None:
        assert upstream.status.state == "not_started"
        calls = [asyncio.create_task(upstream.call("pid", {})) for _ in range(20)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert upstream.status.state == "starting"
        calls[0].cancel()
        replies = await asyncio.gather(*calls[1:])
        assert len({text(reply) for reply in replies}) == 1
        assert upstream.status.state == "running"

    run(test, hostile())


def test_the_result_of_a_tool_is_what_the_server_sent() -> None:
    """Nothing is renamed or left out, also what the protocol does not know."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("hello", {})
        assert reply == UpstreamReply({"content": [{"type": "text", "text": "hello"}], "x-extra": 1})
        tools = await upstream.tools()
        assert tools[0] == hostile_server.ECHO
        assert len(tools) == 2

    run(test, hostile())


def test_a_dead_process_fails_its_calls_and_is_started_by_the_next_one() -> None:
    """All sixteen calls in flight may have had an effect, and each is told why."""

    async def test(upstream: Upstream) -> None:
        process = int(text(await upstream.call("pid", {})))
        calls = [asyncio.create_task(upstream.call("never", {})) for _ in range(16)]
        await asyncio.create_task(upstream.call("echo", {}))  # the server reads one after the other
        os.kill(process, signal.SIGKILL)
        for reply in await asyncio.gather(*calls):
            assert reply == UpstreamReply(None, "it was ended by SIGKILL", "unavailable", True)
        assert upstream.status.state == "waiting"
        assert upstream.status.reason == "it was ended by SIGKILL"
        assert int(text(await upstream.call("pid", {}))) != process

    run(test, hostile())


def test_a_process_that_dies_in_a_call_says_how() -> None:
    """With its exit code."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("die", {})
        assert reply == UpstreamReply(None, "it ended with exit code 9", "unavailable", True)

    run(test, hostile())


def test_repeated_quick_deaths_make_callers_wait_longer_and_longer() -> None:
    """A caller is not kept waiting, but told when it may come again."""
    limits = UpstreamLimits(first_wait=10 * PATIENCE, longest_wait=10 * PATIENCE, start_seconds=PATIENCE)

    async def test(upstream: Upstream) -> None:
        for _ in range(2):
            reply = await upstream.call("echo", {})
            assert reply == UpstreamReply(None, "it ended with exit code 3", "unavailable")
        reply = await upstream.call("echo", {})
        assert reply.error.startswith("it ended with exit code 3; it can be tried again in ")
        assert (upstream.status.state, upstream.status.retry_in > PATIENCE) == ("waiting", True)
        with pytest.raises(UpstreamError, match="tried again"):
            await upstream.tools()

    run(test, hostile("ends"), limits)


def test_after_the_wait_it_is_tried_again() -> None:
    """The wait doubles each time."""
    limits = UpstreamLimits(first_wait=0.5, start_seconds=PATIENCE)

    async def test(upstream: Upstream) -> None:
        for _ in range(4):
            await asyncio.sleep(upstream.status.retry_in)
            assert (await upstream.call("echo", {})).error == "it ended with exit code 3"
        assert 0.5 < upstream.status.retry_in <= 2

    run(test, hostile("ends"), limits)


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        (McpServer(("/no/such/program",)), "it could not be started: no such file or directory: `/no/such/program`"),
        (McpServer((sys.executable, "-c", "print('hello')")), "it ended with exit code 0"),
        (hostile("silent"), "it did not start within 2 seconds"),
        (hostile("flood"), "it did not start within 2 seconds"),
        (McpServer((sys.executable, "-c", "import time; time.sleep(60)")), "it did not start within 2 seconds"),
        (McpServer("http://127.0.0.1:9/mcp"), "it cannot be reached: connection refused"),
        (McpServer("http://127.0.0.1:9/mcp", credential_headers={"a": ("key", "")}), "the credential `key` is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_started_says_why(provider: McpServer, said: str) -> None:
    """Nothing was called."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("echo", {})
        assert (reply.kind, reply.is_uncertain, reply.error[: len(said)]) == ("unavailable", False, said)

    run(test, provider, UpstreamLimits(start_seconds=2 if said.endswith("within 2 seconds") else PATIENCE))


def test_an_address_that_never_answers_does_not_start() -> None:
    """It takes connections, and that is all."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("echo", {})
        assert reply.error == "it did not start within 1 seconds"

    with silent() as url:
        run(test, McpServer(f"{url}/mcp"), UpstreamLimits(start_seconds=1))


def test_an_endless_line_ends_the_connection_and_not_the_memory() -> None:
    """At the limit; the next call gets a new process."""

    async def test(upstream: Upstream) -> None:
        for name in ("endless_line", "large"):
            reply = await upstream.call(name, {})
            said = "it sent a message that is longer than 200000 bytes"
            assert reply == UpstreamReply(None, said, "unavailable", True)
            assert text(await upstream.call("echo", {})) == "echo"

    run(test, hostile(), UpstreamLimits(max_bytes=200_000, first_wait=0))


@pytest.mark.parametrize("server", ["http", "older http"], indirect=True)
def test_a_too_long_answer_over_http_fails_only_its_own_call(server: McpServer) -> None:
    """Other calls of the same connection go on."""

    async def test(upstream: Upstream) -> None:
        await upstream.call("echo", {"text": "warm"})
        other = asyncio.create_task(upstream.call("count", {"to": 30}))
        reply = await upstream.call("large", {"characters": 1_000_000})
        assert (reply.result, reply.is_uncertain) == (None, True)
        assert text(await other) == "counted"
        assert upstream.status.state == "running"

    run(test, server, UpstreamLimits(max_bytes=200_000))


@pytest.mark.parametrize("name", ["garbage", "flood", "flood_wrong", "answers", "change"])
def test_noise_delays_a_call_and_does_not_harm_it(name: str) -> None:
    """Lines that are no messages, notifications without end, answers to nothing."""

    async def test(upstream: Upstream) -> None:
        assert text(await upstream.call(name, {"times": 1500})) == name
        assert text(await upstream.call("echo", {})) == "echo"

    run(test, hostile())


def test_a_change_that_is_announced_often_is_told_once() -> None:
    """Until the list is asked for again."""
    changed: list[str] = []

    async def test(upstream: Upstream) -> None:
        before = await upstream.tools()
        assert await upstream.tools() is before
        await upstream.call("change", {})
        await upstream.call("change", {})
        assert changed == ["u"]
        assert await upstream.tools() == before

    run(test, hostile(), on_change=changed.append)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("endless_pages", "its list has more than 100 pages"),
        ("huge_list", "its list has more than 1000000 bytes"),
        ("wrong_list", "its answer has an unexpected form"),
    ],
)
def test_a_list_has_limits(how: str, said: str) -> None:
    """And calls go on."""

    async def test(upstream: Upstream) -> None:
        with pytest.raises(UpstreamError) as caught:
            await upstream.tools()
        assert (caught.value.error, caught.value.kind) == (said, "protocol")
        assert await upstream.prompts() == ()
        assert text(await upstream.call("echo", {})) == "echo"

    run(test, hostile(how), UpstreamLimits(max_bytes=1_000_000))


@pytest.mark.parametrize(
    ("how", "name", "kind", "said"),
    [
        ("", "wrong", "protocol", "its answer has an unexpected form"),
        ("modern", "echo", "protocol", "its answer has an unexpected form"),
        ("modern", "input", "protocol", "it asks for input, which is not supported"),
        ("", "error", "failed", "no (31m hidden yyy"),
        ("", "surrogate", "failed", "its answer cannot be read"),
        ("", "deep", "failed", "its answer cannot be read"),
    ],
)
def test_a_wrong_answer_is_an_error_in_clean_words(how: str, name: str, kind: str, said: str) -> None:
    """On one line, without control characters, and not long."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call(name, {})
        assert (reply.kind, reply.result, reply.is_uncertain) == (kind, None, True)
        assert reply.error.startswith(said)
        assert len(reply.error) < 600

    run(test, hostile(how))


def test_each_question_of_a_server_gets_a_refusal() -> None:
    """Requests for sampling, elicitation and roots, and unknown ones."""

    async def test(upstream: Upstream) -> None:
        assert json.loads(text(await upstream.call("ask", {}))) == [[f"s{each}", True] for each in range(4)]

    run(test, hostile())


def test_calls_beyond_the_limit_wait_in_their_own_time() -> None:
    """A call that was never sent had no effect."""

    async def test(upstream: Upstream) -> None:
        await upstream.call("echo", {})
        blocked = asyncio.create_task(upstream.call("never", {}, seconds=3))
        await asyncio.sleep(0)
        reply = await upstream.call("echo", {}, seconds=0.3)
        assert (reply.kind, reply.is_uncertain) == ("timeout", False)
        assert (await blocked).is_uncertain
        assert text(await upstream.call("echo", {})) == "echo"

    run(test, hostile(), UpstreamLimits(most_calls_at_once=1, start_seconds=PATIENCE))


def test_a_server_that_does_not_read_delays_no_other_call() -> None:
    """Calls end in their time, and so does the connection."""

    async def test(upstream: Upstream) -> None:
        await upstream.call("echo", {})
        busy = asyncio.create_task(upstream.call("slow", {"seconds": 600}))
        large = {"text": "x" * 500_000}
        replies = await asyncio.gather(*(upstream.call("echo", large, seconds=1) for _ in range(8)))
        assert {reply.kind for reply in replies} == {"timeout"}
        busy.cancel()
        await asyncio.wait([busy])

    run(test, hostile())


def test_a_hostile_server_harms_no_other() -> None:
    """Calls of a good one are answered while others flood, hang, die and write without end."""

    async def test(good: Upstream) -> None:
        names = ("flood", "endless_line", "never", "die", "garbage")
        bad = {name: Upstream(name, hostile(), SMALL) for name in names}
        calls = [asyncio.create_task(bad[name].call(name, {"times": 10**7}, seconds=3)) for name in names]
        calls.append(asyncio.create_task(Upstream("f", hostile("flood"), SMALL).call("echo", {}, seconds=3)))
        for number in range(30):
            assert text(await good.call("echo", {"text": str(number)}, seconds=PATIENCE)) == str(number)
            await asyncio.sleep(0.02)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*(each.aclose() for each in bad.values()))

    run(test, McpServer((sys.executable, str(Path(upstream_server.__file__)))))


def test_a_crowd_of_servers_does_not_start_at_once(tmp_path: Path) -> None:
    """Sixteen of them start, and the next one when one of them is done with it."""
    wait = ["-c", 'touch "$0"; exec sleep 600']
    declared = {
        f"s{each}": {"command": "sh", "args": [*wait, str(tmp_path / f"{each}.started")]}
        for each in range(18)
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": declared}), encoding="utf-8")

    def started() -> int:
        return len(list(tmp_path.glob("*.started")))

    async def test() -> None:
        upstreams, _ = open_servers([str(tmp_path / "mcp.json")], {})
        asked = [asyncio.create_task(each.tools()) for each in upstreams]
        await until(lambda: started() == 16)
        await asyncio.sleep(0.2)
        assert started() == 16
        await upstreams[0].aclose()
        await until(lambda: started() == 17)
        await asyncio.gather(*(each.aclose() for each in upstreams))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(each) for each in answers} == {UpstreamError}

    asyncio.run(asyncio.wait_for(test(), PATIENCE))


@pytest.mark.parametrize("how", ["", "stays"])
def test_nothing_is_left_after_the_end(how: str) -> None:
    """Neither the process nor its children, also if it does not leave by itself."""

    async def test(upstream: Upstream) -> None:
        process = int(text(await upstream.call("pid", {})))
        child = int(text(await upstream.call("child", {})))
        blocked = asyncio.create_task(upstream.call("never", {}))
        await asyncio.sleep(0.1)
        await upstream.aclose()
        assert (await blocked).kind == "unavailable"
        await until(lambda: not runs(process) and not runs(child))
        assert await upstream.call("echo", {}) == UpstreamReply(None, "it was closed", "unavailable")

    run(test, hostile(how))


def test_a_list_is_read_once_for_all_who_wait(tmp_path: Path) -> None:
    """Also if the first one who wanted it does not wait any more."""
    notes = tmp_path / "notes"

    async def test(upstream: Upstream) -> None:
        asked = [asyncio.create_task(upstream.tools()) for _ in range(10)]
        await until(lambda: notes.exists() and "tools/list" in notes.read_text())
        asked[0].cancel()
        found = await asyncio.gather(*asked[1:])
        assert all(each is found[0] for each in found)
        assert notes.read_text().count('"tools/list"') == 2  # two pages

    run(test, hostile("", notes))


def test_a_server_with_one_event_stream() -> None:
    """It is called within the limits of a message, and connected again after a message that is too long or an end."""
    server = MCPServer("box", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def repeat(times: int) -> str:
        """Answers with many letters."""
        return "a" * times

    async def test(upstream: Upstream) -> None:
        assert [each["name"] for each in await upstream.tools()] == ["repeat"]
        for times in (10, 90_000, 90_000):
            assert len(text(await upstream.call("repeat", {"times": times}))) == times
        long = await upstream.call("repeat", {"times": 200_000})
        assert (long.error, long.is_uncertain) == ("its message is longer than 100000 bytes", True)
        assert text(await upstream.call("repeat", {"times": 1})) == "a"

    with serving(server.sse_app()) as url:
        run(test, McpServer(f"{url}/sse", transport="sse", max_bytes=100_000))
        with pytest.raises(UpstreamError, match="HTTP status 404"):
            run(_list_tools, McpServer(f"{url}/elsewhere", transport="sse"))


async def _list_tools(upstream: Upstream) -> None:
    await upstream.tools()
