"""An MCP server that a test directs through a file, written by hand so that it starts quickly.

    box.py SCRIPT NOTES

SCRIPT is read whenever something is listed: `{"tools": [...], "pages": [[...]], "prompts": [...], "resources": [...]}`. After
the first page it becomes what `then` says. With `stays` it stays when its input ends, with `deaf` also when it is told to
end, and with `child` it starts a process that does the same. The methods in `mute` are not answered, those in `dies` end it,
those in `floods` make it write notifications without end, and those in `late` take so many seconds. A tool in `asks` sends that request, and its result is the answer. What is called, canceled and read is written to NOTES, one JSON array in a line.
Standard library only.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

SCRIPT, NOTES = Path(sys.argv[1]), Path(sys.argv[2])
_writing = threading.Lock()
answers: queue.Queue[dict[str, Any]] = queue.Queue()
"""The answers to its own requests."""


def write(**message: Any) -> None:
    """Send one message."""
    with _writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(*said: Any) -> None:
    """Write down what came, with the process."""
    with NOTES.open("a", encoding="utf-8") as notes:
        notes.write(json.dumps([*said, os.getpid()]) + "\n")


def call(id: Any, name: str, arguments: dict[str, Any]) -> None:
    """Answer a call, or do what its arguments say."""
    note("call", name, arguments)
    if "seconds" in arguments:
        time.sleep(arguments["seconds"])
    while "until" in arguments and not Path(arguments["until"]).exists():
        time.sleep(0.02)
    if arguments.get("die"):
        os._exit(9)
    for log in arguments.get("logs", ()):
        write(method="notifications/message", params=log)
    if arguments.get("changes"):
        write(method="notifications/tools/list_changed")
    said = script()
    if name in said.get("asks", {}):
        write(id=f"ask-{id}", **said["asks"][name])
        answer = answers.get()
        text = json.dumps(answer.get("result", answer.get("error")))
        write(id=id, result={"content": [{"type": "text", "text": text}]})
        return
    if name in said.get("errors", {}):
        write(id=id, error={"code": -32603, "message": said["errors"][name]})
        return
    said = said.get("answers", {}).get(name)
    write(id=id, result=said or {"content": [{"type": "text", "text": f"{name} done"}]})


def script() -> dict[str, Any]:
    """What the test wants now."""
    found: dict[str, Any] = json.loads(SCRIPT.read_text(encoding="utf-8"))
    return found


def listed(kind: str, cursor: str | None) -> dict[str, Any]:
    """A list, or a page of one."""
    said = script()
    if kind == "tools" and "pages" in said:
        pages = said["pages"]
        page = int(cursor or 0)
        if "then" in said:
            SCRIPT.write_text(json.dumps(said["then"]), encoding="utf-8")
        if page + 1 < len(pages):
            return {"tools": pages[page], "nextCursor": str(page + 1)}
        return {"tools": pages[page]}
    return {kind: said.get(kind, [])}


def main() -> None:
    """Answer until the input ends."""
    said = script()
    if said.get("deaf"):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    if said.get("child") and not os.fork():
        note("child")
        while True:
            time.sleep(0.1)
    note("start")
    for line in sys.stdin:
        message = json.loads(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        wanted = script()
        if method in wanted.get("mute", ()):
            note("mute", method)
            continue
        if method in wanted.get("dies", ()):
            sys.stdout.write('{"jsonrpc": "2.0", "id": ')
            sys.stdout.flush()
            os._exit(3)
        while method in wanted.get("floods", ()):
            write(method="notifications/tools/list_changed")
        time.sleep(wanted.get("late", {}).get(method, 0))
        match method:
            case "initialize":
                capabilities = {"tools": script().get("tells", {}), "prompts": {}, "resources": {}}
                if script().get("logs"):
                    capabilities["logging"] = {}
                if "values" in script():
                    capabilities["completions"] = {}
                write(
                    id=id,
                    result={
                        "protocolVersion": "2025-06-18",
                        "capabilities": capabilities,
                        "serverInfo": {"name": "box", "version": "1"},
                    },
                )
            case "tools/list" | "prompts/list" | "resources/list":
                write(id=id, result=listed(method.partition("/")[0], params.get("cursor")))
            case "resources/templates/list":
                write(id=id, result={"resourceTemplates": script().get("templates", [])})
            case "prompts/get":
                note("prompt", params["name"])
                text = {"type": "text", "text": "prompt"}
                write(id=id, result={"messages": [{"role": "user", "content": text}]})
            case "resources/read":
                note("read", params["uri"])
                write(id=id, result={"contents": [{"uri": params["uri"], "text": "read"}]})
            case "logging/setLevel":
                note("level", params["level"])
                write(id=id, result={})
            case "completion/complete":
                note("complete", params)
                write(id=id, result={"completion": {"values": script()["values"]}})
            case "tools/call":
                said = (id, params["name"], params.get("arguments") or {})
                threading.Thread(target=call, args=said, daemon=True).start()
            case "notifications/cancelled":
                note("cancelled")
            case None:
                answers.put(message)
            case _ if id is not None and method is not None:
                write(id=id, error={"code": -32601, "message": "unknown"})
    while script().get("stays"):
        time.sleep(0.1)


if __name__ == "__main__":
    main()
