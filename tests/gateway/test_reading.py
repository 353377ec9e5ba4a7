"""Resources and prompts of servers: who may read them, what the audit says about it, and which URIs are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.kernel.stored import open_store
from orgkernel.mcp.gateway.uri_templates import does_template_match
from orgkernel.state.audit import read_rows
from tests.api.keys import opened
from tests.gateway.gateways import on_wire, over_http, text_of
from tests.gateway.shop import LOOK, Shop, profile
from tests.support.patience import within

OWN: dict[str, Any] = {
    "prompts": [{"name": "greet"}],
    "resources": [{"uri": "box://notes/a", "name": "a"}],
    "templates": [{"uriTemplate": "box://users/{id}/mail", "name": "mail"}],
}


def list_reads(shop: Shop) -> list[AuditEntry]:
    """The decisions about reads, oldest first."""
    with opened(shop.place) as store:
        rows = [*read_rows(store.context, AuditFilter(kind="decision"))]
    return [row.entry for row in reversed(rows) if {"uri", "prompt"} & set(row.entry.detail or {})]


def test_the_audit_names_the_server_and_what_was_read(tmp_path: Path) -> None:
    """On standard input and over HTTP."""
    shop = Shop(tmp_path)
    shop.box.says(tools=[LOOK], **OWN)
    with on_wire(shop) as wire:
        assert "result" in wire.ask("resources/read", uri="box://notes/a")
        assert "result" in wire.ask("resources/read", uri="box://users/7/mail")
        assert "result" in wire.ask("resources/read", uri="box+box://notes/a")
        assert "result" in wire.ask("prompts/get", name="box__greet", arguments={"tone": "kind"})
    with over_http(shop) as http:
        assert "result" in http.ask(http.key("ann"), "resources/read", uri="box://notes/a")
    reads = list_reads(shop)
    assert [(entry.activity, entry.resource) for entry in reads] == [("allow", "tool:mcp__box__look")] * 5
    named = [
        {name: (entry.detail or {}).get(name) for name in ("server", "uri", "prompt")} for entry in reads
    ]
    assert named == [
        {"server": "box", "uri": "box://notes/a", "prompt": None},
        {"server": "box", "uri": "box://users/7/mail", "prompt": None},
        {"server": "box", "uri": "box://notes/a", "prompt": None},
        {"server": "box", "uri": None, "prompt": "greet"},
        {"server": "box", "uri": "box://notes/a", "prompt": None},
    ]


UNLISTED = (
    "box://notes/b", "box+box://notes/b", "box+file:///etc/passwd", "box://users/7/mail/../../8/mail", "box://users/../mail",
    "box://users/7/8/mail", "box://users/%2e%2e/mail", "box://users/7%2F..%2F8/mail", "box://users/", "crate+box://notes/a",
)  # fmt: skip


def test_a_uri_that_the_server_does_not_list_is_refused(tmp_path: Path) -> None:
    """Also with the server in front, and where a template only begins like it. Nothing reaches the server."""
    shop = Shop(tmp_path)
    shop.box.says(tools=[LOOK], **OWN)
    with on_wire(shop) as wire:
        for uri in UNLISTED:
            assert "there is no resource" in text_of(wire.ask("resources/read", uri=uri))
    assert shop.box.noted("read") == []
    assert list_reads(shop) == []


def test_reading_uses_up_a_grant(tmp_path: Path) -> None:
    """A grant for one use allows one read, as it allows one call."""
    shop = Shop(tmp_path, guest=profile("guest", "specialist", "lead", mcp__crate="read"))
    shop.box.says(tools=[LOOK], **OWN)
    with open_store(shop.place) as store:
        store.grants.issue(
            "agent:bob", ["tool:mcp__box__look"], issued_by="test", org_id="shop", level="read", uses=1
        )
    with over_http(shop) as http:
        key = http.key("bob")
        assert "result" in http.ask(key, "resources/read", uri="box://notes/a")
        assert "error" in http.ask(key, "resources/read", uri="box://notes/a")
        assert http.text(key, "box__look").startswith("deny")
    assert [uri for uri, _ in shop.box.noted("read")] == ["box://notes/a"]


def test_a_completion_is_decided_like_the_read_of_what_it_completes(tmp_path: Path) -> None:
    """The server gets the name of the prompt or of the template as it knows it, and the audit names it. What the caller cannot read it
    cannot complete, and a completion uses up a grant like a read. A server that completes nothing is not asked.
    """
    shop = Shop(tmp_path, guest=profile("guest", "specialist", "lead", mcp__crate="read"))
    shop.box.says(tools=[LOOK], values=["paris", "park"], **OWN)
    shop.crate.says(tools=[LOOK], prompts=[{"name": "bid"}])
    argument = {"name": "city", "value": "par"}
    greeting = {"type": "ref/prompt", "name": "box__greet"}
    mail = {"type": "ref/resource", "uri": "box://users/{id}/mail"}
    with on_wire(shop) as wire:
        assert "completions" in wire.shake_hands()["result"]["capabilities"]
        answer = wire.ask(
            "completion/complete", ref=greeting, argument=argument, context={"arguments": {"tone": "kind"}}
        )
        assert answer["result"]["completion"]["values"] == ["paris", "park"]
        assert "result" in wire.ask("completion/complete", ref=mail, argument={"name": "id", "value": "7"})
        for reference in (greeting | {"name": "box__leave"}, mail | {"uri": "box://users/7/mail"}):
            assert "there is no " in text_of(
                wire.ask("completion/complete", ref=reference, argument=argument)
            )
        nothing = wire.ask("completion/complete", ref=greeting | {"name": "crate__bid"}, argument=argument)
        assert nothing["result"]["completion"]["values"] == []
    assert [params for params, _ in shop.box.noted("complete")] == [
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": argument,
            "context": {"arguments": {"tone": "kind"}},
        },
        {"ref": mail, "argument": {"name": "id", "value": "7"}},
    ]
    assert shop.crate.noted("complete") == []
    with open_store(shop.place) as store:
        store.grants.issue(
            "agent:bob", ["tool:mcp__box__look"], issued_by="test", org_id="shop", level="read", uses=1
        )
    with over_http(shop) as http:
        key = http.key("bob")
        parameters = {"ref": greeting, "argument": argument}
        assert http.ask(key, "completion/complete", **parameters)["result"]["completion"]["values"] == [
            "paris",
            "park",
        ]
        assert "there is no prompt" in text_of(http.ask(key, "completion/complete", **parameters))
    details = [entry.detail or {} for entry in list_reads(shop)]
    assert [each.get("prompt") or each.get("uri") for each in details] == [
        "greet",
        "box://users/{id}/mail",
        "bid",
        "greet",
    ]


@pytest.mark.parametrize(
    ("template", "uri", "matches"),
    [
        ("a://x/{b}", "a://x/1", True),
        ("a://x/{b}", "a://x/1/2", False),
        ("a://x/{b}", "b://x/1", False),
        ("a://x/{b}/end", "a://x/1/end", True),
        ("a://x/{b}/end", "a://x/1/end/more", False),
        ("a://x/{b}.{c}", "a://x/one.two.txt", True),
        ("a://x/{+path}", "a://x/1/2?q=3", True),
        ("a://x/{+path}", "a://x/1/../2", False),
        ("a://x/{+path}", "a://x/1/%2E%2e/2", False),
        ("a://x/{path*}", "a://x/1/2", False),
        ("a://x{/path*}", "a://x/1/2", True),
        ("a://x{/path}", "a://x/1/2", False),
        ("a://x{?q,lang}", "a://x?q=1&lang=de", True),
        ("a://x{?q}", "a://x", True),
        ("a://x{?q}", "a://x/y?q=1", False),
        ("a://x{#part}", "a://x#one", True),
        ("{+uri}", "file:///etc/passwd", False),
        ("{scheme}://x", "a://x", False),
        ("a://x/{b", "a://x/{b", False),
        ("a://x/y", "a://x/y", True),
        (None, "a://x/y", False),
    ],
)
def test_a_template_matches_what_it_can_become(template: object, uri: str, matches: bool) -> None:
    """As RFC 6570 expands it, and nothing that leaves its place."""
    assert does_template_match(template, uri) is matches


def test_a_hostile_template_costs_little() -> None:
    """However many expressions stand side by side."""
    with within(5):
        for template in ("a:" + "{b}" * 64, "a:" + "{+b}x" * 32, "a:" + "{b}" * 100_000):
            assert not does_template_match(template, "a:" + "x" * 4_000 + "?")
            does_template_match(template, "a:" + "x" * 1_000_000)
