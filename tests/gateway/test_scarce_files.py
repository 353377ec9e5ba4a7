"""A gateway that has no file descriptors left: what it tells a client has no number, address or path of the process."""

from __future__ import annotations

import json
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.running import until
from tests.gateway.gateways import on_wire, over_http
from tests.gateway.shop import Shop

INTERNALS = re.compile(
    r"Errno|descriptor|\bfd\b|fileno|0x[0-9a-f]{4,}|/proc/|Traceback|Transport|site-packages|\.py\b"
)
SPARE = 2


@contextmanager
def few_files(pid: int) -> Iterator[None]:
    """A process that can open hardly any more files."""
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    most = max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1 + SPARE
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, limits[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def test_no_answer_names_a_part_of_the_process(tmp_path: Path) -> None:
    """On standard input and output, in lists, calls and reads; with descriptors again, everything works."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk", "--list-seconds", "2") as wire:
        assert wire.process.pid is not None
        with few_files(wire.process.pid):
            answers = [
                wire.ask("tools/list"),
                wire.call("box__look"),
                wire.call("orgkernel__request_access", resource="tool:mcp__box__wipe", reason="x"),
                wire.ask("resources/read", uri="file:///a"),
                wire.ask("prompts/get", name="box__greet"),
                wire.ask("nothing/known"),
            ]
        assert INTERNALS.findall(json.dumps(answers)) == []
        until(lambda: wire.text("box__look"), lambda text: text == "look done")


def test_no_answer_over_http_names_a_part_of_the_process(tmp_path: Path) -> None:
    """With connections that are open already."""
    shop = Shop(tmp_path)
    with over_http(shop, "--list-seconds", "2") as http:
        key = http.key("ann")
        assert http.process.pid is not None
        with http.client(key) as calls:
            calls.do("list_prompts")
            with few_files(http.process.pid):
                answers = []
                for method, *arguments in (
                    ("list_tools",),
                    ("call_tool", "crate__look", {}),
                    ("read_resource", "file:///a"),
                ):
                    try:
                        answers.append(repr(calls.do(method, *arguments)))
                    except Exception as error:
                        answers.append(str(error))
        assert INTERNALS.findall(re.sub(r"[A-Z]\w+\(", "", " ".join(answers))) == []
        until(lambda: http.text(key, "crate__look"), lambda text: text == "look done")


def test_an_error_of_our_own_is_in_the_log_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A client of the older era would get its text from the SDK."""
    import asyncio

    from mcp.shared.exceptions import MCPError

    from orgkernel.mcp.server import hide_fault

    async def fail(_: object) -> None:
        raise RuntimeError("File descriptor 14 is used by transport <TCPTransport fd=14>")

    class Request:
        method = "tools/list"

    with pytest.raises(MCPError) as caught:
        asyncio.run(hide_fault(Request(), fail))
    assert INTERNALS.findall(str(caught.value.error)) == []
    assert "descriptor 14" in caplog.text
