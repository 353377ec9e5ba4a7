"""What was permitted or approved once is permitted once: for that call, for that role, for those documents, until it expires."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from orgkernel import Kernel
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.errors import PermitRefused
from orgkernel.kernel.stored import open_store
from orgkernel.operations.permits import Permits
from orgkernel.state.tables import grants, state_version
from orgkernel.state.verify import verify_audit
from orgkernel.toolbox.adapters.adapter import Call
from orgkernel.toolbox.adapters.upstream import UpstreamAdapter
from orgkernel.toolbox.upstream_tools import UpstreamReply
from tests.api.keys import location_of, opened
from tests.gateway.gateways import Http, Wire, on_wire, over_http, text_of
from tests.gateway.shop import POLICIES, Shop
from tests.support.in_process import run_here
from tests.support.patience import until

FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": FORMS,
}
"""What every request of the newer era has besides."""


def request_in(text: str) -> str:
    """The id of the request that a refusal names."""
    found = re.search(r"request `(r-\w+)` waits", text)
    assert found, text
    return found[1]


def approve(shop: Shop, request_id: str) -> None:
    """Approve a request as the operator does."""
    done = answered(shop, request_id)
    assert done.returncode == 0, done.stderr


def answered(shop: Shop, request_id: str) -> Any:
    """What the command of the operator says."""
    return run_here(
        "request", "approve", request_id, "--path", shop.tree, "--store", shop.store, cwd=shop.folder
    )


class Counting:
    """A server that counts calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def call(self, name: str, arguments: dict[str, Any], **options: Any) -> UpstreamReply:
        self.calls.append((name, arguments))
        return UpstreamReply({"content": []})


def test_a_permit_calls_one_server_once(tmp_path: Path) -> None:
    """A permit that was used, that is for other arguments or another tool, or that is not a permit, calls no tool."""
    shop, server = Shop(tmp_path), Counting()
    request = AccessRequest("role:clerk", "use", "tool:mcp__box__send")
    with open_store(location_of(shop.store)) as store:
        permits = Permits(Kernel.open(shop.tree), store)

        def permit(arguments: dict[str, Any]) -> Any:
            return permits.decide("shop", request, encode_input(arguments)).permit

        def run(permit: Any, tool: str, arguments: dict[str, Any]) -> Any:
            adapter = UpstreamAdapter(tool, permits.redeem, server, "send")
            return asyncio.run(
                adapter.run(permit, Call("use", encode_input(arguments), "shop", "role:clerk"))
            )

        given = permit({"to": "ann"})
        assert run(given, "mcp__box__send", {"to": "ann"}).outcome == "done"
        for used, tool, arguments in (
            (given, "mcp__box__send", {"to": "ann"}),
            (permit({"to": "ann"}), "mcp__box__send", {"to": "bob"}),
            (permit({"to": "ann"}), "mcp__box__pay", {"to": "ann"}),
            (None, "mcp__box__send", {"to": "ann"}),
        ):
            with pytest.raises(PermitRefused):
                run(used, tool, arguments)
    assert server.calls == [("send", {"to": "ann"})]


def test_an_approval_is_for_one_call_and_used_once(tmp_path: Path) -> None:
    """Not for other arguments, not for another agent, and not twice, also when the uses race each other."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--agent", "ann") as wire, on_wire(shop, "--agent", "amy") as other:
        approve(shop, request_in(wire.text("box__pay", amount=5, to="x")))
        assert wire.text("box__pay", amount=5000, to="x").startswith("ask: ")
        assert wire.text("box__pay", amount=5).startswith("ask: ")
        assert wire.text("box__pay", amount="5", to="x").startswith("ask: ")
        assert other.text("box__pay", amount=5, to="x").startswith("ask: ")
        assert shop.box.calls == []
        numbers = [
            wire.send("tools/call", name="box__pay", arguments={"to": "x", "amount": 5}) for _ in range(4)
        ]
        said: list[str] = []
        while len(said) < len(numbers):
            message = wire.read()
            if message.get("id") in numbers:
                said.append(text_of(message))
        assert sorted(each.partition(":")[0] for each in said) == ["ask", "ask", "ask", "pay done"]
        assert shop.box.calls == [["pay", {"to": "x", "amount": 5}]]
    with opened(location_of(shop.store)) as store:
        assert verify_audit(store.context, store.folder).findings == ()


def test_an_approval_ends_with_the_documents_it_was_given_for(tmp_path: Path) -> None:
    """An edit of the documents makes every approval void, and a waiting request can no longer be approved."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        approve(shop, request_in(wire.text("box__pay", amount=5)))
        waiting = request_in(wire.text("box__pay", amount=6))
        shop.edit("policies.yaml", POLICIES.replace("payments_ask", "payments_always_ask"))
        until(lambda: wire.text("box__pay", amount=7), lambda text: "payments_always_ask" in text, 0.1)
        assert wire.text("box__pay", amount=5).startswith("ask: ")
        done = answered(shop, waiting)
        assert done.returncode != 0
        assert "documents" in done.stderr
    assert shop.box.calls == []


def test_an_approval_expires(tmp_path: Path) -> None:
    """What was approved long ago permits nothing."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        request_id = request_in(wire.text("box__pay", amount=5))
        approve(shop, request_id)
        with open_store(location_of(shop.store)) as store, store.engine.begin() as connection:
            (grant,) = store.grants.list()
            assert grant.expires_at is not None
            assert grant.uses_left == 1
            connection.execute(update(state_version).values(version=state_version.c.version + 1))
            expired = {"expires_at": time.time() - 1, "version": grants.c.version + 1}
            connection.execute(update(grants).values(expired))
        assert wire.text("box__pay", amount=5).startswith("ask: ")
    assert shop.box.calls == []


def pay_by_form(wire: Wire, action: str, times: int = 1) -> str:
    """Answer the form that a payment shows, so many times; the text of its result."""
    number = wire.send("tools/call", name="box__pay", arguments={"amount": 1})
    while True:
        message = wire.read()
        if message.get("method") == "elicitation/create":
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"action": action, "content": {}}}
            wire.write(*[reply] * times)
        elif message.get("id") == number:
            return text_of(message)


def test_an_answer_to_a_form_counts_once(tmp_path: Path) -> None:
    """A form that is accepted twice permits one call; without `--approver` it permits none."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk", "--approver", "person:owner", **FORMS) as wire:
        assert pay_by_form(wire, "accept", times=3) == "pay done"
        assert "denied" in pay_by_form(wire, "decline")
        assert shop.box.calls == [["pay", {"amount": 1}]]
    with on_wire(shop, "--role", "clerk", **FORMS) as wire:
        assert pay_by_form(wire, "accept", times=3).startswith("ask: ")
    assert shop.box.calls == [["pay", {"amount": 1}]]


def test_a_form_is_one_of_the_approvals_that_a_policy_requires(tmp_path: Path) -> None:
    """The form names what is missing, and accepting it twice counts once; the call passes after the other approval."""
    several = "    permissions: {tools: [mcp__box__pay]}\n    approvals: {count: 2}\n"
    shop = Shop(tmp_path, policies=POLICIES.replace("    permissions: {tools: [mcp__box__pay]}\n", several))
    with on_wire(shop, "--role", "clerk", "--approver", "person:owner", **FORMS) as wire:
        first = pay_by_form(wire, "accept")
        assert first.startswith("ask: ")
        assert "approvals needed: 2 different approvers" in first
        assert "still needed: 1 approver" in first
        again = pay_by_form(wire, "accept")
        assert "`person:owner` cannot answer it" in again
        assert shop.box.calls == []
        approve(shop, request_in(again))
        assert wire.text("box__pay", amount=1) == "pay done"
    assert shop.box.calls == [["pay", {"amount": 1}]]


def test_an_approver_needs_the_right(tmp_path: Path) -> None:
    """A person who may not grant the tool approves nothing by accepting, and the refusal says so."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk", "--approver", "person:friend", **FORMS) as wire:
        said = pay_by_form(wire, "accept")
        assert said.startswith("ask: ")
        assert "`person:friend` cannot answer it" in said
    assert shop.box.calls == []


def modern(wire: Wire, **params: Any) -> Any:
    """The answer to a call of the newer era, which is complete in itself."""
    return wire.ask("tools/call", name="box__pay", arguments={"amount": 1}, _meta=ENVELOPE, **params)


ACCEPTED = {"approval": {"action": "accept", "content": {}}}


@pytest.mark.parametrize("approver", [(), ("--approver", "person:owner")])
def test_a_forged_answer_of_the_newer_era_approves_nothing(tmp_path: Path, approver: tuple[str, ...]) -> None:
    """An answer without the state of a form, with that of another one, or with one that was used; only the real one counts."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk", *approver, hands=False) as wire:
        for state in (None, "", "r-000000000000", "1"):
            said = modern(wire, inputResponses=ACCEPTED, **({} if state is None else {"requestState": state}))
            assert said["result"]["resultType"] == "input_required", said
        state = said["result"]["requestState"]
        assert shop.box.calls == []
        real = modern(wire, inputResponses=ACCEPTED, requestState=state)
        assert text_of(real) == "pay done" if approver else text_of(real).startswith("ask: ")
        again = modern(wire, inputResponses=ACCEPTED, requestState=state)
        assert again["result"]["resultType"] == ("input_required" if approver else "complete")
    assert len(shop.box.calls) == (1 if approver else 0)


def test_no_form_approves_over_http(tmp_path: Path) -> None:
    """Forged or real, an answer that comes with the key of the agent is that of the agent."""
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann")

        def call(**params: Any) -> Any:
            said = {"name": "box__pay", "arguments": {"amount": 1}, "_meta": ENVELOPE, **params}
            answer = http.post(
                key, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said},
                **{"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "box__pay"},
            )  # fmt: skip
            return answer.json()

        asked = call()
        assert asked["result"]["resultType"] == "input_required", asked
        state = asked["result"]["requestState"]
        for _ in range(2):
            said = text_of(call(inputResponses=ACCEPTED, requestState=state))
            assert said.startswith("ask: ")
        assert shop.box.calls == []
        _is_used_by_its_owner_only(http, shop, key, state)


def _is_used_by_its_owner_only(http: Http, shop: Shop, key: str, request_id: str) -> None:
    """After an approval, the agent can call once, and no other agent of the same role can."""
    approve(shop, request_id)
    assert http.text(http.key("lea"), "box__pay", amount=1) == "pay done"  # she needs no approval
    assert http.text(http.key("bob"), "box__pay", amount=1).startswith("deny: ")
    assert http.text(key, "box__pay", amount=1) == "pay done"
    assert http.text(key, "box__pay", amount=1).startswith("ask: ")


def test_an_agent_cannot_approve_its_own_request(tmp_path: Path) -> None:
    """An agent with the scope to ask cannot answer its own request over HTTP."""
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann", "read", "report", "request")
        request_id = request_in(http.text(key, "box__pay", amount=1))
        found = {name: http.key("ann", "read", "report", "request", name) for name in ("grant",)}
        for secret in (key, *found.values()):
            answer = httpx2.post(
                f"{http.url}/v1/orgs/active/requests/{request_id}/approve",
                headers={"Authorization": f"Bearer {secret}"},
                json={},
            )
            assert answer.status_code in (403, 404, 409), answer.text
        assert http.text(key, "box__pay", amount=1).startswith("ask: ")
    assert shop.box.calls == []
