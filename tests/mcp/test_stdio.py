"""`orgkernel mcp` as a process: the official client, bytes of 2025-11-25, and clients that misbehave or die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.calling import Calls, calling, sent
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY, TEMPLATES

_PROGRAM = "import sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"
_PATIENCE = 60
WHO = ("--org", "software_dev", "--role", "research_xo", "--path", str(TEMPLATES))


def command(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-c", _PROGRAM, "mcp", *WHO, "--store", str(folder / "state.db"), *more]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calls]:
    """The official client over a process of the command."""
    program, *arguments = command(tmp_path_factory.mktemp("stdio"))
    started = StdioServerParameters(command=program, args=arguments, env=environment())
    with calling(stdio_client(started)) as opened:
        yield opened


class Wire:
    """A process of the command, and its lines."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )  # fmt: skip

    def write(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        return json.loads(line)


@contextmanager
def wired(folder: Path) -> Iterator[Wire]:
    """A connection of 2025-11-25, after its handshake."""
    opened = Wire(folder)
    try:
        client = {"name": "test", "version": "1"}
        opened.write(
            sent(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client),
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        )
        answer = opened.read()["result"]
        assert answer["protocolVersion"] == "2025-11-25"
        assert answer["serverInfo"]["name"] == "orgkernel"
        assert set(answer["capabilities"]) == {"tools", "resources"}
        assert "`can`" in answer["instructions"]
        yield opened
    finally:
        opened.process.kill()
        opened.process.communicate(timeout=_PATIENCE)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A connection that stays open."""
    with wired(tmp_path_factory.mktemp("wire")) as opened:
        yield opened


def test_the_client_of_the_sdk_speaks_the_newest_era(calls: Calls) -> None:
    """It asks, and is answered in the name of the role of the options."""
    assert calls.client.protocol_version == "2026-07-28"
    assert calls.ask("who_am_i")["subject"] == "role:research_xo"
    assert calls.ask("can", resource="tool:search_engine")["outcome"] == "allow"
    assert calls.ask("report", task="reading", state="active")["outcome"] == "stored"


def test_bytes_of_the_older_era_are_answered(wire: Wire) -> None:
    """Nothing of the newer era is in the answers."""
    wire.write(sent(1, "tools/list"))
    listed = wire.read()["result"]
    assert set(listed) == {"tools"}
    wire.write(sent(2, "tools/call", name="can", arguments={"resource": "tool:scheduler"}))
    result = wire.read()["result"]
    assert set(result) <= {"content", "structuredContent", "isError"}
    assert result["structuredContent"]["outcome"] == "deny"


def test_garbage_ends_nothing(wire: Wire) -> None:
    """Lines that are no messages, an argument of a MiB, methods and tools that do not exist."""
    wire.write(
        b"\x00\xff garbage\n", b"[]\n", b'{"jsonrpc":"2.0"}\n', b"[" * 5_000 + b"\n",
        sent(3, "no/such"),
        sent(4, "tools/call", name="shell", arguments={}),
        sent(5, "tools/call", name="can", arguments={"resource": "tool:x", "context": {"input": "y" * 2**20}}),
        sent(6, "ping"),
    )  # fmt: skip
    answers: dict[Any, Any] = {}
    while 6 not in answers or not {3, 4, 5} <= answers.keys():
        answer = wire.read()
        answers[answer.get("id")] = answer
    assert answers[3]["error"]["code"] == -32601
    assert answers[4]["error"]["code"] == -32602
    assert "tools are `who_am_i`" in answers[4]["error"]["message"]
    assert answers[5]["result"]["isError"]
    assert "more than 65536 bytes" in answers[5]["result"]["content"][0]["text"]


def test_a_canceled_question_does_not_delay_the_next(wire: Wire) -> None:
    """What comes after it is answered."""
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    wire.write(
        sent(7, "tools/call", name="dispatch", arguments={"task": "the page is down " * 200}),
        json.dumps(cancelled).encode() + b"\n",
        sent(8, "tools/call", name="who_am_i", arguments={}),
    )
    while (answer := wire.read())["id"] != 8:
        assert answer["id"] == 7
    assert answer["result"]["structuredContent"]["subject"] == "role:research_xo"


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    """At once, with code 0, and without a traceback, although it was sent garbage."""
    with wired(tmp_path) as wire:
        wire.write(b"\x00\xff garbage\n", sent(3, "ping"))
        while wire.read().get("id") != 3:
            pass
        _, said = wire.process.communicate(timeout=_PATIENCE)
        assert wire.process.returncode == 0
        assert b"Traceback" not in said


def test_it_ends_with_a_killed_client(tmp_path: Path) -> None:
    """A process without a client ends."""
    program = (
        "import os, subprocess, sys\n"
        "started = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        'started.stdin.write(b\'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n\'); started.stdin.flush()\n'
        "started.stdout.readline(); print(started.pid, flush=True); sys.stdin.read()\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", program, *command(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert client.stdout is not None
    assert int(client.stdout.readline())
    client.send_signal(signal.SIGKILL)
    # The server has inherited its standard error, which is at its end when nobody has it open any more.
    assert client.communicate(timeout=_PATIENCE)[1] == b""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no caller given"),
        (("--role", "co", "--agent", "clerk"), "exclude each other"),
        (("--role", "coo"), "did you mean `co`?"),
        (("--agent", "nobody"), "no agent `nobody`"),
    ],
)
def test_who_asks_has_to_be_declared(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """A server without a caller does not start."""
    done = run_here("mcp", "--org", "software_dev", "--path", TEMPLATES, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_missing_sdk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = run_here("mcp", *WHO, cwd=tmp_path)
    assert done.returncode == 2
    assert "install the extra `orgkernel[mcp]`" in done.stderr
