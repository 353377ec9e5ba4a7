"""Servers that are silent, slow, dying or flooding: the lists of others do not wait for them, and say who is missing."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.api.running import until
from tests.gateway.gateways import Wire, on_wire, over_http
from tests.gateway.shop import LOOK, OWN_TOOLS, Box, Shop, large_shop
from tests.support.patience import PATIENCE

BOX = ["box__look", "box__pay", "box__send"]
QUICK = ("--list-seconds", "1")
LISTS = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
]


def ask(wire: Wire, method: str = "tools/list") -> tuple[dict[str, Any], float]:
    """The result of a list, and the seconds that it took."""
    begun = time.monotonic()
    return wire.ask(method)["result"], time.monotonic() - begun


def get_names(result: dict[str, Any], prefix: str) -> list[str]:
    """The listed tools of a server."""
    return [each["name"] for each in result["tools"] if each["name"].startswith(prefix)]


def get_missing(result: dict[str, Any]) -> dict[str, str]:
    """The reasons of the missing servers."""
    missing = result.get("_meta", {}).get("orgkernel/missing", [])
    return {each["server"]: each["reason"] for each in missing}


def await_change(wire: Wire) -> None:
    """Wait until the gateway tells of a change of its tools."""
    while wire.read().get("method") != "notifications/tools/list_changed":
        pass


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_a_silent_server_costs_one_deadline(tmp_path: Path, method: str) -> None:
    """The tools of the others are listed, the server is named, and it is not asked again with each list."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], mute=[method])
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        result, seconds = ask(wire)
        assert get_names(result, "box") == BOX
        assert get_missing(result) == {"crate": "it did not answer within 1 seconds"}
        assert seconds < 5
        for _ in range(20):
            result, seconds = ask(wire)
            assert (get_names(result, "box"), [*get_missing(result)]) == (BOX, ["crate"])
            assert seconds < 0.8
        assert len(shop.crate.noted("mute")) == 1
        assert wire.text("box__look") == "look done"
        assert wire.errors.count("server `crate` does not answer, so lists omit it") == 1


def test_all_lists_have_a_deadline(tmp_path: Path) -> None:
    """A server that never starts is waited for by the first list only, whatever is listed."""
    shop = Shop(tmp_path)
    shop.box.says(tools=[LOOK], prompts=[{"name": "greet"}], resources=[{"uri": "file:///a", "name": "a"}])
    shop.crate.says(tools=[LOOK], mute=["initialize"])
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        ask(wire)
        for method, field in LISTS:
            result, seconds = ask(wire, method)
            assert [*get_missing(result)] == ["crate"], method
            assert len(result[field]) == (
                1 + len(OWN_TOOLS) if field == "tools" else field != "resourceTemplates"
            ), result
            assert seconds < 0.8
        answer = wire.ask("prompts/get", name="crate__greet")
        assert "these servers do not answer: `crate`" in answer["error"]["message"]
        answer = wire.ask("resources/read", uri="file:///b")
        assert "these servers do not answer: `crate`" in answer["error"]["message"]
        assert "prompt" in str(wire.ask("prompts/get", name="box__greet")["result"])


def test_one_list_that_is_never_answered_delays_no_other(tmp_path: Path) -> None:
    """A server that runs and answers its other lists is missing in the silent one alone."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], resources=[{"uri": "file:///a", "name": "a"}], mute=["prompts/list"])
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        assert get_missing(ask(wire)[0]) == {}
        assert [*get_missing(ask(wire, "prompts/list")[0])] == ["crate"]
        for method, _ in LISTS:
            result, seconds = ask(wire, method)
            assert [*get_missing(result)] == (["crate"] if method == "prompts/list" else [])
            assert seconds < 0.8


def test_a_server_that_starts_slowly_is_announced(tmp_path: Path) -> None:
    """Its tools come with the list after the notification."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], late={"initialize": 3})
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        result, _ = ask(wire)
        assert (get_names(result, "crate"), [*get_missing(result)]) == ([], ["crate"])
        await_change(wire)
        result, _ = ask(wire)
        assert (get_names(result, "crate"), get_missing(result)) == (["crate__look"], {})
        assert "server `crate` answers again" in wire.errors
        assert len(shop.crate.processes) == 1


def test_a_server_that_dies_in_a_list_is_asked_again_with_growing_pauses(tmp_path: Path) -> None:
    """It is neither started for each list nor given up."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], dies=["tools/list"])
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        result, seconds = ask(wire)
        assert get_names(result, "box") == BOX
        assert get_missing(result) == {"crate": "it ended with exit code 3"}
        assert seconds < 5
        for _ in range(20):
            assert ask(wire)[1] < 0.8
        assert len(shop.crate.processes) < 4
        until(lambda: len(shop.crate.processes), lambda number: number >= 3)
        shop.crate.says(tools=[LOOK])
        await_change(wire)
        assert get_names(ask(wire)[0], "crate") == ["crate__look"]


def test_a_server_that_floods_delays_no_other(tmp_path: Path) -> None:
    """Its notifications are not passed on one by one."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], floods=["tools/list"])
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        result, seconds = ask(wire)
        assert (get_names(result, "box"), [*get_missing(result)]) == (BOX, ["crate"])
        assert seconds < 5
        for _ in range(5):
            assert ask(wire)[1] < 0.8
        assert wire.text("box__look") == "look done"
        assert not wire.has_said()


def test_many_silent_servers_do_not_hold_up_the_start_of_another(tmp_path: Path) -> None:
    """More of them than can start at once: the last one is started before the deadline anyway."""
    silent = [Box(tmp_path, f"a{number}", LOOK, mute=["initialize"]) for number in range(20)]
    shop = large_shop(tmp_path, [*silent, Box(tmp_path, "last", LOOK)])
    with on_wire(shop, "--role", "clerk", "--list-seconds", "10") as wire:
        result, seconds = ask(wire)
        assert get_names(result, "last") == ["last__look"]
        assert {*get_missing(result)} == {each.name for each in silent}
        assert seconds < 15


def test_a_restart_is_announced_only_if_the_tools_are_others(tmp_path: Path) -> None:
    """A host would read all lists again for a server that only was away for a moment."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk") as wire:
        assert get_names(ask(wire)[0], "crate") == ["crate__look"]
        wire.call("crate__look", die=True)
        number = wire.send("tools/call", name="crate__look", arguments={})
        assert wire.read()["id"] == number
        time.sleep(2.5)
        assert not wire.has_said()
        shop.box.says(tools=[LOOK])
        wire.call("box__look", die=True)
        wire.send("tools/call", name="box__look", arguments={})
        await_change(wire)
        assert get_names(ask(wire)[0], "box") == ["box__look"]


def test_a_server_that_falls_silent_keeps_its_reviewed_tools(tmp_path: Path) -> None:
    """Calls are decided and checked anyway, and the answer says that the list is not current."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], tells={"listChanged": True})
    with on_wire(shop, "--role", "clerk", *QUICK) as wire:
        assert get_names(ask(wire)[0], "crate") == ["crate__look"]
        shop.crate.says(tools=[LOOK], tells={"listChanged": True}, mute=["tools/list"])
        wire.call("crate__look", changes=True)
        until(lambda: [*get_missing(ask(wire)[0])], lambda missing: missing == ["crate"])
        result, seconds = ask(wire)
        assert (get_names(result, "crate"), [*get_missing(result)]) == (["crate__look"], ["crate"])
        assert seconds < 0.8


def test_a_role_does_not_wait_for_servers_that_it_cannot_use(tmp_path: Path) -> None:
    """It is not told of them either, and they are not started for it."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], mute=["initialize"])
    with on_wire(shop, "--role", "guest") as wire:
        for method, _ in LISTS:
            result, seconds = ask(wire, method)
            assert get_missing(result) == {}
            assert seconds < 4
        assert shop.crate.processes == []


def test_a_partial_list_over_http_is_kept_for_a_short_time(tmp_path: Path) -> None:
    """Every agent gets the names of its own missing servers, and the client asks again soon."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], mute=["initialize"])
    with over_http(shop, *QUICK) as http:
        clerk, guest = http.key("ann"), http.key("bob")
        assert [*get_missing(http.ask(clerk, "tools/list")["result"])] == ["crate"]
        assert get_missing(http.ask(guest, "tools/list")["result"]) == {}
        with http.client(clerk) as calls:
            listed = calls.do("list_tools")
            assert listed.ttl_ms <= 2_000
            assert "orgkernel/missing" in listed.meta
        with http.client(guest) as calls:
            assert calls.do("list_tools").ttl_ms == 60_000


def test_a_client_without_a_handshake_hears_of_a_return(tmp_path: Path) -> None:
    """The official client listens to changes, and reads the whole list after one."""
    shop = Shop(tmp_path)
    shop.crate.says(tools=[LOOK], late={"initialize": 3})
    command = StdioServerParameters(
        command=str(Path(sys.executable).with_name("orgkernel")),
        args=["gateway", "--org", "shop", "--role", "clerk", *QUICK, *shop.options],
        cwd=str(tmp_path),
    )

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), Client(stdio_client(command)) as client:
            async with client.listen(tools_list_changed=True) as changes:
                names = {each.name for each in (await client.list_tools()).tools}
                assert names >= {*BOX}
                assert "crate__look" not in names
                async for _ in changes:
                    break
            assert "crate__look" in {each.name for each in (await client.list_tools()).tools}

    asyncio.run(run())
