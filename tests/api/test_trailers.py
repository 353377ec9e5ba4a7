"""Trailers over raw sockets: fields after a chunked body are never headers, whatever they are called."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.api.asking import ORG, ROLE
from tests.api.keys import first_key, location_of
from tests.api.running import running
from tests.gateway.gateways import over_http
from tests.gateway.shop import Shop
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

EVALUATION = {
    "subject": {"type": "role", "id": ROLE},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "deploy"},
}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "box__look", "arguments": {}}}
ACCEPTS = {"Accept": "application/json, text/event-stream"}


def ask(
    url: str,
    path: str,
    message: object,
    headers: dict[str, str] | None = None,
    trailers: dict[str, str] | None = None,
    *,
    in_parts: bool = False,
) -> tuple[int, str]:
    """The status and the whole answer to a chunked POST with trailers. The status is 0 if there is no answer."""
    place = urlsplit(url)
    assert place.hostname is not None
    body = json.dumps(message).encode()
    head = {
        "Host": place.netloc,
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
        "Connection": "close",
        **(headers or {}),
    }
    fields = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    after = "".join(f"{name}: {value}\r\n" for name, value in (trailers or {}).items())
    parts = [
        f"POST {path} HTTP/1.1\r\n{fields}\r\n".encode(),
        b"%x\r\n%b\r\n0\r\n" % (len(body), body),
        f"{after}\r\n".encode(),
    ]
    with socket.create_connection((place.hostname, place.port or 80), PATIENCE) as connection:
        for part in parts if in_parts else [b"".join(parts)]:
            connection.sendall(part)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    return int(answer.split(b" ", 2)[1]) if answer else 0, answer.decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URL of `orgkernel serve`, and an administrator's key."""
    folder = tmp_path_factory.mktemp("trailers")
    store = folder / "state.db"
    key = first_key(location_of(store))
    with running(folder, TEMPLATES, store=store) as found:
        yield found.url, key


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("path", ["/v1/grants", "/access/v1/evaluation"])
@pytest.mark.parametrize(
    "name",
    ["Authorization", "X-Forwarded-For", "Forwarded", "Host", "Origin", "Content-Type", "Expect", "Connection",
     "X-Request-Id", "Orgkernel-On-Behalf-Of"],
)  # fmt: skip
def test_a_trailer_changes_nothing(name: str, path: str, in_parts: bool, server: tuple[str, str]) -> None:
    """A request with a trailer is answered like the same request without it."""
    url, _ = server
    path = f"{path}?org={ORG}" if path.startswith("/v1") else path
    values = {"Authorization": f"Bearer {server[1]}", "Host": "evil.example"}
    trailers = {"X-First": "1", name: values.get(name, "evil"), "X-Last": "1"}
    without = ask(url, path, EVALUATION)
    answer = ask(url, path, EVALUATION, trailers=trailers, in_parts=in_parts)
    assert _get_stable_part(answer) == _get_stable_part(without)
    assert "evil" not in answer[1]


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(("name", "value"), [("Content-Length", "3"), ("Transfer-Encoding", "chunked")])
def test_a_trailer_that_states_a_length_ends_the_request(
    name: str, value: str, in_parts: bool, server: tuple[str, str]
) -> None:
    """The two ends of a request must not disagree about where it ends."""
    trailers = {"X-First": "1", name: value, "X-Last": "1"}
    assert ask(server[0], "/access/v1/evaluation", EVALUATION, trailers=trailers, in_parts=in_parts)[0] in (
        0,
        400,
    )


def test_a_key_in_a_trailer_does_not_authenticate(server: tuple[str, str]) -> None:
    """The key is accepted as a header, and is not read as a trailer."""
    url, key = server
    bearer = {"Authorization": f"Bearer {key}"}
    grant = {"subject": f"role:{ROLE}", "permission": "tool:deploy"}
    assert ask(url, f"/v1/orgs/{ORG}/grants", grant, trailers={**bearer, "X-Last": "1"})[0] in (401, 403)
    assert ask(url, f"/v1/orgs/{ORG}/grants", grant, headers=bearer)[0] not in (401, 403)


def test_a_valid_key_is_not_replaced_by_a_trailer(tmp_path: Path) -> None:
    """Over the gateway, neither the caller nor whom it acts for comes from a trailer."""
    shop = Shop(tmp_path)
    with over_http(shop) as gateway:
        clerk, guest = gateway.key("ann"), gateway.key("bob")
        mine = {"Authorization": f"Bearer {clerk}", **ACCEPTS}
        theirs = {"Authorization": f"Bearer {guest}", "X-Last": "1"}
        assert ask(gateway.url, "/mcp", CALL, trailers={**theirs, **ACCEPTS})[0] == 401
        for in_parts in (False, True):
            for trailers in (
                theirs,
                {"Orgkernel-On-Behalf-Of": "person:friend", "X-Last": "1"},
                {"Orgkernel-Via": "role:guest", "X-Last": "1"},
                {"Host": "evil.example", "X-Last": "1"},
                {"Mcp-Session-Id": "evil", "Mcp-Protocol-Version": "1999-01-01", "X-Last": "1"},
            ):
                status, answer = ask(gateway.url, "/mcp", CALL, mine, trailers, in_parts=in_parts)
                assert (status, "look done" in answer) == (200, True), (trailers, answer)


def _get_stable_part(answer: tuple[int, str]) -> tuple[int, str]:
    """The status and the body without what differs between two answers."""
    body = answer[1].partition("\r\n\r\n")[2]
    try:
        document = json.loads(body)
    except ValueError:
        return answer[0], body
    return answer[0], json.dumps({**document, "request_id": ""} if isinstance(document, dict) else document)
