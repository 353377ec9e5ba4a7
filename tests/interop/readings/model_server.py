"""A server in the place of a model: it records what a host sends, starts the agents that are listed to it, and says `ok`.

What a host sends to a model shows which agents it loaded, and which tools, which model and which sandbox each has.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.patience import PATIENCE

_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
STARTED = "agent "
"""How the task of a started agent begins, before its name."""


class ModelServer:
    """The requests of one host, and which agents to start."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._requests: list[dict[str, Any]] = []
        self._list_agents: Callable[[dict[str, Any]], Sequence[str]] = lambda _: ()
        self._arrived = threading.Condition()

    def begin(self, list_agents: Callable[[dict[str, Any]], Sequence[str]] = lambda _: ()) -> None:
        """Forget what was sent. The first request will be answered with calls that start the agents that are listed for it."""
        with self._arrived:
            self._requests.clear()
            self._list_agents = list_agents

    def list_requests(self) -> list[dict[str, Any]]:
        """What the host has sent so far."""
        with self._arrived:
            return list(self._requests)

    def answer(self, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """The events of an answer to a request."""
        with self._arrived:
            self._requests.append(body)
            self._arrived.notify_all()
        if "input" not in body:
            return _build_chunks()
        outputs = [each for each in body["input"] if each.get("type") == "function_call_output"]
        if outputs:
            # The program ends with its first agent, so this one waits until all others have sent something.
            started = sum("agent_id" in str(each["output"]) for each in outputs)
            with self._arrived:
                self._arrived.wait_for(lambda: self._count_started() >= started, PATIENCE)
            return _build_events([_SAY])
        if find_started(body) is not None:
            return _build_events([_SAY])
        calls = [_build_call(number, name) for number, name in enumerate(self._list_agents(body))]
        return _build_events(calls or [_SAY])

    def _count_started(self) -> int:
        return sum(find_started(each) is not None for each in self._requests)


def find_started(body: dict[str, Any]) -> str | None:
    """The agent that sends a request. None for the one that starts others."""
    last = (body.get("input") or [{}])[-1]
    texts = [each.get("text", "") for each in last.get("content") or () if isinstance(each, dict)]
    return next((each.removeprefix(STARTED) for each in texts if each.startswith(STARTED)), None)


_SAY: dict[str, Any] = {
    "type": "message", "id": "m", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "ok", "annotations": []}],
}  # fmt: skip


def _build_call(number: int, name: str) -> dict[str, Any]:
    arguments = json.dumps({"agent_type": name, "message": STARTED + name})
    return {
        "type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": "spawn_agent",
        "namespace": "multi_agent_v1", "arguments": arguments, "status": "completed",
    }  # fmt: skip


def _build_events(items: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    response = {
        "id": "r",
        "object": "response",
        "status": "completed",
        "model": "m",
        "output": items,
        "usage": _USAGE,
    }
    return [
        ("response.created", {"type": "response.created", "response": response}),
        *(
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": number, "item": each})
            for number, each in enumerate(items)
        ),
        ("response.completed", {"type": "response.completed", "response": response}),
    ]  # fmt: skip


def _build_chunks() -> list[tuple[str, dict[str, Any]]]:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: tuple[dict[str, Any], ...] = (
        {"index": 0, "delta": {"role": "assistant", "content": "ok"}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    )
    return [("", {**chunk, "choices": [each]}) for each in choices]


@contextmanager
def start_model_server() -> Iterator[ModelServer]:
    """Start the server on a port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"object": "list", "data": []}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            events = server.answer(body)
            text = "".join(
                (f"event: {name}\n" if name else "") + f"data: {json.dumps(each)}\n\n"
                for name, each in events
            )
            self._send("text/event-stream", text + ("" if "input" in body else "data: [DONE]\n\n"))

        def _send(self, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ModelServer(listener.server_address[1])
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
