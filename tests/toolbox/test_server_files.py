"""Servers of `mcp.json` files for a gateway: variables are filled in only where and if the operator says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orgkernel.errors import UsageError
from orgkernel.toolbox import McpServer
from orgkernel.toolbox.server_files import DeclaredServer, read_server_files


def declared(folder: Path, variables: dict[str, str] | None = None, **server: Any) -> DeclaredServer:
    """What is read of one server."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"s": server}}), encoding="utf-8")
    return read_server_files([str(path)], variables or {})["s"]


@pytest.mark.parametrize("spelling", ["${KEY}", "${env:KEY}", "${KEY:-other}"])
def test_a_variable_that_was_passed_is_filled_in_and_is_a_secret(spelling: str, tmp_path: Path) -> None:
    """In the environment of a process and in headers."""
    process = declared(
        tmp_path, {"KEY": "v4lue", "OTHER": "x"}, command="run", args=["a"], env={"K": spelling}
    )
    assert process.provider == McpServer(("run", "a"), environment={"K": "v4lue"})
    assert process.secrets == {"KEY": "v4lue"}
    http = declared(
        tmp_path, {"KEY": "v4lue"}, url="https://a.example/mcp", headers={"A": f"Bearer {spelling}"}
    )
    assert http.provider == McpServer("https://a.example/mcp", headers={"A": "Bearer v4lue"})
    assert http.secrets == {"KEY": "v4lue"}


def test_a_variable_that_was_not_passed_makes_the_server_unusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken from the environment because a file asks for it."""
    monkeypatch.setenv("KEY", "v4lue")
    server = declared(tmp_path, command="run", env={"K": "${KEY}"})
    assert (server.provider, server.error) == (None, "it needs the variable `KEY`; pass it with --env KEY")
    assert declared(tmp_path, command="run", env={"K": "${KEY:-x}"}).provider == McpServer(
        ("run",), environment={"K": "x"}
    )


def test_a_secret_that_stands_in_the_file_is_one(tmp_path: Path) -> None:
    """By the name under which it stands, without the scheme of a header."""
    headers = {"Authorization": "Bearer v4lue", "Accept-Language": "en-US"}
    assert declared(tmp_path, url="https://a.example", headers=headers).secrets == {"Authorization": "v4lue"}


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"command": "${KEY}"}, "in its command or URL"),
        ({"command": "run", "args": ["--key=${KEY}"]}, "in its command or URL"),
        ({"url": "https://a.example/?key=${KEY}"}, "in its command or URL"),
        (
            {"command": "run", "env": {"A": "${input:key}"}},
            "it uses `${input:key}`, which cannot be filled in",
        ),
        ({"command": "run", "env": {"A": "${KEY"}}, "it uses `${KEY`, which cannot be filled in"),
        ({"command": "run", "env": {"A": 3}}, "its fields are not strings"),
        ({"command": "run", "env": "A=3"}, "its fields have an unexpected form"),
        ({"command": "run", "url": "https://a.example"}, "it has both a `command` and a `url`"),
        ({"url": "file:///etc/passwd"}, "its `url` is not an HTTP address"),
        ({"type": "ws", "url": "https://a.example"}, "its transport `ws` is not supported"),
        ({"url": "http://tools.example:99999/mcp"}, "its `url` is not an HTTP address"),
        ({"url": "http://user:word@/mcp"}, "its `url` is not an HTTP address"),
        ({"command": "run", "cwd": "/"}, "its field `cwd` is not supported"),
        ({"command": "run", "disabled": True}, "it is disabled"),
        ({}, "it has neither a `command` nor a `url`"),
    ],
)
def test_a_server_that_cannot_be_used_says_why(server: Any, said: str, tmp_path: Path) -> None:
    """The others are usable."""
    found = declared(tmp_path, {"KEY": "v4lue"}, **server)
    assert found.provider is None
    assert said in found.error
    assert "v4lue" not in found.error


def test_a_name_is_declared_once(tmp_path: Path) -> None:
    """In all files together; both places are named."""
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text('{"mcpServers": {"s": {"command": "a"}}}', encoding="utf-8")
    second.write_text('{"servers": {\n  "t": {"command": "b"},\n  "s": {"command": "c"}}}', encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_server_files([str(first), str(second)], {})
    assert caught.value.message == f"the server `s` is declared twice: {first}:1:17 and {second}:3:3"
    assert list(read_server_files([str(second)], {})) == ["t", "s"]


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"mcpServers": {}}', '{"mcpServers": 3}'])
def test_a_file_without_servers_is_an_error(text: str, tmp_path: Path) -> None:
    """Of the call, and not of a server."""
    (tmp_path / "mcp.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError):
        read_server_files([str(tmp_path / "mcp.json")], {})


def test_comments_are_read_where_a_host_allows_them(tmp_path: Path) -> None:
    """VS Code does in its `mcp.json`. Claude Code does not in its `.mcp.json`."""
    text = '{\n  // the tracker\n  "servers": {"s": {"command": "run"},}\n}\n'
    for name in ("mcp.json", ".mcp.json"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_server_files([str(tmp_path / "mcp.json")], {})["s"].provider == McpServer(("run",))
    with pytest.raises(UsageError):
        read_server_files([str(tmp_path / ".mcp.json")], {})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """It is not called a file that cannot be read as JSON."""
    with pytest.raises(UsageError, match="there is no file"):
        read_server_files([str(tmp_path / "none.json")], {})
