"""Who triggered a run over HTTP, and who handed work to whom: headers narrow what a key is good for, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.operations.upkeep import read_audit
from tests.api.keys import location_of, opened
from tests.gateway.gateways import Http, over_http, text_of
from tests.gateway.shop import Shop


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    """A gateway over HTTP."""
    with over_http(Shop(tmp_path_factory.mktemp("shop"))) as gateway:
        yield gateway


def listed(http: Http, key: str, **headers: str) -> set[str]:
    """The tools that are listed with some headers."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return {each["name"] for each in http.post(key, message, **headers).json()["result"]["tools"]}


def called(http: Http, key: str, tool: str, **headers: str) -> str:
    """The text of a call with some headers."""
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}},
    }
    return text_of(http.post(key, message, **headers).json())


def test_a_chain_narrows_a_key(http: Http) -> None:
    """A clerk that works for a guest, or for a subject without permissions, has no more permissions than this subject."""
    key = http.key("ann")
    alone = listed(http, key)
    assert called(http, key, "box__send") == "send done"
    for headers in (
        {"orgkernel-on-behalf-of": "agent:bob"},
        {"orgkernel-on-behalf-of": "person:friend"},
        {"orgkernel-on-behalf-of": "agent:nobody"},
    ):
        assert listed(http, key, **headers) < alone, headers
        assert called(http, key, "box__send", **headers).startswith("deny: "), headers


@pytest.mark.parametrize(
    "headers",
    [
        {"orgkernel-on-behalf-of": "person:owner"},
        {"orgkernel-on-behalf-of": "agent:lea"},
        {"orgkernel-via": "role:chief, role:lead"},
        {"orgkernel-on-behalf-of": "person:owner", "orgkernel-via": "role:lead"},
    ],
)
def test_no_chain_widens_a_key(http: Http, headers: dict[str, str]) -> None:
    """Naming another principal does not change the permissions of a guest."""
    key = http.key("bob")
    assert listed(http, key, **headers) <= listed(http, key)
    assert called(http, key, "box__send", **headers).startswith("deny: `agent:bob`")


@pytest.mark.parametrize(
    "headers",
    [
        {"orgkernel-on-behalf-of": "lea"},
        {"orgkernel-on-behalf-of": ""},
        {"orgkernel-on-behalf-of": "agent:lea, agent:bob"},
        {"orgkernel-via": "role:lead,,role:chief"},
        {"orgkernel-via": ", ".join(["role:lead"] * 17)},
        {"orgkernel-via": "role:" + "x" * 200},
    ],
)
def test_a_chain_that_cannot_be_read_is_refused(http: Http, headers: dict[str, str]) -> None:
    """It is not left out: that would give more."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = http.post(http.key("ann"), message, **headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert "role:ID" in answer.text


def test_the_audit_has_the_chain(http: Http) -> None:
    """Beside the credential and the subject."""
    called(
        http,
        http.key("ann"),
        "box__look",
        **{"orgkernel-on-behalf-of": "agent:lea", "orgkernel-via": "role:lead"},
    )
    with opened(location_of(http.shop.store)) as store:
        entry = next(iter(read_audit(store, AuditFilter(kind="decision"), 1))).entry
    assert entry.detail is not None
    assert (entry.subject, entry.detail["on_behalf_of"], entry.detail["via"]) == (
        "agent:ann",
        "agent:lea",
        "role:lead",
    )
