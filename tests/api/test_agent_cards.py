"""Agent cards over HTTP: fetched and verified by A2A's own client, and what callers without a key may see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Match, Route
from starlette.testclient import TestClient

from manifest_api import create_app
from manifest_api.agent_cards import AgentCards, CardSettings, read_card_settings
from manifest_api.openapi import ROUTERS
from orgkernel.errors import BadProject
from orgkernel.exchange.a2a.keys import create_card_key, rotate_card_key
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import ORG, ROLE, client_of, problem, stored_client
from tests.api.keys import bearer, new_key
from tests.api.running import Server, running
from tests.exchange.checkers import Checker, Rejected, a2a_sdk
from tests.support.trees import TEMPLATES

WELL_KNOWN = "/.well-known/agent-card.json"
CATALOG = "/.well-known/ai-catalog.json"
KEYS = "/.well-known/jwks.json"
CARD = f"/v1/orgs/{ORG}/roles/{ROLE}/agent-card.json"
EXTENDED = f"/v1/orgs/{ORG}/roles/{ROLE}/extended-agent-card.json"
SHORT = (WELL_KNOWN, f"/v1/orgs/{ORG}/agent-card.json", CARD)
SETTINGS = CardSettings("https://agents.example/a2a", "https://org.example", is_public=True)


@pytest.fixture(scope="module")
def sdk() -> Iterator[Checker]:
    """A2A's own SDK."""
    with a2a_sdk() as checker:
        yield checker


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """All shipped organizations, one of them active."""
    return Kernel.open(TEMPLATES, active=ORG)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of one organization that signs its cards."""
    folder = tmp_path_factory.mktemp("cards")
    create_card_key(str(folder / "key.pem"))
    said = {"url": SETTINGS.url, "public_url": "https://org.example/", "public": True, "sign_key": "key.pem"}
    with running(folder, TEMPLATES / ORG, TEST_CARDS=json.dumps(said)) as found:
        yield found


def visiting(kernel: Kernel, settings: CardSettings | None = SETTINGS, **options: Any) -> TestClient:
    """A client elsewhere without a key."""
    app = create_app(kernel, cards=settings, **options)
    return TestClient(app, base_url="http://org.example", client=("10.0.0.7", 50000))


def test_the_client_of_a2a_finds_and_verifies_cards(server: Server, sdk: Checker) -> None:
    """At the well-known path and for a role, with pinned keys."""
    keys = server.get(KEYS).json()
    for path, name in (
        ("", "Software Development Organization"),
        (CARD, "Codegen Specialist"),
        (EXTENDED, "Codegen Specialist"),
    ):
        assert sdk.ask("resolve", base=server.url, path=path, keys=keys, headers={}) == name
    for path in (*SHORT, EXTENDED):
        card = server.get(path).json()
        sdk.ask("check", card=card)
        assert all(each["url"] == SETTINGS.url for each in card["supportedInterfaces"])
    with pytest.raises(Rejected):
        sdk.ask("verify", card={**server.get(CARD).json(), "name": "Another"}, keys=keys)


def test_a_running_server_signs_with_a_new_key_at_once(server: Server, sdk: Checker) -> None:
    """Without a restart; who has pinned the key before verifies with it only what it has signed."""
    before, pinned = server.get(CARD).json(), server.get(KEYS).json()
    etag = server.get(CARD).headers["etag"]
    rotate_card_key(str(server.folder / "key.pem"), 0.0, 4e9)
    after = server.get(CARD, headers={"if-none-match": etag})
    assert after.status_code == 200, "another signature is another answer"
    published = server.get(KEYS).json()
    assert published["keys"][1:] == pinned["keys"]
    for card in (before, after.json()):
        assert sdk.ask("verify", card=card, keys=published) == "verified"
    with pytest.raises(Rejected, match="not pinned"):
        sdk.ask("resolve", base=server.url, path=CARD, keys=pinned, headers={})


@pytest.mark.parametrize("path", [*SHORT, EXTENDED, CATALOG])
def test_an_answer_is_tagged_and_repeated(kernel: Kernel, path: str) -> None:
    """As that of the manifest; only an unsigned one is kept by the version of the documents."""
    with TestClient(create_app(kernel, cards=SETTINGS), base_url="http://127.0.0.1", client=("127.0.0.1", 5)) as client:  # fmt: skip
        first = client.get(path)
        assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
        again = client.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_the_catalog_leads_to_the_cards(kernel: Kernel) -> None:
    """Every address in it is below the public address and answers with the card of that version."""
    with visiting(kernel) as client:
        catalog = client.get(CATALOG).json()
        assert (catalog["specVersion"], catalog["host"]["identifier"]) == ("1.0", "org.example")
        names = [entry["identifier"] for entry in catalog["entries"]]
        assert len(set(names)) == len(names) > 30
        assert f"urn:air:org.example:a2a:{ORG}:{ROLE}" in names
        for entry in catalog["entries"][::7]:
            assert entry["type"] == "application/a2a-agent-card+json"
            assert entry["url"].startswith("https://org.example/v1/orgs/")
            card = client.get(entry["url"].removeprefix("https://org.example")).json()
            assert (card["version"], card["description"]) == (entry["version"], entry["description"])


def test_addresses_come_from_the_settings(kernel: Kernel) -> None:
    """A `Host` or forwarded header of a client does not change the addresses in cards."""
    with visiting(kernel) as client:
        asked = {"host": "evil.example", "x-forwarded-host": "evil.example"}
        for path in (WELL_KNOWN, CATALOG, CARD):
            assert "evil" not in client.get(path, headers=asked).text


# -- who may see what ---------------------------------------------------------------------------------------------------


def test_a_visitor_sees_short_cards_and_nothing_else(kernel: Kernel) -> None:
    """Every other route needs a key, however its path is written."""
    with visiting(kernel) as client:
        for path in (*SHORT, CATALOG):
            assert client.get(path).status_code == 200
            assert client.head(path).status_code == 200
        card = client.get(CARD).json()
        assert card["capabilities"] == {}
        assert "reports_to" not in json.dumps(card)
        for path in (
            EXTENDED, f"/v1/orgs/{ORG}/extended-agent-card.json", f"/v1/orgs/{ORG}", f"/v1/orgs/{ORG}/roles/{ROLE}", "/v1/orgs",
            "/v1/diagnostics", "/metrics", f"{CARD}/", f"/{CARD}", f"{CARD}?x=1/../..", f"/v1/orgs/{ORG}/manifest#agent-card.json",
            f"/v1/orgs/{ORG}/roles/..%2Fagent-card.json", "/.well-known/authzen-configuration",
        ):  # fmt: skip
            assert client.get(path).status_code in (403, 404, 422), path
            assert '"skills"' not in client.get(path).text
        assert client.post(CARD).status_code == 403


def test_public_paths_lead_to_cards_only() -> None:
    """No other route has such a path."""
    cards = AgentCards(SETTINGS)
    for path in (*SHORT, CATALOG, KEYS):
        scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
        routes = [
            route
            for router in ROUTERS
            for route in router.routes
            if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL
        ]
        assert cards.is_public("GET", path)
        assert [route.endpoint.__module__ for route in routes] == ["manifest_api.routes.agent_cards"]
        assert not cards.is_public("POST", path)


def test_a_visitor_does_not_learn_what_else_there_is(
    kernel: Kernel, templates: Kernel, tmp_path: Path
) -> None:
    """An unknown organization, an unknown role, an ambiguous one and one with errors give the same answer."""
    asked = ("/v1/orgs/nobody/agent-card.json", f"/v1/orgs/{ORG}/roles/nobody/agent-card.json", "/v1/orgs/omega/roles/human/agent-card.json")  # fmt: skip
    with visiting(kernel) as client:
        said = [problem(client.get(path), 404, "NO_CARD") for path in asked]
        assert all(each == said[0] for each in said)
        assert ORG not in json.dumps(said[0])
    with visiting(templates) as client:
        assert problem(client.get(WELL_KNOWN), 404, "NO_CARD") == said[0]
    (tmp_path / "org.yaml").write_text(
        "_schema: orgkernel:organization\norg_id: broken\nhierarchy: {a: {}}\n"
    )
    with visiting(Kernel.open(tmp_path)) as client:
        assert problem(client.get("/v1/orgs/broken/agent-card.json"), 404, "NO_CARD") == said[0]


def test_without_the_setting_cards_need_what_the_manifest_needs(kernel: Kernel, file: StoreLocation) -> None:
    """Nothing is public unless the operator says so."""
    key, blind = new_key(file, ["read"]), new_key(file, ["report"])
    hidden = replace(SETTINGS, is_public=False)
    with stored_client(kernel, file, "10.0.0.7", "org.example", cards=hidden) as client:
        for path in (*SHORT, CATALOG, EXTENDED):
            problem(client.get(path), 401, "UNAUTHENTICATED")
            assert client.get(path, headers=bearer(key)).status_code == 200
            problem(client.get(path, headers=bearer(blind)), 403, "SCOPE_MISSING")
    with stored_client(kernel, file, "10.0.0.7", "org.example", cards=SETTINGS) as client:
        problem(client.get(CARD, headers={"authorization": "Bearer wrong"}), 401, "BAD_CREDENTIAL")
        problem(client.get(EXTENDED), 401, "UNAUTHENTICATED")
        assert client.get(EXTENDED, headers=bearer(key)).json()["capabilities"]["extensions"]


def test_public_cards_are_public_where_loopback_needs_a_key(kernel: Kernel, file: StoreLocation) -> None:
    """With `--require-key`, public cards still need no key, and extended cards do."""
    new_key(file, ["read"])
    with stored_client(kernel, file, cards=SETTINGS, needs_key=True) as client:
        assert client.get(CARD).status_code == 200
        problem(client.get(EXTENDED), 401, "UNAUTHENTICATED")


def test_visitors_are_limited_by_address(kernel: Kernel) -> None:
    """Readers of public cards are limited by address, like all callers without a credential."""
    with visiting(kernel, rate=1) as client:
        codes = [client.get(CARD).status_code for _ in range(20)]
    assert codes[0] == 200
    assert 429 in codes


# -- settings -----------------------------------------------------------------------------------------------------------


def test_without_settings_there_are_no_cards(templates: Kernel) -> None:
    """A server without an address in its settings has no cards."""
    with client_of(templates) as client:
        for path in (*SHORT, EXTENDED, CATALOG, KEYS):
            problem(client.get(path), 404, "NO_CARDS")


def test_unsigned_cards_have_no_keys(kernel: Kernel) -> None:
    """There is nothing to verify them with."""
    with visiting(kernel) as client:
        problem(client.get(KEYS), 404, "NO_CARDS")
        assert "signatures" not in client.get(CARD).json()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "`url` is not an absolute address"),
        ({"url": "agents"}, "`url` is not an absolute address"),
        ({"url": "javascript:x"}, "`url` is not an absolute address"),
        ({"url": "https://me:pw@agents.example"}, "`url` is not an absolute address"),
        ({"url": "https://agents.example/\n"}, "`url` is not an absolute address"),
        ({"url": "https://a.example:x"}, "`url` is not an absolute address"),
        ({"url": "https://a.example"}, "`public_url` is not an absolute address"),
        ({"public": "yes"}, "`public` is neither true nor false"),
        ({"binding": "SOAP"}, "`binding` is `SOAP`"),
        ({"sign_key": 1}, "`sign_key` is not a string"),
        ({"jku": "https://a.example"}, "the setting `jku` is not known"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(said: dict[str, Any], words: str) -> None:
    """At the start, with what to write."""
    good = {"url": "https://a.example", "public_url": "https://b.example"}
    with pytest.raises(BadProject) as caught:
        read_card_settings(said if "url" in said or not said else good | said, "/")
    assert words in caught.value.message
