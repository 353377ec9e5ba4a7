"""The official clients of both lines before the gateway: what the server behind it says, they are told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.api.keys import bearer
from tests.mcp.calling import ERAS, calling, connect
from tests.mcp.serving import EVERYTHING, gateway, gateway_words
from tests.mcp.test_older_client import ENVIRONMENT
from tests.support.patience import PATIENCE
from tests.support.sampling import sample

STDIO = {"command": sys.executable, "args": [str(EVERYTHING)]}


@pytest.fixture(scope="module")
def over_http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URL of a gateway, and a key."""
    with gateway(tmp_path_factory.mktemp("gateway")) as found:
        yield found


def require(told: dict[str, Any]) -> None:
    """What the test server says; tools and prompts have its name before them."""
    assert "everything__test_simple_text" in told["tools"]
    assert told["tools"] == sorted(told["tools"])
    assert told["content"] == ["text", "image", "resource"]
    assert told["failed"][0]
    assert "intentionally" in told["failed"][1]
    assert told["progress"] == ["The tool with progress is done", [[0, 100], [50, 100], [100, 100]]]
    assert told["prompt"] == "Prompt with arguments: arg1='a', arg2='b'"
    assert told["resource"] == "This is the content of the static text resource."


@pytest.mark.parametrize(
    ("transport", "era"),
    sample(
        [
            (transport, era)
            for era, transport in zip((*ERAS, *ERAS), ("stdio", "http", "http", "stdio"), strict=True)
        ],
        itemgetter(1),
    ),
)
def test_the_newer_client(transport: str, era: Any, over_http: tuple[str, str], tmp_path: Path) -> None:
    """In both eras, over HTTP and on standard input and output."""
    progress: list[list[float]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append([done, total or 0])

    if transport == "http":
        server = connect(f"{over_http[0]}", bearer(over_http[1]))
    else:
        command, *arguments = (*gateway_words(tmp_path, STDIO), "--role", "lead")
        server = stdio_client(StdioServerParameters(command=command, args=arguments))
    with calling(server, era) as calls:
        tools = calls.do("list_tools").tools
        failed = calls.call("everything__test_error_handling")
        told = calls.do("call_tool", "everything__test_tool_with_progress", {}, progress_callback=on_progress)
        prompt = calls.do("get_prompt", "everything__test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        require(
            {
                "tools": [tool.name for tool in tools],
                "content": [
                    each.type for each in calls.call("everything__test_multiple_content_types").content
                ],
                "failed": [failed.is_error, failed.content[0].text],
                "progress": [told.content[0].text, progress],
                "prompt": prompt.messages[0].content.text,
                "resource": calls.do("read_resource", "test://static-text").contents[0].text,
            }
        )


@pytest.mark.parametrize("transport", ["http", pytest.param("stdio", marks=pytest.mark.nightly)])
def test_the_older_client(transport: str, over_http: tuple[str, str], tmp_path: Path) -> None:
    """It speaks 2025-11-25, with a server behind that speaks the newer era too."""
    if not ENVIRONMENT.exists():
        pytest.skip("the client of 1.x is not installed: run `make .venv/interop.stamp`")
    words = over_http if transport == "http" else (*gateway_words(tmp_path, STDIO), "--role", "lead")
    done = subprocess.run(
        [ENVIRONMENT, Path(__file__).with_name("older_gateway_client.py"), *words],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["version"] == "2025-11-25"
    require(told)
