"""Who approves a call sees its arguments until the request ends, and the requester reads the words of the answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select

from orgkernel.errors import BadStore, Refused, TooManyRequests
from orgkernel.operations.permissions import RequestDraft, ask, deny, describe_request
from orgkernel.state.request_inputs import MAX_BYTES, VARIABLE
from orgkernel.state.tables import request_inputs
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, new_key
from tests.operations.surfaces import place_in
from tests.operations.test_asking import ANN, FILES, Shop, call
from tests.state.opening import Clock, opened
from tests.support.in_process import run_here
from tests.support.trees import write_tree

DIFF = "--- a\n+++ b\n-old\n+new"
SECRET = {"to": "bob", "text": DIFF, "login": {"user": "ann", "password": "tr0ub4dor"}, "amount": 20}


@pytest.fixture
def shop(quick_folder: Path) -> Iterator[Shop]:
    folder = write_tree(quick_folder, FILES) / "shop"
    clock, place = Clock(), place_in(quick_folder)
    with opened(place, clock) as store:
        yield Shop(folder, store, clock, place)


def shown(shop: Shop, request_id: str, **how: Any) -> dict[str, str]:
    """The arguments as an approver sees them."""
    return {each.name: each.value for each in describe_request(shop.context(), request_id, **how).arguments}


def kept(shop: Shop) -> list[str]:
    """Every input in the store."""
    with shop.store.engine.connect() as connection:
        return list(connection.execute(select(request_inputs.c.input)).scalars())


def test_an_approver_sees_the_call(shop: Shop) -> None:
    """Texts with their line breaks, other values as JSON, secrets masked wherever they stand, all of it on request."""
    made = shop.ask_for(call(**SECRET))
    masked = shown(shop, made.request_id)
    assert (masked["to"], masked["text"], masked["amount"]) == ("bob", DIFF, "20")
    assert '"password": "*********"' in masked["login"]
    assert '"password": "tr0ub4dor"' in shown(shop, made.request_id, arguments="full")["login"]
    assert shown(shop, made.request_id, arguments="withheld") == {}


@pytest.mark.parametrize("end", ["approve", "deny", "expire"])
def test_the_arguments_are_gone_when_the_request_has_ended(shop: Shop, end: str) -> None:
    """Not only hidden: no row is left, and after its time a request that nothing has marked shows none either."""
    made = shop.ask_for(call(**SECRET))
    assert "tr0ub4dor" in "".join(kept(shop))
    if end == "approve":
        shop.approve(made)
    elif end == "deny":
        deny(shop.context("system:cli"), made.request_id)
    else:
        shop.clock.now += 3_600
        assert describe_request(shop.context(), made.request_id).arguments_state == "not_kept"
        shop.store.requests.expire()
    assert kept(shop) == []
    assert describe_request(shop.context(), made.request_id).arguments_state == "not_kept"


def test_with_a_key_they_are_encrypted(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store has no plain value; without the key, or with another one, nothing is shown and the reason is told."""
    monkeypatch.setenv(VARIABLE, Fernet.generate_key().decode())
    made = shop.ask_for(call(**SECRET))
    (row,) = kept(shop)
    assert row.startswith("fernet:")
    assert "bob" not in row
    assert shown(shop, made.request_id)["to"] == "bob"
    for other in (Fernet.generate_key().decode(), ""):
        monkeypatch.setenv(VARIABLE, other)
        with pytest.raises(BadStore, match="the input of the request"):
            describe_request(shop.context(), made.request_id)
    monkeypatch.setenv(VARIABLE, "not-a-key")
    with pytest.raises(BadStore, match="is not a key"):
        shop.ask_for(call(text="another"))


def test_a_very_long_input_is_not_kept(shop: Shop) -> None:
    """The approver is told, and still has the digest."""
    made = shop.ask_for(call(text="x" * MAX_BYTES))
    full = describe_request(shop.context(), made.request_id)
    assert (full.arguments_state, full.arguments, made.input_digest is None) == ("not_kept", (), False)


def test_a_digest_of_another_input_is_refused(shop: Shop) -> None:
    """A requester cannot show one call and request another."""
    draft = RequestDraft(
        requester=ANN, resources=("tool:radio",), input={"text": "hello"}, input_digest="0" * 64
    )
    with pytest.raises(Refused, match="is not the digest of `input`"):
        ask(shop.context(), draft)


def test_the_command_shows_them(shop: Shop, tmp_path: Path) -> None:
    """Each argument has its own lines, and the line says how to see everything."""
    shop.clock.now = time.time()  # the command asks the clock of this machine
    made = shop.ask_for(call(**SECRET), "to warn bob")
    where = ["--store", shop.place.path, "--path", str(shop.folder)]
    text = run_here("request", "show", made.request_id, *where, cwd=tmp_path).stdout
    assert "arguments:\n  amount: 20\n" in text
    assert "  text:\n    --- a\n    +++ b\n    -old\n    +new\n" in text
    assert "tr0ub4dor" not in text
    assert "(masked; `--full` shows everything)" in text
    assert "can be approved by: " in text
    assert "tr0ub4dor" in run_here("request", "show", made.request_id, "--full", *where, cwd=tmp_path).stdout


def test_over_http_an_approver_sees_them_and_others_do_not(shop: Shop) -> None:
    """The scope `approve` decides; a body with `input` is bound to its digest."""
    reader, approver = (bearer(new_key(shop.place, scopes)) for scopes in (["read"], ["read", "approve"]))
    asker = bearer(new_key(shop.place, ["request"], agent="ann", orgs=("shop",)))
    with stored_client(shop.plain, shop.place) as client:
        body = {"resources": ["tool:radio"], "action": "send", "input": SECRET}
        made = client.post("/v1/orgs/shop/requests", json=body, headers=asker)
        assert made.status_code == 201, made.text
        path = f"/v1/orgs/shop/requests/{made.json()['request_id']}/widening"
        withheld = client.get(path, headers=reader).json()
        assert (withheld["arguments"], withheld["arguments_state"]) == ([], "withheld")
        masked = client.get(path, headers=approver).json()
        assert masked["arguments_state"] == "masked"
        assert "tr0ub4dor" not in str(masked["arguments"])
        assert "tr0ub4dor" in str(client.get(f"{path}?arguments=full", headers=approver).json())
        problem(client.get(f"{path}?arguments=some", headers=approver), 422, "INVALID_REQUEST")
        told = client.post(
            f"{path.removesuffix('/widening')}/deny", json={"reason": "too loud"}, headers=approver
        )
        assert told.json()["response_reason"] == "too loud"


def test_the_requester_reads_why_it_was_denied(shop: Shop) -> None:
    """With the name of the approver, and when the same can be requested again."""
    made = shop.ask_for(call(**SECRET))
    deny(shop.context("system:cli"), made.request_id, "bob is on leave")
    with pytest.raises(TooManyRequests) as refusal:
        shop.ask_for(call(**SECRET))
    assert refusal.value.message == f"`system:cli` denied request `{made.request_id}`: bob is on leave"
    assert refusal.value.help is not None
    assert refusal.value.help.startswith("the same can be requested again at ")


def test_pending_requests_of_one_tool_do_not_block_another(shop: Shop) -> None:
    """The refusal names those that wait, and another tool can still be requested."""
    ids = [shop.ask_for(call(channel=number)).request_id for number in range(5)]
    with pytest.raises(TooManyRequests) as refusal:
        shop.ask_for(call(channel=6))
    assert refusal.value.code == "TOO_MANY_PENDING"
    assert all(each in refusal.value.message for each in ids)
    other = RequestDraft(requester=ANN, resources=("tool:torch",))
    assert ask(shop.context(), other).status == "pending"
