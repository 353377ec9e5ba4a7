"""Plain calls that are answered without the SDK: what they are, and that the SDK answers the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manifest_api.engine.gateway_calls import read_plain_call
from orgkernel.engines import EnginesOff
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import stored_client
from tests.api.keys import bearer, first_key, location_of, new_key
from tests.gateway.in_memory import MemoryGateway, MemoryServer
from tests.gateway.shop import Shop

ERA = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": ERA,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
}
NAMES = (
    "box__look",
    "box__send",
    "box__pay",
    "box__wipe",
    "box__none",
    "crate__look",
    "other__look",
    "box__löök",
    "",
)
VERSIONS = (ERA, "2025-11-25", "2025-06-18", "2024-11-05", "2030-01-01", None)


def headers_of(version: str | None, name: str, **more: str) -> dict[str, str]:
    """The headers of a call."""
    said = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "x-request-id": "one",
    }
    if version is not None:
        said["mcp-protocol-version"] = version
    if version == ERA:
        said |= {"mcp-method": "tools/call", "mcp-name": name}
    return said | more


def call(version: str | None, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    """A call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": arguments, **more}
    if version == ERA:
        params.setdefault("_meta", ENVELOPE)
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


class Pair:
    """The same gateway with and without the quick way, before servers in memory."""

    def __init__(self, folder: Path) -> None:
        shop = Shop(folder)
        kernel = Kernel.open(shop.tree)
        store = location_of(folder / "state.db")
        first_key(store)
        self.servers = [
            MemoryServer("box", ("look", "send", "pay", "wipe")),
            MemoryServer("crate", ("look",)),
        ]
        gateway = MemoryGateway(folder, self.servers).gateway
        client = stored_client(kernel, store, gateway=gateway)
        with EnginesOff("gateway_calls"):
            self.clients = client, stored_client(kernel, store, gateway=gateway)
        self.key = new_key(store, ("read", "report"), agent="ann")

    def post(self, body: bytes, headers: dict[str, str]) -> tuple[list[Any], list[Any]]:
        """The two answers, and what reached the servers for each."""
        answers, reached = [], []
        for client in self.clients:
            answers.append(client.post("/mcp", content=body, headers={**headers, **bearer(self.key)}))
            reached.append([each for server in self.servers for each in server.calls])
            for server in self.servers:
                server.calls.clear()
        return answers, reached

    def require_same(self, body: bytes, headers: dict[str, str]) -> Any:
        """The answer, which is the same on both ways but for the name of its audit row."""
        (quick, usual), (of_quick, of_usual) = self.post(body, headers)
        assert quick.status_code == usual.status_code, (quick.text, usual.text)
        assert of_quick == of_usual
        assert _without_row(quick.text) == _without_row(usual.text)
        for name in ("content-type", "cache-control", "x-content-type-options", "x-request-id"):
            assert quick.headers.get(name) == usual.headers.get(name), name
        return quick


def _without_row(text: str) -> Any:
    try:
        said = json.loads(text)
    except ValueError:
        return text
    if isinstance(said, dict) and isinstance(said.get("result"), dict):
        said["result"].get("_meta", {}).pop("orgkernel/audit", None)
    return said


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers."""
    found = Pair(tmp_path_factory.mktemp("pair"))
    with found.clients[0], found.clients[1]:
        yield found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_the_sdk_answers_the_same(pair: Pair, name: str, version: str | None) -> None:
    """Whatever is called, in whatever version of the protocol."""
    ascii_name = name if name.isascii() else ""
    body = json.dumps(call(version, name, {"a": 1})).encode()
    answer = pair.require_same(body, headers_of(version, ascii_name))
    if version in (ERA, "2025-11-25") and name == "box__look":
        assert answer.json()["result"]["content"][0]["text"] == "look"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
BENT = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
    JSON | st.sampled_from(["2.0", "tools/call", "tools/list", "ping"]),
    max_size=3,
)
OF_PARAMS = st.dictionaries(
    st.sampled_from(["name", "arguments", "_meta", "inputResponses", "requestState", "task", "x"]),
    JSON | st.sampled_from(["box__look", ENVELOPE, {**ENVELOPE, "progressToken": 1}]),
    max_size=3,
)
OF_HEADERS = st.dictionaries(
    st.sampled_from(["mcp-name", "mcp-method", "mcp-protocol-version", "accept", "content-type", "mcp-param-a", "mcp-session-id"]),
    st.sampled_from(["box__look", "tools/call", ERA, "2025-11-25", "application/json", "*/*", "text/plain", "=?base64?eA==?=", ""]),
    max_size=2,
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(VERSIONS[:3]), BENT, OF_PARAMS, OF_HEADERS)
def test_the_sdk_answers_bent_calls_the_same(
    pair: Pair, version: str, bent: dict[str, Any], params: dict[str, Any], headers: dict[str, str]
) -> None:
    """Calls in which anything is another value, missing or too much."""
    message = call(version, "box__look", {"a": [1]})
    message["params"] |= params
    message |= bent
    if "progressToken" in json.dumps(message):
        return  # answered as a stream on both ways, in pieces
    pair.require_same(json.dumps(message).encode(), {**headers_of(version, "box__look"), **headers})


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b'{"id": 1e999}']
)
def test_what_is_no_message_is_left_to_the_sdk(pair: Pair, body: bytes) -> None:
    """It says what is wrong."""
    assert read_plain_call([(b"content-type", b"application/json")], body) is None
    pair.require_same(body, headers_of("2025-11-25", "box__look"))


def test_a_client_with_forms_is_left_to_the_sdk() -> None:
    """Only the SDK knows how to show one."""
    can = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    for meta, is_quick in ((ENVELOPE, True), (can, False)):
        said = headers_of(ERA, "box__look")
        listed = [(name.encode(), value.encode()) for name, value in said.items()]
        found = read_plain_call(listed, json.dumps(call(ERA, "box__look", {}, _meta=meta)).encode())
        assert (found is not None) == is_quick


def test_a_call_may_carry_a_file(pair: Pair) -> None:
    """Its arguments are longer than other bodies may be, up to a limit of their own."""
    for size, status in ((1_000_000, 200), (5_000_000, 413)):
        body = json.dumps(call(ERA, "box__look", {"content": "x" * size})).encode()
        answer = pair.require_same(body, headers_of(ERA, "box__look"))
        assert answer.status_code == status
