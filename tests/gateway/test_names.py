"""Names of tools in front of a host: one name never means two tools, and no two tools share a name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.errors import UsageError
from orgkernel.mcp.gateway.names import (
    build_exposed_name,
    build_prefix,
    map_tool_names,
    require_distinct_names,
)
from tests.gateway.gateways import on_wire
from tests.gateway.shop import LOOK, OWN_TOOLS, Box, Shop, large_shop
from tests.support.in_process import run_here

ODD = (
    "look", "l\u043eok", "LOOK", "look ", "read.text", "../look", "a/b", "", "-", "--all", "_", "__", "a__b", "box__look", "x" * 64,
    "x" * 500, "\u202elook", "look\n", "\u540d\u524d", "constructor", "__proto__", "orgkernel__request_access", "request_access",
)  # fmt: skip


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_name_is_one_that_hosts_take(server: str, name: str) -> None:
    """At most 64 letters, digits and signs of ASCII, with the server before the first two underscores."""
    exposed = build_exposed_name(server, name)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", exposed)
    assert exposed.partition("__")[0] == build_prefix(server)


@pytest.mark.parametrize("server", ["orgkernel", "OrgKernel", "ORGKERNEL"])
def test_no_server_is_called_like_the_gateway(server: str) -> None:
    """A server may have that name in the file of a host, and its tools are called otherwise."""
    assert not build_exposed_name(server, "request_access").lower().startswith("orgkernel__")


def test_servers_that_would_be_called_the_same_are_refused(tmp_path: Path) -> None:
    """Before anything is started: by a crafted name, by letter case, and by a name that two files have."""
    for first, second in (("my files", build_prefix("my files")), ("Box", "box"), ("box", "box")):
        with pytest.raises(UsageError, match="cannot be told apart"):
            require_distinct_names([first, second])
    require_distinct_names(["box", "crate", "my files", "orgkernel"])
    shop = Shop(tmp_path)
    crafted = build_prefix("my files")
    shop.declare({"my files": shop.box.command, crafted: shop.crate.command})
    for words in (
        ["--org", "shop", "--role", "clerk", "--path", shop.tree, "--store", shop.store],
        ["accept"],
    ):
        done = run_here("gateway", *words, "--mcp-config", shop.config, "--lock", shop.lock, cwd=tmp_path)
        assert done.returncode == 2
        assert "cannot be told apart" in done.stderr
    assert shop.box.processes == []


def test_tools_that_would_be_called_the_same_have_no_name() -> None:
    """Not even the one that came first."""
    crafted = build_exposed_name("box", "read.text").partition("__")[2]
    assert map_tool_names("box", ["read.text", crafted, "look"]) == {"box__look": "look"}


def test_each_name_calls_its_tool_and_no_other(tmp_path: Path) -> None:
    """Whatever a server calls its tools, and whatever the server is called in the file of the host."""
    odd = [Box(tmp_path, name, *({**LOOK, "name": each} for each in ODD)) for name in ("orgkernel", "b-1")]
    shop = large_shop(tmp_path, odd)
    with on_wire(shop) as wire:
        listed = wire.tools()
        assert len(listed) == len(set(listed))
        for server in odd:
            for name in ODD:
                exposed = build_exposed_name(server.name, name)
                if not name:
                    continue
                assert exposed in listed, (server.name, name)
                wire.text(exposed)
                assert server.calls[-1][0] == name
        assert "lacks the field `reason`" in wire.text("orgkernel__request_access", resource="x")
    assert len(odd[0].calls) == len(odd[1].calls) == len([name for name in ODD if name])
    assert set(json.loads(shop.lock.read_text())["servers"]["orgkernel"]["tools"]) >= set(ODD) - {""}


def test_a_role_asks_about_itself_behind_the_gateway(tmp_path: Path) -> None:
    """The tools of orgkernel answer for the caller; without self-service there are none, and no refusal offers one."""
    shop = Shop(tmp_path)
    with on_wire(shop, "--role", "clerk") as wire:
        assert set(OWN_TOOLS) <= set(wire.tools())
        assert "`role:clerk`" in wire.text("orgkernel__can", resource="tool:mcp__box__wipe")
        assert "orgkernel__request_access" in wire.text("box__wipe")
    with on_wire(shop, "--role", "clerk", "--no-self-service") as wire:
        assert not set(OWN_TOOLS) & set(wire.tools())
        assert wire.text("orgkernel__can", resource="tool:mcp__box__wipe").startswith("deny: ")
        assert "orgkernel__" not in wire.text("box__wipe")
