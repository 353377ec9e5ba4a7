"""An MCP server, written by hand and mostly of the era with a handshake, that does whatever a test wants.

    hostile_server.py [HOW] [NOTES]

HOW is how it starts or lists. What it receives is written to NOTES, one message in a line. The name of a called tool is
what it does. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
NOTES = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(os.devnull)
ECHO: dict[str, Any] = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"a": {"default": None}}},
}


def write(**message: Any) -> None:
    """Send one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def done(id: Any, text: str) -> None:
    """The result of a tool."""
    write(id=id, result={"content": [{"type": "text", "text": text}], "x-extra": 1})


def initialize(id: Any) -> None:
    """The handshake."""
    if HOW == "ends":
        sys.exit(3)
    if HOW == "silent":
        return
    capabilities = {"tools": {"listChanged": True}, "resources": {}}
    info = {"name": "hostile", "version": "1"}
    write(id=id, result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})


def discover(id: Any) -> None:
    """The answer of the era without a handshake."""
    result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    write(id=id, result={**result, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})


def list_tools(id: Any, cursor: str | None) -> None:
    """The tools."""
    if HOW == "endless_pages":
        write(id=id, result={"tools": [ECHO], "nextCursor": (cursor or "") + "x"})
    elif HOW == "huge_list":
        large = {**ECHO, "description": "d" * 300_000}
        write(id=id, result={"tools": [large], "nextCursor": "more"})
    elif HOW == "wrong_list":
        write(id=id, result={"tools": [{"name": 3}]})
    elif cursor is None:
        write(id=id, result={"tools": [ECHO], "nextCursor": "second"})
    else:
        write(id=id, result={"tools": [{**ECHO, "name": f"pid_{os.getpid()}"}]})


def call(id: Any, name: str, params: dict[str, Any]) -> None:
    """What the name says."""
    token = params.get("_meta", {}).get("progressToken")
    match name:
        case "never":
            return
        case "die":
            os._exit(9)
        case "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            done(id, str(child.pid))
            return
        case "pid":
            done(id, str(os.getpid()))
            return
        case "endless_line":
            while True:
                sys.stdout.write("x" * 65536)
        case "large":
            done(id, "x" * 1_000_000)
            return
        case "garbage":
            for line in ("hello", "", "[]", "{}", '{"jsonrpc":"2.0"}', "\x00\xff", '{"id":7}', "3", "null"):
                print(line)
        case "surrogate":
            print(
                f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"\\ud800"}}]}}}}',
                flush=True,
            )
            return
        case "deep":
            print(f'{{"jsonrpc":"2.0","id":{id},"result":{{"a":{"[" * 500}{"]" * 500}}}}}', flush=True)
            return
        case "wrong":
            write(id=id, result={"content": "a text"})
            return
        case "input":
            asked = {"method": "roots/list", "params": {}}
            write(id=id, result={"resultType": "input_required", "inputRequests": {"a": asked}})
            return
        case "error":
            write(id=id, error={"code": -32603, "message": "no\x1b[31m\nhidden " + "y" * 5000})
            return
        case "ask":
            for number, method in enumerate(
                ("sampling/createMessage", "elicitation/create", "roots/list", "x/y")
            ):
                params = (
                    {"messages": [], "maxTokens": 1}
                    if number == 0
                    else {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
                )
                write(id=f"s{number}", method=method, params=params)
            said = [json.loads(sys.stdin.readline()) for _ in range(4)]
            done(id, json.dumps(sorted([each["id"], "error" in each] for each in said)))
            return
        case "flood":
            for number in range(params["arguments"]["times"]):
                write(method="notifications/message", params={"level": "info", "data": number})
        case "flood_wrong":
            for _ in range(params["arguments"]["times"]):
                write(method="notifications/progress", params={"progressToken": []})
                write(id="r", method="sampling/createMessage", params={})
        case "progress":
            for step in range(3):
                write(
                    method="notifications/progress",
                    params={"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"},
                )
        case "change":
            for _ in range(50):
                write(method="notifications/tools/list_changed")
        case "answers":
            for other in range(2000):
                write(id=100_000 + other, result={})
        case "environment":
            done(id, os.environ.get("KEY", ""))
            return
        case "slow":
            time.sleep(params["arguments"]["seconds"])
    done(id, name)


def main() -> None:
    """Answer until the input ends."""
    if HOW == "flood":
        while True:
            write(method="notifications/message", params={"level": "info", "data": 0})
    for line in sys.stdin:
        message = json.loads(line)
        with NOTES.open("a", encoding="utf-8") as notes:
            notes.write(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        match method:
            case "server/discover" if HOW == "modern":
                discover(id)
            case "initialize":
                initialize(id)
            case "tools/list":
                list_tools(id, params.get("cursor"))
            case "tools/call":
                call(id, params["name"], params)
            case "resources/list":
                write(id=id, result={"resources": [{"uri": "a://b", "name": "b"}]})
            case "resources/read":
                write(id=id, result={"contents": [{"uri": params["uri"], "text": "read"}]})
            case _ if id is not None and method is not None:
                write(id=id, error={"code": -32601, "message": "unknown"})
    if HOW == "stays":
        time.sleep(600)


if __name__ == "__main__":
    main()
