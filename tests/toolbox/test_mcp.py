"""MCP servers as tools: over Streamable HTTP, and as a process, both with the official SDK on either side."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from orgkernel import Kernel
from orgkernel.errors import BadToolbox
from orgkernel.toolbox import McpServer, ToolContext
from tests.api.running import until
from tests.support.patience import PATIENCE
from tests.toolbox import mcp_tools
from tests.toolbox.crew import organization, toolbox
from tests.toolbox.serving import nobody, serving

SECRET = "s3cr3t-v4lue-of-the-mailbox"
COMMAND = (sys.executable, str(Path(mcp_tools.__file__)))
asked: list[dict[bytes, bytes]] = []


def _noting(app: ASGIApp) -> ASGIApp:
    async def note(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked.append(dict(scope["headers"]))
        await app(scope, receive, send)

    return note


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = mcp_tools.server.streamable_http_app(stateless_http=True, json_response=True)
    with serving(_noting(app)) as url:
        yield f"{url}/mcp"


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    asked.clear()
    return organization(tmp_path)


@pytest.fixture(params=["http", "process"])
def server(request: pytest.FixtureRequest) -> Any:
    return COMMAND if request.param == "process" else request.getfixturevalue("url")


def ann(kernel: Kernel, provider: McpServer, tool: str = "look", **options: Any) -> ToolContext:
    return toolbox(kernel, timeout=PATIENCE, **{tool: provider}, **options).context("post", "agent:ann")


def test_a_tool_of_a_server_is_called(kernel: Kernel, server: Any) -> None:
    """By the name it has here where the tool has one action."""
    result = ann(kernel, McpServer(server)).invoke_blocking("look", {"where": "there"})
    assert (result.outcome, result.output) == ("done", {"result": "seen there"})


def test_each_action_is_a_tool_of_the_server(kernel: Kernel, server: Any) -> None:
    """As the table says; one that is not in it is not served."""
    context = ann(kernel, McpServer(server, {"read": "read_mail"}), "mail")
    assert context.invoke_blocking("mail", {"id": "3"}, action="read").output == {"id": "3", "key": ""}
    other = context.invoke_blocking("mail", {"id": "3"}, action="write", fallback=False)
    assert (other.outcome, other.error) == ("unavailable", "nothing serves the action `write` of `mail`")


def test_what_the_tool_says_of_its_failure_is_a_result(kernel: Kernel, server: Any) -> None:
    """Failed, and not unavailable."""
    result = ann(kernel, McpServer(server)).invoke_blocking("look", {"where": "nowhere"})
    assert (result.outcome, result.code) == ("failed", "TOOL_FAILED")
    assert result.error == "Error executing tool look"


def test_a_tool_the_server_does_not_have_is_unavailable(kernel: Kernel, server: Any) -> None:
    """Servers say so in the same way as that a tool failed; so its list is asked."""
    result = ann(kernel, McpServer(server, "peer")).invoke_blocking("look", fallback=False)
    assert (result.outcome, result.error) == ("unavailable", "the server has no tool `peer`")


def test_a_server_that_takes_too_long_is_a_result(kernel: Kernel, url: str) -> None:
    """The call is stopped."""
    result = ann(kernel, McpServer(url)).invoke_blocking(
        "look", {"where": "far"}, timeout=1.0, fallback=False
    )
    assert (result.outcome, result.code) == ("timeout", "TIMEOUT")


DEAF = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(60)"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("kind", ["busy", "deaf"])
def test_a_process_that_takes_too_long_is_ended(kind: str, kernel: Kernel, tmp_path: Path) -> None:
    """Also one that does not listen: nothing of it is left."""
    noted = tmp_path / "pid"
    command = COMMAND if kind == "busy" else (sys.executable, "-c", DEAF, str(noted))
    context = ann(kernel, McpServer(command))
    for seconds in (4, PATIENCE):  # a machine that does other things starts it slowly
        result = context.invoke_blocking("look", {"where": f"far {noted}"}, timeout=seconds, fallback=False)
        assert (result.outcome, result.code) == ("timeout", "TIMEOUT")
        if noted.exists() and noted.read_text():
            break
    until(lambda: _runs(int(noted.read_text())), lambda runs: not runs)


@pytest.mark.parametrize(
    "where", [("orgkernel-no-such-command",), (sys.executable, "-c", "pass"), (sys.executable, "-c", "print('hello')")]
)  # fmt: skip
def test_a_command_that_is_no_server_is_unavailable(kernel: Kernel, where: Any) -> None:
    """Whether it does not start, ends at once, or says something else."""
    result = ann(kernel, McpServer(where)).invoke_blocking(
        "look", {"where": "x"}, fallback=False, timeout=PATIENCE
    )
    assert (result.outcome, result.code) == ("unavailable", "TOOL_UNAVAILABLE"), result
    assert result.error


def test_an_address_that_is_no_server_is_unavailable(kernel: Kernel, url: str) -> None:
    """There is no server at the address, or a server of another kind."""
    for where in (f"{nobody()}/mcp", url.replace("/mcp", "/other")):
        result = ann(kernel, McpServer(where)).invoke_blocking("look", {"where": "x"}, fallback=False)
        assert (result.outcome, result.code) == ("unavailable", "TOOL_UNAVAILABLE"), result


def test_credentials_reach_only_the_server(kernel: Kernel, url: str) -> None:
    """As a variable of a process, as a header over HTTP; masked in what comes back."""
    source = {"mailbox": SECRET}.get
    process = McpServer(COMMAND, {"read": "read_mail"}, credential_environment={"MAILBOX_KEY": "mailbox"})
    result = ann(kernel, process, "mail", credentials=source).invoke_blocking(
        "mail", {"id": "1"}, action="read"
    )
    assert result.output == {"id": "1", "key": "***"}
    over_http = McpServer(
        url, {"read": "read_mail"}, credential_headers={"authorization": ("mailbox", "Bearer ")}
    )
    result = ann(kernel, over_http, "mail", credentials=source).invoke_blocking(
        "mail", {"id": "1"}, action="read"
    )
    assert result.ok
    assert {each.get(b"authorization") for each in asked} == {f"Bearer {SECRET}".encode()}
    for provider in (process, over_http):
        result = ann(kernel, provider, "mail").invoke_blocking(
            "mail", {"id": "1"}, action="read", fallback=False
        )
        assert (result.outcome, result.error) == ("unavailable", "the credential `mailbox` is missing")


def test_nothing_of_this_process_is_in_the_environment_of_a_server(kernel: Kernel, monkeypatch: Any) -> None:
    """A server gets what it is given."""
    monkeypatch.setenv("MAILBOX_KEY", "of this process")
    context = ann(kernel, McpServer(COMMAND, {"read": "read_mail"}), "mail")
    assert context.invoke_blocking("mail", {"id": "1"}, action="read").output == {"id": "1", "key": ""}


_REVEALING = """
import json, os, runpy, sys
path, script = sys.argv[1:]
open_files = []
for number in os.listdir("/proc/self/fd"):
    try:
        open_files.append([int(number), os.readlink(f"/proc/self/fd/{number}")])
    except OSError:
        pass  # the listing itself
with open(path, "w") as file:
    json.dump({"environment": dict(os.environ), "files": open_files}, file)
runpy.run_path(script, run_name="__main__")
"""


def test_a_server_gets_named_credentials_and_six_variables(
    kernel: Kernel, monkeypatch: Any, tmp_path: Path
) -> None:
    """The process of a server sees no other variable of the caller, and none of the files that the caller has open."""
    monkeypatch.setenv("MAILBOX_KEY", "of this process")
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "ORGKERNEL_KEY",
        "PYTHONPATH",
        "LD_PRELOAD",
        "SSH_AUTH_SOCK",
        "HTTPS_PROXY",
    ):
        monkeypatch.setenv(name, "" if name in ("PYTHONPATH", "LD_PRELOAD") else SECRET)
    seen = tmp_path / "seen.json"
    command = (sys.executable, "-c", _REVEALING, str(seen), str(Path(mcp_tools.__file__)))
    secret_file = tmp_path / "secret"
    secret_file.write_text(SECRET, encoding="utf-8")
    with secret_file.open() as inherited:
        os.set_inheritable(inherited.fileno(), True)
        context = ann(kernel, McpServer(command, {"read": "read_mail"}), "mail")
        assert context.invoke_blocking("mail", {"id": "1"}, action="read").output == {"id": "1", "key": ""}
    process = json.loads(seen.read_text(encoding="utf-8"))
    allowed = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
    # Python sets it itself if no locale is stated.
    assert set(process["environment"]) - {"LC_CTYPE"} <= allowed
    assert "PATH" in process["environment"]
    assert SECRET not in str(process)
    assert str(secret_file) not in str(process["files"])


def test_an_answer_that_is_too_long_is_a_failure(kernel: Kernel, url: str) -> None:
    """Over HTTP the reading stops at the limit; what a process wrote is not passed on."""
    for server in (COMMAND, url):
        provider = McpServer(server, "read_much", max_bytes=20_000)
        context = ann(kernel, provider)
        assert context.invoke_blocking("look", {"characters": 5_000}).ok
        result = context.invoke_blocking("look", {"characters": 100_000}, fallback=False, timeout=PATIENCE)
        assert result.outcome in ("failed", "unavailable")
        assert result.output is None
        assert "longer than 20000 bytes" in result.error or server is url, result


def test_what_is_no_server_is_refused_at_once(kernel: Kernel, monkeypatch: Any) -> None:
    """And so is one where the SDK is missing."""
    with pytest.raises(BadToolbox, match="an address or a command"):
        ann(kernel, McpServer(()))
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(BadToolbox) as caught:
        ann(kernel, McpServer("http://127.0.0.1/mcp"))
    assert caught.value.help == "install the extra `orgkernel[mcp]`"
