"""Secrets that stand in the file of servers: no answer, log or report of a gateway repeats them, whatever they look like."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope, Send

from tests.gateway.gateways import on_wire, over_http
from tests.gateway.shop import Shop
from tests.support.in_process import run_here
from tests.toolbox.serving import serving

SECRETS = {
    "user": "anna-maria",
    "password": "correct horse",
    "query": "summer-of-69",
    "bare": "open-sesame",
    "header": "plain-words",
    "cookie": "a=bcdef",
    "environment": "just-a-word",
    "database": "p4ss",
    "argument": "another-word",
    "option": "third-word",
}
"""Values that no detector of secrets would find."""
ECHO = """
import json, os, sys
given = f"{sys.argv} {dict(os.environ)}"
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "initialize":
        info = {"name": "echo", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": [{"name": "look", "description": given, "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": given}], "isError": "fail" in message["params"]["arguments"]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"""
"""The program of a server that repeats its arguments and its environment."""


def echo_app(failing: str) -> Any:
    """A server that repeats all that it was given, wherever it can."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        basic = base64.b64decode(headers.get("authorization", "").removeprefix("Basic ")).decode()
        given = f"{basic} {scope['query_string'].decode()} {headers}"
        message = json.loads(body or b"{}")
        id, method = message.get("id"), message.get("method")
        kind, status = b"application/json", 200
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id}
        if id is None:
            status = 202
        elif method == failing:
            answer["error"] = {"code": -32000, "message": f"no, {given}"}
        elif method == "initialize":
            info = {"name": "echo", "version": "1"}
            capabilities: dict[str, Any] = {"tools": {}}
            answer["result"] = {
                "protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info,
            }  # fmt: skip
        elif method == "tools/list":
            tool = {"name": "look", "description": f"Looks, {given}", "inputSchema": {"type": "object"}}
            answer["result"] = {"tools": [tool]}
        elif method == "tools/call":
            is_error = bool(message["params"].get("arguments", {}).get("fail"))
            answer["result"] = {"content": [{"type": "text", "text": given}], "isError": is_error}
        else:
            status = 400
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    return app


@contextmanager
def remote_shop(folder: Path, failing: str = "") -> Iterator[Shop]:
    """A shop with a server over HTTP whose declaration has literal secrets."""
    with serving(echo_app(failing)) as url:
        place = urlsplit(url).netloc
        shop = Shop(folder)
        user = f"{SECRETS['user']}:{SECRETS['password'].replace(' ', '%20')}"
        query = f"k={SECRETS['query']}&{SECRETS['bare']}"
        headers = {"X-Team": SECRETS["header"], "Cookie": SECRETS["cookie"]}
        crate = {"url": f"http://{user}@{place}/mcp?{query}", "headers": headers}
        shop.declare({"box": shop.box.command, "crate": crate})
        yield shop


def find_secrets(*texts: str) -> list[str]:
    """The names of the secrets that are in some texts."""
    text = "\n".join(texts)
    return [name for name, value in SECRETS.items() if value in text]


@pytest.mark.parametrize("failing", ["", "initialize", "tools/list", "tools/call"])
def test_no_answer_and_no_log_repeats_a_url_or_a_header(tmp_path: Path, failing: str) -> None:
    """Over both ways, in results, errors, lists, and on standard error."""
    with remote_shop(tmp_path, failing) as shop:
        with on_wire(shop, "--role", "clerk") as wire:
            answers = [wire.ask("tools/list"), wire.call("crate__look"), wire.call("crate__look", fail=True)]
            assert find_secrets(json.dumps(answers), wire.errors) == []
        with over_http(shop) as http:
            key = http.key("ann")
            more = [
                http.ask(key, "tools/list"),
                http.ask(key, "tools/call", name="crate__look", arguments={}),
            ]
            assert find_secrets(json.dumps(more), http.errors) == []
        if failing in ("", "tools/call"):
            assert "***" in json.dumps(answers)
        lock = shop.lock.read_text(encoding="utf-8")
        assert find_secrets(lock) == []
        options = ["--mcp-config", str(shop.config), "--lock", str(shop.lock)]
        done = run_here("gateway", "accept", *options, cwd=shop.folder)
        assert find_secrets(done.stdout, done.stderr) == []
        done = run_here("mcp", "tools", str(shop.config), "--connect", "--server", "crate", cwd=shop.folder)
        saved = shop.folder / "tools.json"
        assert (
            find_secrets(
                done.stdout, done.stderr, saved.read_text(encoding="utf-8") if saved.exists() else ""
            )
            == []
        )


def test_no_answer_repeats_an_environment_or_an_option(tmp_path: Path) -> None:
    """A literal under a name that says nothing is a secret too, and so is the password of a database."""
    shop = Shop(tmp_path)
    program = tmp_path / "echo.py"
    program.write_text(
        ECHO,
        encoding="utf-8",
    )
    environment = {
        "WORD": SECRETS["environment"], "DATABASE_URL": f"postgres://app:{SECRETS['database']}@db/x", "NODE_ENV": "production",
    }  # fmt: skip
    arguments = [
        str(program),
        "--access-token",
        SECRETS["argument"],
        "--header",
        f"X-Auth: {SECRETS['option']}",
    ]
    crate = {"command": sys.executable, "args": arguments, "env": environment}
    shop.declare({"box": shop.box.command, "crate": crate})
    with on_wire(shop, "--role", "clerk") as wire:
        answers = [wire.ask("tools/list"), wire.call("crate__look"), wire.call("crate__look", fail=True)]
        assert find_secrets(json.dumps(answers), wire.errors) == []
        assert "production" in json.dumps(answers[1])
    done = run_here("mcp", "tools", str(shop.config), cwd=shop.folder)
    assert find_secrets(done.stdout, done.stderr) == []
    assert "--access-token ***" in done.stdout


def test_no_finding_repeats_a_line_with_a_secret(tmp_path: Path) -> None:
    """Two files declare one server differently; the excerpt of the finding shows its line, and masks it."""
    (tmp_path / "web").mkdir()
    url = f"https://{SECRETS['user']}@a.example/mcp?k={SECRETS['query']}"
    first = {"tracker": {"url": url, "headers": {"X-Team": SECRETS["header"]}}}
    second = {"tracker": {"command": "x", "env": {"WORD": SECRETS["environment"]}}}
    role = "---\nname: ann\ndescription: Works.\ntools: Read, mcp__tracker\n---\nWork.\n"
    for folder, servers in ((tmp_path, first), (tmp_path / "web", second)):
        (folder / ".claude" / "agents").mkdir(parents=True)
        name = "ann" if folder == tmp_path else "bea"
        (folder / ".claude" / "agents" / f"{name}.md").write_text(role.replace("ann", name), encoding="utf-8")
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    done = run_here("check", "--format", "full", str(tmp_path), cwd=tmp_path)
    assert "ORG746" in done.stdout
    assert find_secrets(done.stdout, done.stderr) == []
