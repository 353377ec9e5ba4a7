"""Requests of servers during a call: to elicit, to sample and to list folders, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, TextContent

from tests.api.keys import bearer
from tests.api.running import until
from tests.gateway.gateways import Wire, on_wire, over_http
from tests.gateway.shop import CLERK, LOOK, PAY, SEND, TOOLS, WIPE, Shop
from tests.gateway.test_gateway_calls import ENVELOPE, ERA, headers_of
from tests.mcp import everything
from tests.support.in_process import run_here
from tests.toolbox.upstream_running import runs

SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "Which?"}}], "maxTokens": 5},
}
ELICIT = {
    "method": "elicitation/create",
    "params": {"message": "How many?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}  # fmt: skip
CATALOG = TOOLS + (
    "  box_asks_user: {type: mcp_server, provider: box, names: {mcp: elicitation/create}, path_arguments: []}\n"
    "  box_asks_model: {type: mcp_server, provider: box, names: {mcp: sampling/createMessage}, path_arguments: []}\n"
    "  modern_asks_user: {type: mcp_server, provider: modern, names: {mcp: elicitation/create}, path_arguments: []}\n"
    "  mcp__modern: {type: mcp_server, provider: modern, side_effects: read, path_arguments: []}\n"
)
GIVEN = "".join(
    f"{{tool: {each}, level: full}}, " for each in ("box_asks_user", "modern_asks_user", "mcp__modern")
)


def asking_shop(folder: Path) -> Shop:
    """A shop with a server of the era with a handshake and one without, which ask. The clerk may answer forms only."""
    shop = Shop(folder, tools=CATALOG, clerk=CLERK.replace("[{", f"[{GIVEN}{{", 1))
    shop.box.says(tools=[LOOK, SEND, PAY, WIPE], asks={"look": ELICIT, "send": SAMPLE})
    may_ask = {"orgkernel": {"may_ask": ["elicitation", "sampling"]}}
    modern = {"command": shop.box.command["command"], "args": [everything.__file__]}
    shop.declare({"box": shop.box.command | may_ask, "crate": shop.crate.command, "modern": modern | may_ask})
    return shop


def test_a_client_with_a_handshake_is_asked_on_its_connection(tmp_path: Path) -> None:
    """It gets what the role has the right to answer, and the audit log has the decisions about all requests."""
    shop = asking_shop(tmp_path)
    with on_wire(shop, elicitation={}, sampling={}) as wire:
        number = wire.send("tools/call", name="box__look", arguments={})
        request = wire.read()
        assert (request["method"], request["params"]["message"]) == ("elicitation/create", "How many?")
        wire.write(
            {"jsonrpc": "2.0", "id": request["id"], "result": {"action": "accept", "content": {"n": 3}}}
        )
        text = wire.answer(number)["result"]["content"][0]["text"]
        assert json.loads(text) == {"action": "accept", "content": {"n": 3}}
        assert "`role:clerk` has no right to `tool:box_asks_model`" in wire.text("box__send")
        number = wire.send("tools/call", name="modern__test_input_required_result_elicitation", arguments={})
        request = wire.read()
        wire.write({"jsonrpc": "2.0", "id": request["id"], "result": {"action": "accept", "content": {"name": "Ann"}}})  # fmt: skip
        assert wire.answer(number)["result"]["content"][0]["text"] == "Hello, Ann!"
    listed = run_here("audit", "query", "--store", str(shop.store), cwd=tmp_path).stdout
    assert "tool:box_asks_user" in listed
    assert "deny role:clerk tool:box_asks_model" in " ".join(listed.split())


def test_a_client_without_a_handshake_answers_with_the_call(tmp_path: Path) -> None:
    """Over HTTP, for servers of both eras. A client that cannot answer, and one whose state is of another key, gets no further."""
    shop = asking_shop(tmp_path)
    questions: list[str] = []

    async def elicit(_: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"n": 4, "name": "Bob"})

    async def sample(_: Any, params: Any) -> CreateMessageResult:
        raise AssertionError("the role may not have its model sampled")

    async def ask(url: str, key: str) -> list[str]:
        async with httpx2.AsyncClient(headers=bearer(key)) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, elicitation_callback=elicit, sampling_callback=sample) as client:
                names = ("box__look", "modern__test_input_required_result_elicitation", "box__send")
                results = [await client.call_tool(name, {}) for name in names]
        return [each.content[0].text for each in results if isinstance(each.content[0], TextContent)]

    with over_http(shop) as http:
        key = http.key("ann")
        look, greeting, refused = asyncio.run(ask(http.url, key))
        assert json.loads(look)["content"]["n"] == 4
        assert greeting == "Hello, Bob!"
        assert "has no right to `tool:box_asks_model`" in refused
        assert questions == ["How many?", "What is your name?"]
        assert "the client does not answer" in http.text(key, "box__look")
        calls = len(shop.box.calls)
        forged = {"name": "box__look", "arguments": {}, "requestState": "call-forged", "_meta": ENVELOPE}
        answer = http.post(
            key,
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": forged},
            **{**headers_of(ERA, "box__look")},
        )
        assert "no longer waits for this answer" in answer.text
        assert len(shop.box.calls) == calls


def test_a_paused_call_is_continued_by_its_caller_only(tmp_path: Path) -> None:
    """The state of another key, of other arguments and of another tool continues nothing, and begins nothing again. A state counts once."""
    shop = asking_shop(tmp_path)
    can = ENVELOPE | {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    form = {"action": "accept", "content": {"n": 5}}
    with over_http(shop) as http:
        ann, amy = http.key("ann"), http.key("amy")

        def call(
            key: str,
            name: str = "box__look",
            arguments: dict[str, Any] | None = None,
            state: str = "",
            asked: str = "",
        ) -> Any:
            params: dict[str, Any] = {"name": name, "arguments": arguments or {}, "_meta": can}
            if state:
                params |= {"requestState": state, "inputResponses": {asked: form}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return http.post(key, message, **headers_of(ERA, name)).json()

        paused = call(ann)["result"]
        assert paused["resultType"] == "input_required"
        again = {"state": paused["requestState"], "asked": next(iter(paused["inputRequests"]))}
        for key, name, arguments in (
            (amy, "box__look", {}), (http.key("ann"), "box__look", {}), (ann, "box__look", {"x": 1}), (ann, "box__send", {}),
        ):  # fmt: skip
            assert (
                "no longer waits for this answer" in call(key, name, arguments, **again)["error"]["message"]
            )
        assert len(shop.box.calls) == 1
        assert json.loads(call(ann, **again)["result"]["content"][0]["text"]) == form
        assert "no longer waits for this answer" in call(ann, **again)["error"]["message"]
        # No server may ask any more.
        shop.declare({"crate": shop.crate.command})
        assert until(lambda: "box__look" not in http.tools(ann), bool)
        assert "no longer waits for this answer" in call(ann, "crate__look", **again)["error"]["message"]
        assert len(shop.box.calls) == 1
        assert not shop.crate.calls


def test_each_caller_has_its_own_connection_to_a_server_that_keeps_state(tmp_path: Path) -> None:
    """Two agents have two processes, and one agent keeps its own; other servers are shared."""
    shop = Shop(tmp_path)
    shop.declare(
        {"box": shop.box.command | {"orgkernel": {"sessions": "per_caller"}}, "crate": shop.crate.command}
    )
    with over_http(shop) as http:
        ann, amy = http.key("ann"), http.key("amy")
        for key in (ann, amy, ann, amy):
            assert http.text(key, "box__look") == "look done"
            assert http.text(key, "crate__look") == "look done"
    of_box = [call[-1] for call in shop.box.noted("call")]
    assert of_box[:2] == of_box[2:]
    assert len({*of_box}) == 2
    assert len({call[-1] for call in shop.crate.noted("call")}) == 1


def test_the_servers_are_read_again_when_their_file_changes(tmp_path: Path) -> None:
    """A new server is used, a removed one ends, one that stays keeps its process, and a broken file changes nothing."""
    shop = Shop(tmp_path)
    shop.declare({"box": shop.box.command})
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        assert "there is no tool" in wire.text("crate__look")
        shop.config.write_text("{", encoding="utf-8")
        assert until(lambda: "the servers stay as they were" in _after(wire), bool)
        shop.declare({"box": shop.box.command, "crate": shop.crate.command})
        assert until(lambda: wire.text("crate__look") == "look done", bool)
        assert "crate__look" in wire.tools()
        assert wire.text("box__look") == "look done"
        assert len(shop.box.processes) == 1
        shop.declare({"crate": shop.crate.command})
        assert until(lambda: "there is no tool" in wire.text("box__look"), bool)
        assert until(lambda: not runs(shop.box.processes[0]), bool)


def test_a_changed_command_does_not_run_before_it_is_accepted(tmp_path: Path) -> None:
    """A running gateway starts no other program in the place of a reviewed server, also if the server was gone in between; accepting it allows it."""
    shop = Shop(tmp_path)
    marker = tmp_path / "started"
    words = [shop.box.command["command"], *shop.box.command["args"]]
    changed = shop.box.command | {
        "command": "sh",
        "args": ["-c", f'touch "{marker}"; exec "$@"', "-", *words],
    }
    lock = tmp_path / "gateway.lock.json"
    accept = ("gateway", "accept", "--mcp-config", str(shop.config), "--lock", str(lock))
    shop.declare({"box": shop.box.command, "crate": shop.crate.command})
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        shop.declare({"crate": shop.crate.command})
        assert until(lambda: "there is no tool" in wire.text("box__look"), bool)
        shop.declare({"box": changed, "crate": shop.crate.command})
        assert until(
            lambda: "its declaration has changed since the gateway used it" in wire.text("box__look"), bool
        )
        assert "orgkernel gateway accept" in wire.text("box__look")
        assert "box__look" not in wire.tools()
        assert wire.text("crate__look") == "look done"
        assert not marker.exists()
        shop.declare({"box": shop.box.command | {"orgkernel": {"may_ask": ["sampling"]}}})
        assert until(lambda: "there is no tool" in wire.text("crate__look"), bool)
        assert "its declaration has changed" in wire.text("box__look")
        shop.declare({"box": shop.box.command})  # as the gateway used it
        assert until(lambda: wire.text("box__look") == "look done", bool)
        shop.declare({"box": changed})
        assert until(lambda: "its declaration has changed" in wire.text("box__look"), bool)
        assert not marker.exists()
        assert run_here(*accept, "box", cwd=tmp_path).returncode == 0
        marker.unlink()
        assert until(lambda: wire.text("box__look") == "look done", bool)
        assert marker.exists()
    assert json.loads(lock.read_text())["servers"]["box"]["declared"]


def _after(wire: Wire) -> str:
    """What the gateway has reported after a call."""
    wire.text("box__look")
    return wire.errors
