"""Servers are asked for their tools only on request and within a time limit, and their answers are treated as data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.in_process import run_here
from tests.toolbox import mcp_tools
from tests.toolbox.serving import serving

SERVER = {"command": sys.executable, "args": [mcp_tools.__file__], "env": {"A": "b"}}


def declare(folder: Path, **servers: Any) -> None:
    """An `mcp.json` with these servers."""
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def test_servers_are_asked_and_the_answer_is_read(tmp_path: Path) -> None:
    """A process and an address; what is saved beside the file is checked with it."""
    app = mcp_tools.server.streamable_http_app(stateless_http=True, json_response=True)
    with serving(app) as url:
        declare(tmp_path, mails=SERVER, web={"type": "http", "url": f"{url}/mcp"})
        done = run_here("mcp", "tools", "mcp.json", "--connect", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "mcp-tools.json").read_text(encoding="utf-8"))["servers"]
    assert list(saved) == ["mails", "web"]
    assert saved["mails"] == saved["web"]
    assert "look" in [tool["name"] for tool in saved["mails"]["tools"]]
    done = run_here("check", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert "read as MCP: 2 servers" in done.stderr


def test_no_server_is_started_without_the_option(tmp_path: Path) -> None:
    """Without the option, the command only says what it would start."""
    ran = tmp_path / "ran"
    declare(tmp_path, evil={"command": "touch", "args": [str(ran), "\x1b[31m"]})
    done = run_here("mcp", "tools", "mcp.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: nothing was started; `--connect` asks them\n")
    assert "evil  touch" in done.stdout
    assert "\x1b" not in done.stdout
    assert not ran.exists()


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (
            {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]},
            "did not answer within 0.5 seconds",
        ),
        ({"command": "/no/such/program"}, "it cannot be asked"),
        ({"command": sys.executable, "args": ["-c", "print('{')"]}, "it"),
        ({"url": "http://127.0.0.1:9/mcp"}, "it cannot be asked"),
        ({"url": "https://example.test/?key=${TOKEN}"}, "uses variables"),
        ({"command": 3}, "not strings"),
        ({}, "neither"),
    ],
)
def test_a_server_that_does_not_answer(server: Any, said: str, tmp_path: Path) -> None:
    """Nothing is written, and it is said why."""
    declare(tmp_path, s=server)
    done = run_here("mcp", "tools", "mcp.json", "--connect", "--timeout", "0.5", cwd=tmp_path)
    assert done.returncode == 1
    assert "error: server `s`" in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "mcp-tools.json").exists()


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"mcpServers": {}}'])
def test_a_file_without_servers(text: str, tmp_path: Path) -> None:
    """It is an error of the call."""
    (tmp_path / "mcp.json").write_text(text, encoding="utf-8")
    assert run_here("mcp", "tools", "mcp.json", "--connect", cwd=tmp_path).returncode == 2
