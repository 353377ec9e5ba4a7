"""Tokens of an identity provider that is slow or unreachable, and forged tokens."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.testclient import TestClient

from manifest_api.guards import token_keys
from manifest_api.guards.tokens import TokenSettings
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import stored_client
from tests.api.keys import bearer, location_of
from tests.api.running import until
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

ISSUER, AUDIENCE = "https://id.example.org", "orgkernel"
OLD, NEW, FORGED = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))


def token(key: Any, key_id: str, subject: str = "worker") -> str:
    said = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": subject,
        "exp": time.time() + 600,
        "scope": "orgkernel:read",
    }
    return jwt.encode(said, key, "ES256", {"kid": key_id})


def key_set(**keys: Any) -> bytes:
    found = [
        json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())) | {"kid": name}
        for name, key in keys.items()
    ]
    return json.dumps({"keys": found}).encode()


def private_key_set(**keys: Any) -> bytes:
    """What a provider publishes by mistake."""
    found = [json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key)) | {"kid": name} for name, key in keys.items()]
    return json.dumps({"keys": found}).encode()


class Provider:
    """A provider whose answers the test decides."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: Callable[[], bytes] = lambda: key_set(old=OLD)

    def fetch(self, url: str) -> bytes:
        self.asked += 1
        return self.answer()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    provider = Provider()
    monkeypatch.setattr(token_keys, "fetch", provider.fetch)
    return provider


@pytest.fixture
def client(provider: Provider, tmp_path: Path) -> Iterator[TestClient]:
    settings = TokenSettings(ISSUER, AUDIENCE, "https://id.example.org/keys", ("ES256",))
    kernel = Kernel.open(TEMPLATES / "household")
    with stored_client(kernel, location_of(tmp_path / "state.db"), tokens=settings) as client:
        yield client


def ask(client: TestClient, shown: str) -> int:
    return client.get("/v1/orgs", headers=bearer(shown)).status_code


def test_a_hanging_provider_does_not_delay_other_callers(client: TestClient, provider: Provider) -> None:
    """Answers use no thread that waits for it, and tokens that cannot be verified are refused in time."""
    gone, at_start = threading.Event(), provider.asked
    provider.answer = lambda: str(gone.wait(PATIENCE)).encode()
    with ThreadPoolExecutor(100) as threads:
        asking = [threads.submit(ask, client, token(OLD, f"unknown-{n}")) for n in range(100)]
        until(lambda: provider.asked - at_start, bool)
        for _ in range(5):
            assert client.get("/v1/orgs/household/manifest").status_code == 200
        assert {each.result(PATIENCE) for each in asking} <= {401, 429}
        assert not gone.is_set()
        gone.set()
    assert provider.asked - at_start == 1


def test_unknown_key_ids_share_one_fetch(client: TestClient, provider: Provider) -> None:
    """And cause no other one for a while."""
    at_start = provider.asked
    with ThreadPoolExecutor(20) as threads:
        found = list(threads.map(lambda n: ask(client, token(FORGED, f"unknown-{n}")), range(60)))
    assert set(found) <= {401, 429}
    assert provider.asked - at_start == 1
    assert ask(client, token(OLD, "old")) == 200


def test_failures_of_others_do_not_lock_out_a_valid_token(client: TestClient) -> None:
    """Neither one that was verified before nor a new one, though all come from one address."""
    known = token(OLD, "old")
    assert ask(client, known) == 200
    found = [ask(client, token(FORGED, "old", f"guess-{n}")) for n in range(60)]
    assert found[0] == 401
    assert found[-1] == 429
    assert ask(client, known) == 200
    assert ask(client, token(OLD, "old", "another")) == 200


def test_keys_are_reloaded(client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new key is known when a token needs it, and one that was taken back opens nothing any more."""
    monkeypatch.setattr(token_keys, "BETWEEN_SECONDS", 0.0)
    before = token(OLD, "old")
    assert ask(client, before) == 200
    provider.answer = lambda: key_set(new=NEW)
    assert ask(client, token(NEW, "new")) == 200
    assert ask(client, before) == 401


def test_a_revoked_key_opens_nothing_after_a_pause(
    client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time of the keys, the first request waits for the fetch: a token of a revoked key is refused, whether it was verified
    before or not.
    """
    assert token_keys.RELOAD_SECONDS == 300.0
    before = token(OLD, "old")
    assert ask(client, before) == 200
    provider.answer = lambda: key_set(new=NEW)
    assert ask(client, before) == 200
    monkeypatch.setattr(token_keys, "RELOAD_SECONDS", 0.0)
    at_start = provider.asked
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda each: ask(client, each), [before, token(OLD, "old", "another")] * 4)
        )
    assert set(answers) == {401}
    assert provider.asked - at_start == 1


def test_a_slow_provider_is_waited_for(
    client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token of a revoked key is not accepted while the fetch takes a second."""
    before = token(OLD, "old")
    assert ask(client, before) == 200

    def answer() -> bytes:
        time.sleep(1)
        return key_set(new=NEW)

    provider.answer = answer
    monkeypatch.setattr(token_keys, "RELOAD_SECONDS", 0.0)
    assert ask(client, before) == 401


def test_a_provider_that_hangs_delays_a_valid_token_until_the_deadline(
    client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The former keys stay in use, and the next requests do not wait for the same fetch. Keys of an hour ago are refused."""
    assert token_keys.MAX_AGE_SECONDS == 3_600.0
    valid, gone = token(OLD, "old"), threading.Event()
    assert ask(client, valid) == 200
    provider.answer = lambda: str(gone.wait(PATIENCE)).encode()
    monkeypatch.setattr(token_keys, "RELOAD_SECONDS", 0.0)
    monkeypatch.setattr(token_keys, "FETCH_SECONDS", 0.5)
    at_start = provider.asked
    assert ask(client, valid) == 200
    monkeypatch.setattr(token_keys, "FETCH_SECONDS", PATIENCE)
    monkeypatch.setattr(token_keys, "SECONDS_AFTER_FAILURE", PATIENCE)
    monkeypatch.setattr(token_keys, "BETWEEN_SECONDS", 4 * PATIENCE)
    gone.set()
    until(lambda: ask(client, valid), lambda status: status == 200)
    assert provider.asked - at_start == 1
    monkeypatch.setattr(token_keys, "MAX_AGE_SECONDS", 0.0)
    assert ask(client, valid) == 401


def test_a_provider_that_fails_leaves_the_keys_for_a_while(
    client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not for ever."""
    monkeypatch.setattr(token_keys, "BETWEEN_SECONDS", 0.0)
    assert ask(client, token(OLD, "old")) == 200
    provider.answer = lambda: b"<html>"
    assert ask(client, token(NEW, "new")) == 401
    assert ask(client, token(OLD, "old", "another")) == 200
    monkeypatch.setattr(token_keys, "RELOAD_SECONDS", 0.0)
    monkeypatch.setattr(token_keys, "MAX_AGE_SECONDS", 0.0)
    assert ask(client, token(OLD, "old")) == 401


def test_a_file_of_keys_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When it changes; one that is broken, or has private keys, leaves the keys as they were."""
    monkeypatch.setattr(token_keys, "LOOK_SECONDS", 0.0)
    path = tmp_path / "keys.json"

    def write(content: bytes) -> None:
        (tmp_path / "next").write_bytes(content)
        os.replace(tmp_path / "next", path)

    write(key_set(old=OLD))
    settings = TokenSettings(ISSUER, AUDIENCE, str(path), ("ES256",))
    kernel = Kernel.open(TEMPLATES / "household")
    with stored_client(kernel, location_of(tmp_path / "state.db"), tokens=settings) as client:
        before = token(OLD, "old")
        assert ask(client, before) == 200
        write(b"{")
        assert ask(client, before) == 200
        write(private_key_set(new=NEW))
        assert ask(client, before) == 200
        assert ask(client, token(NEW, "new")) == 401
        assert "contains a private or symmetric key" in caplog.text
        write(key_set(new=NEW))
        assert ask(client, before) == 401
        assert ask(client, token(NEW, "new")) == 200


def test_a_private_key_that_appears_later_is_not_used(
    client: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The fetched set before stays in use, and the log gives the reason, without the key."""
    before = token(OLD, "old")
    assert ask(client, before) == 200
    provider.answer = lambda: private_key_set(old=OLD, new=NEW)
    monkeypatch.setattr(token_keys, "RELOAD_SECONDS", 0.0)
    monkeypatch.setattr(token_keys, "BETWEEN_SECONDS", 0.0)
    assert ask(client, token(NEW, "new")) == 401
    assert ask(client, before) == 200
    assert "contains a private or symmetric key" in caplog.text
    assert json.loads(private_key_set(new=NEW))["keys"][0]["d"] not in caplog.text
