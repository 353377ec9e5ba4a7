"""A client cannot choose the caller of a gateway call: not by arguments, headers, URLs, sessions, batches or a second
handshake.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.kernel.stored import open_store
from orgkernel.operations.upkeep import read_audit
from tests.api.keys import bearer, location_of, opened
from tests.gateway.gateways import Http, on_wire, over_http, text_of
from tests.gateway.shop import CLERK, OWN_TOOLS, Shop, profile
from tests.mcp.calling import ERAS
from tests.support.patience import until

OTHERS = {
    "role": "lead", "subject": "role:lead", "on_behalf_of": "person:owner", "agent": "lea", "org": "other", "_subject": "agent:lea",
    "context": {"subject": "role:lead"}, "via": ["role:chief"], "approver": "person:owner", "_meta": {"subject": "role:lead"},
}  # fmt: skip
"""Arguments and fields that would name another caller if the gateway read them."""
HEADERS = {
    "x-role": "lead", "x-orgkernel-role": "lead", "x-forwarded-user": "lea", "mcp-session-id": "s-1", "x-subject": "role:lead",
    "x-org": "other", "forwarded": "for=127.0.0.1", "cookie": "key=1",
}  # fmt: skip


@pytest.fixture(
    scope="module", params=[{}, {"mcp-protocol-version": "2025-11-25"}], ids=["with the SDK", "quickly"]
)
def http(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    """A gateway over HTTP, which answers with the SDK, or without it where it can."""
    with over_http(Shop(tmp_path_factory.mktemp("shop"))) as gateway:
        gateway.headers = request.param
        yield gateway


def rows(shop: Shop) -> list[Any]:
    """The decisions in the audit, newest first."""
    with opened(location_of(shop.store)) as store:
        return [row.entry for row in read_audit(store, AuditFilter(kind="decision"), 1000)]


def message(method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_no_argument_and_no_metadata_names_the_caller(http: Http) -> None:
    """A guest that names the lead in every place stays a guest, and its arguments go to the tool as they are."""
    key = http.key("bob")
    headers = {name: said for name, said in HEADERS.items() if not (http.headers and name.startswith("mcp-"))}
    refused = http.post(key, message(name="box__pay", arguments=OTHERS, _meta=OTHERS), **headers)
    assert text_of(refused.json()).startswith("deny: `agent:bob` `use` `tool:mcp__box__pay`")
    allowed = http.post(key, message(name="box__look", arguments=OTHERS, _meta=OTHERS), **headers)
    assert text_of(allowed.json()) == "look done"
    assert http.shop.box.calls[-1] == ["look", OTHERS]
    assert {each.subject for each in rows(http.shop)[:2]} == {"agent:bob"}
    listed = http.post(key, message("tools/list", **(OTHERS | {"_meta": OTHERS})), **headers).json()
    assert [each["name"] for each in listed["result"]["tools"]] == ["box__look", *OWN_TOOLS]


@pytest.mark.parametrize("query", ["?org=other", "?org=shop&org=other", "?role=lead", "?subject=role:lead"])
def test_no_url_names_the_caller(http: Http, query: str) -> None:
    """An organization that does not declare the agent of the key is refused, and so is an unknown parameter."""
    answer = http.post(http.key("bob"), message(name="box__look", arguments={}), query)
    assert answer.status_code in (400, 403, 404, 422), answer.text
    assert http.post(http.key("bob"), message("tools/list"), "?org=shop").status_code == 200


@pytest.mark.parametrize(
    ("owner", "scopes", "status"),
    [
        (None, ("admin",), 403), ("ann", ("read", "request"), 403), ("ann", ("report",), 403), ("nobody", ("read", "report"), 403),
        ("ann", ("read", "report"), 200),
    ],
)  # fmt: skip
def test_only_keys_of_members_that_may_report_call(
    http: Http, owner: str | None, scopes: tuple[str, ...], status: int
) -> None:
    """The key of an operator, one without a scope and one of an undeclared agent are refused."""
    key = http.key(owner, *scopes)
    before = len(http.shop.box.calls)
    assert http.post(key, message(name="box__look", arguments={})).status_code == status
    assert len(http.shop.box.calls) - before == (status == 200)


def test_no_key_opens_nothing_on_loopback(http: Http) -> None:
    """Without a key, with an unknown one, with one that has expired, and in another scheme."""
    expired = http.key("ann", seconds=0.5)
    time.sleep(0.6)
    for headers in ({}, bearer("nothing"), bearer(expired), {"Authorization": f"Basic {expired}"}):
        for method in ("tools/list", "initialize", "prompts/list", "ping"):
            answer = http.post("", message(method), **headers)
            assert answer.status_code == 401, (headers, answer.text)
            assert "box" not in answer.text


def test_a_revoked_key_calls_no_more(http: Http) -> None:
    """From the next message on, on a connection that is kept open."""
    key = http.key("ann")
    before = len(http.shop.box.calls)
    with httpx2.Client(base_url=http.url, headers=bearer(key)) as client:
        said = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        call = message(name="box__look", arguments={})
        assert client.post("/mcp", json=call, headers=said).status_code == 200
        with open_store(location_of(http.shop.store)) as store:
            found = store.keys.find(key)
            assert found is not None
            store.keys.revoke(found.key_id, actor="test")
        assert client.post("/mcp", json=call, headers=said).status_code == 401
        assert client.post("/mcp", json=message("tools/list"), headers=said).status_code == 401
    assert len(http.shop.box.calls) == before + 1


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_there_is_no_session_to_take_over(http: Http, method: str) -> None:
    """No other method than POST is answered, and no answer has the id of a session."""
    headers = bearer(http.key("ann")) | {"accept": "text/event-stream", "mcp-session-id": "1"}
    assert httpx2.request(method, f"{http.url}/mcp", headers=headers).status_code == 405
    answer = http.post(
        http.key("ann"),
        message(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "x", "version": "1"},
        ),
    )
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


def test_a_batch_is_refused_whole(http: Http) -> None:
    """No message in an array is answered, over HTTP."""
    before = len(http.shop.box.calls)
    answer = http.post(
        http.key("ann"), [message(name="box__look", arguments={}), message(name="box__send", arguments={})]
    )
    assert answer.status_code == 400
    assert len(http.shop.box.calls) == before


def test_two_keys_on_one_connection_see_their_own(http: Http) -> None:
    """Whichever came first, in both eras; nothing that a cache may share is said about a list."""
    said = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    ann, bob = http.key("ann"), http.key("bob")
    seen: dict[str, set[str]] = {ann: set(), bob: set()}
    with httpx2.Client(base_url=http.url) as client:
        for key in (ann, bob, ann, bob, bob, ann):
            answer = client.post("/mcp", json=message("tools/list"), headers=said | bearer(key))
            assert answer.status_code == 200
            assert "etag" not in answer.headers
            assert "public" not in answer.headers.get("cache-control", "")
            seen[key] |= {each["name"] for each in answer.json()["result"]["tools"]}
            etagged = client.post(
                "/mcp", json=message("tools/list"), headers=said | bearer(key) | {"if-none-match": "*"}
            )
            assert etagged.status_code == 200
            assert etagged.json()["result"] == answer.json()["result"]
    assert {"box__pay", "box__send"} <= seen[ann]
    assert seen[bob] == {"box__look", *OWN_TOOLS}


def test_no_list_comes_from_the_cache_of_another_key(http: Http) -> None:
    """With the client of the SDK, which keeps lists: each client has those of its key, and they are private."""
    with http.client(http.key("ann")) as ann, http.client(http.key("bob")) as bob:
        assert ann.client.protocol_version == "2026-07-28"
        for _ in range(2):
            assert len(ann.do("list_tools").tools) == 4 + len(OWN_TOOLS)
            listed = bob.do("list_tools")
            assert [each.name for each in listed.tools] == ["box__look", *OWN_TOOLS]
            assert (listed.cache_scope, listed.ttl_ms) == ("private", 60_000)
        for method in ("list_prompts", "list_resources", "list_resource_templates"):
            assert bob.do(method).cache_scope == "private"


@pytest.mark.parametrize("era", ERAS)
def test_the_official_client_is_who_its_key_is(http: Http, era: str) -> None:
    """In both eras, whatever it calls itself and whatever it sends beside."""
    with http.client(http.key("bob"), era) as calls:
        found = calls.do("call_tool", "box__send", OTHERS, meta={"subject": "role:lead"})
        assert found.is_error
        assert "`agent:bob`" in found.content[0].text


def test_an_edit_is_followed_by_the_next_list_and_call(tmp_path: Path) -> None:
    """A role that lost a tool neither sees it nor calls it, over a connection that has seen and called it before."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        assert "box__send" in wire.tools()
        assert wire.text("box__send") == "send done"
        shop.edit(
            "roles/clerk.yaml",
            profile("clerk", "specialist", "lead", mcp__box__look="read", mcp__crate="read"),
        )
        until(wire.tools, lambda tools: "box__send" not in tools, 0.1)
        assert wire.text("box__send").startswith("deny: ")
        assert [each[0] for each in shop.box.calls] == ["send"]
        shop.edit("roles/clerk.yaml", CLERK)
        until(wire.tools, lambda tools: "box__send" in tools, 0.1)


def test_a_role_over_stdio_stays_the_one_of_the_options(tmp_path: Path) -> None:
    """After a second handshake, in a batch, with metadata of both eras, and with a name that looks like another."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--agent", "bob") as wire:
        again = wire.shake_hands(roots={}, experimental={"role": {"is": "lead"}})
        assert "error" in again or "result" in again
        answer = wire.ask(
            "tools/call", name="box__send", arguments=OTHERS, _meta=OTHERS, role="lead", subject="role:lead"
        )
        assert text_of(answer).startswith("deny: `agent:bob`")
        envelope = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "lea", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        answer = wire.ask("tools/call", name="box__send", arguments={}, _meta=envelope | OTHERS)
        assert "error" in answer or text_of(answer).startswith("deny: `agent:bob`")
        wire.write([message(name="box__send", arguments={}), message(name="box__look", arguments={})])
        assert wire.tools() == ["box__look", *OWN_TOOLS]
        for name in ("b\u043ex__look", "box__look ", "BOX__look", "box__look\u200b", "box__look\x00", "box_look", "crate__look/../look"):  # fmt: skip
            assert text_of(wire.call(name)).startswith(("there is no tool", "deny")), name
    assert shop.box.calls == []


def test_a_revoked_grant_is_gone_with_the_next_message(http: Http) -> None:
    """After a revocation by another process, a client that has just listed and called the tool can do neither."""
    key, place = http.key("bob"), location_of(http.shop.store)
    with open_store(place) as store:
        for _ in range(3):
            granted = store.grants.issue(
                "agent:bob", ["tool:mcp__box__send"], level="write", org_id="shop", issued_by="test"
            )
            assert "box__send" in http.tools(key)
            assert http.text(key, "box__send") == "send done"
            before = len(http.shop.box.calls)
            store.grants.revoke(granted.grant_id, actor="test")
            assert http.text(key, "box__send").startswith("deny: ")
            assert "box__send" not in http.tools(key)
            assert len(http.shop.box.calls) == before
