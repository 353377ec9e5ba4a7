"""`/mcp` of a running server: the official client in both eras, and who may ask."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from manifest_api.routes.mcp import _open
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.upkeep import read_audit
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, location_of, new_key, opened
from tests.api.running import Server, running
from tests.mcp.calling import ERAS, Calls, calling, connect
from tests.mcp.test_tools import GOVERNED, NAMES
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

AGENT = "clerk"
LACKING = {"resource": "tool:send_email", "action": "use"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of two organizations, of which one declares the agents, with a store."""
    folder = tmp_path_factory.mktemp("server")
    admin = first_key(location_of(folder / "state.db"))
    with running(
        folder, TEMPLATES / "household", TEMPLATES / "software_dev", store=folder / "state.db"
    ) as started:
        started.key = admin
        yield started


def key_of(server: Server, *scopes: str, **owner: Any) -> str:
    return new_key(location_of(server.folder / "state.db"), scopes or ("read", "request", "report"), **owner)


@contextmanager
def asking(server: Server, key: str, era: Any = "auto", query: str = "") -> Iterator[Calls]:
    """A client with a key."""
    with calling(connect(f"{server.url}/mcp{query}", bearer(key)), era) as calls:
        yield calls


@pytest.fixture(scope="module", params=ERAS)
def calls(request: pytest.FixtureRequest, server: Server) -> Iterator[Calls]:
    """A client with the key of an agent, in each era."""
    with asking(server, key_of(server, agent=AGENT), request.param) as opened_client:
        yield opened_client


def post(server: Server, body: bytes | dict[str, Any], **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    said = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    return httpx2.post(f"{server.url}/mcp", content=content, headers=said, timeout=PATIENCE)


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_asking_over_http_uses_no_grant_up(server: Server) -> None:
    """Not with a key either that could use the grant up by the other routes, as the same question there shows."""
    with opened(location_of(server.folder / "state.db")) as store:
        grant = store.grants.issue(
            "agent:clerk", ("tool:weather",), issued_by="test", org_id="household", uses=1
        )
    key = key_of(server, "read", "report", agent=AGENT)

    def count_uses() -> int:
        with opened(location_of(server.folder / "state.db")) as store:
            return store.grants.count_uses().get(grant.grant_id, 0)

    with asking(server, key) as calls:
        for _ in range(2):
            answer = calls.ask("can", resource="tool:weather", action="use")
            assert (answer["outcome"], answer["code"]) == ("ask", "GRANT_NEEDS_REPORT")
    assert count_uses() == 0
    question = {
        "subject": {"type": "agent", "id": AGENT},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": "weather"},
        "context": {"org": "household", "channel": "", "peer_kind": ""},
    }
    answer = server.client.post("/access/v1/evaluation", json=question, headers=bearer(key)).json()
    assert (answer["decision"], count_uses()) == (True, 1)


def test_the_subject_is_the_one_of_the_key(calls: Calls, server: Server) -> None:
    """With its organization, its tools and its manifests."""
    me = calls.ask("who_am_i")
    assert (me["subject"], me["organization"], me["rank"]) == ("agent:clerk", "household", "lieutenant")
    listed = calls.do("list_tools")
    assert [tool.name for tool in listed.tools] == [*NAMES, *GOVERNED]
    resources = calls.do("list_resources").resources
    manifest = json.loads(calls.do("read_resource", resources[0].uri).contents[0].text)
    assert manifest["org_id"] == "household"
    assert "cannot name the caller" in calls.refusal("can", **LACKING, subject="person:owner")


def test_answers_are_those_of_an_evaluation(calls: Calls, server: Server) -> None:
    """Outcome, codes and obligations; each of them has its row in the audit."""
    for resource in ("tool:read_file", "tool:response", "tool:send_email", "tool:nothing"):
        found = calls.ask("can", resource=resource, action="use")
        answer = server.client.post(
            "/access/v1/evaluation",
            json={
                "subject": {"type": "agent", "id": AGENT},
                "action": {"name": "use"},
                "resource": {"type": "tool", "id": resource.partition(":")[2]},
                "context": {"org": "household"},
            },
        ).json()["context"]
        assert [found[name] for name in ("outcome", "codes")] == [
            answer[name] for name in ("outcome", "codes")
        ]
        with opened(location_of(server.folder / "state.db")) as store:
            rows = {row.audit_id: row.entry for row in read_audit(store, AuditFilter(kind="decision"), 10)}
        assert rows[found["audit"]].resource == resource
        assert rows[found["audit"]].actor.startswith("caller:")


def test_a_request_and_a_report_are_stored(server: Server) -> None:
    """In the name of the agent of the key."""
    with asking(server, key_of(server, agent=AGENT)) as calls:
        asked = calls.ask("request_access", resource="tool:read_file", level="read", reason="to look")
        assert calls.ask("report", task="filing", state="active")["outcome"] == "stored"
    listed = server.get("/v1/orgs/household/requests", headers=bearer(server.key)).json()["requests"]
    assert {"request_id": asked["request_id"], "requester": f"agent:{AGENT}"}.items() <= next(
        each for each in listed if each["request_id"] == asked["request_id"]
    ).items()
    board = server.get("/v1/orgs/household/salute", headers=bearer(server.key)).json()["lines"]
    assert [line["task"] for line in board] == ["filing"]


def test_only_tools_that_the_key_is_good_for_are_listed(server: Server) -> None:
    """And a call of another one is refused."""
    with asking(server, key_of(server, "read", agent=AGENT)) as calls:
        names = [tool.name for tool in calls.do("list_tools").tools]
        changing = ("request_access", "report", "file_result", "file_blocker")
        assert names == [name for name in (*NAMES, *GOVERNED) if name not in changing]
        with pytest.raises(MCPError, match="no scope `report`"):
            calls.call("report", task="x")


def test_a_person_asks_too(server: Server) -> None:
    """With the key of a person."""
    with asking(server, key_of(server, "read", person="owner")) as calls:
        assert calls.ask("who_am_i")["subject"] == "person:owner"
        assert calls.ask("what_can")["can"]


@pytest.mark.parametrize(
    ("key", "status", "code", "said"),
    [
        (None, 401, "KEY_REQUIRED", "orgkernel key create NAME --agent"),
        ("wrong", 401, "BAD_CREDENTIAL", "key list"),
        ({}, 403, "NO_SUBJECT", "orgkernel key create NAME --agent"),
        ({"agent": "nobody"}, 403, "NO_SUBJECT", "declare it"),
        ({"agent": AGENT, "scopes": ("lock",)}, 403, "SCOPE_MISSING", "scope `read`"),
    ],
)
def test_a_caller_without_a_subject_is_refused_with_a_remedy(
    server: Server, key: Any, status: int, code: str, said: str
) -> None:
    """Before a message is read."""
    headers = {}
    if isinstance(key, dict):
        headers = bearer(key_of(server, *key.pop("scopes", ("read",)), **key))
    elif key is not None:
        headers = bearer(f"ok_{key}")
    found = post(server, PING, **headers)
    problem = found.json()
    assert (found.status_code, problem["code"]) == (status, code)
    assert said in problem["help"]
    assert found.headers["x-request-id"]


def test_what_the_other_routes_refuse_is_refused(server: Server) -> None:
    """Methods, origins, bodies, parameters and organizations."""
    key = bearer(key_of(server, agent=AGENT))
    client = server.client
    assert client.get("/mcp", headers=key).status_code == 405
    assert client.delete("/mcp", headers=key).headers["allow"] == "POST"
    assert post(server, PING, **key, origin="http://evil.example").json()["code"] == "FOREIGN_ORIGIN"
    assert post(server, PING, **key, origin="null").json()["code"] == "FOREIGN_ORIGIN"
    assert post(server, b"x" * 2**20, **key).json()["code"] == "BODY_TOO_LARGE"
    assert post(server, PING, host="evil.example").json()["code"] == "UNAUTHENTICATED"
    for query, status, code in (
        ("?org=software_dev", 403, "NO_SUBJECT"),
        ("?org=nothing", 404, "UNKNOWN_ORGANIZATION"),
        ("?subject=role:co", 422, "INVALID_REQUEST"),
    ):
        found = httpx2.post(f"{server.url}/mcp{query}", json=PING, headers=key)
        assert (found.status_code, found.json()["code"]) == (status, code)


def test_a_message_that_is_none_is_an_error_of_the_protocol(server: Server) -> None:
    """In JSON, without a session, and nothing of it in the log of faults."""
    key = bearer(key_of(server, agent=AGENT))
    for body in (b"garbage", b"[]", b'{"jsonrpc":"2.0"}', b"[" * 20_000):
        found = post(server, body, **key)
        assert found.status_code == 400, body
        assert "error" in found.json()
    answer = post(server, PING, **key)
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert answer.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in answer.headers
    assert "Traceback" not in server.log


def test_a_revoked_key_is_refused_at_the_next_message(server: Server) -> None:
    """Although its client is still open."""
    place = location_of(server.folder / "state.db")
    with opened(place) as store:
        key, secret = store.keys.create(
            "gone", ("read",), created_by="test", agent_id=AGENT, org_ids=["household"]
        )
    with asking(server, secret) as calls:
        assert calls.ask("who_am_i")
        with opened(place) as store:
            store.keys.revoke(key.key_id, actor="test")
        with pytest.raises(MCPError):
            calls.ask("who_am_i")


def test_a_server_without_the_sdk_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other routes answer."""
    place = location_of(tmp_path / "state.db")
    first_key(place)
    key = bearer(new_key(place, ["read"], agent=AGENT))
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setattr("manifest_api.routes.mcp._open", _open.__wrapped__)
    with stored_client(Kernel.open(TEMPLATES / "household"), place) as client:
        said = problem(client.post("/mcp", json=PING, headers=key), 501, "NO_SDK")
        assert said["help"] == "install the extra `orgkernel[mcp]`"
        assert client.get("/livez").status_code == 200


def test_whitespace_around_a_header_is_no_part_of_it(server: Server) -> None:
    """A tool that is named with spaces after it is the one that the message names."""
    version = "2026-07-28"
    meta = {"protocolVersion": version, "clientCapabilities": {}}
    said = {
        "name": "who_am_i",
        "arguments": {},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said})
    headers = {
        **bearer(key_of(server, agent=AGENT)),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "who_am_i  ",
    }
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", "/mcp", body, headers)
    response = connection.getresponse()
    found = json.loads(response.read())
    connection.close()
    assert response.status == 200, found
    assert found["result"]["structuredContent"]["subject"] == f"agent:{AGENT}"
