"""Links in the paths of calls, and tools that no call could use."""

from __future__ import annotations

import os
from pathlib import Path

from tests.gateway.gateways import on_wire
from tests.gateway.shop import CLERK, TOOLS, Shop
from tests.gateway.test_replays import approve, request_in

SCOPED = CLERK + "file_scope: ['desk/**']\n"
WITH_PATHS = TOOLS.replace(
    "mcp__box__send: {type: mcp_server, provider: box, side_effects: write}",
    "mcp__box__send: {type: mcp_server, provider: box, side_effects: write, path_arguments: [path, paths]}",
).replace("mcp__box__pay: {type: mcp_server, provider: box, side_effects: write}",
          "mcp__box__pay: {type: mcp_server, provider: box, side_effects: write, path_arguments: []}")  # fmt: skip


def scoped_shop(folder: Path, **changed: str) -> Shop:
    """A shop whose clerk may write only below `desk`, beside which lie links."""
    shop = Shop(folder, clerk=SCOPED, **({"tools": WITH_PATHS} | changed))
    for name in ("desk", "desk/inner", "safe"):
        (folder / name).mkdir()
    os.symlink(folder / "safe", folder / "desk" / "out")
    os.symlink("inner", folder / "desk" / "in")
    return shop


def test_a_write_is_decided_about_where_its_path_leads(tmp_path: Path) -> None:
    """A link that leads out of a file scope is refused, one that stays inside is not, and of two paths the worse decides."""
    shop = scoped_shop(tmp_path)
    with on_wire(shop) as wire:
        assert wire.text("box__send", path="desk/a.txt") == "send done"
        assert wire.text("box__send", path="desk/in/a.txt") == "send done"
        assert wire.text("box__send", paths=["desk/in/a", "desk/b"]) == "send done"
        before = len(shop.box.calls)
        refused = wire.text("box__send", path="desk/out/a.txt")
        assert refused.startswith("deny: ")
        assert "`safe/a.txt` is outside" in refused
        assert "WRITE_OUT_OF_FILE_SCOPE" in wire.text("box__send", paths=["desk/in/a", "desk/out/b"])
        assert len(shop.box.calls) == before


def test_a_write_to_a_server_elsewhere_asks_for_an_approval(tmp_path: Path) -> None:
    """Links cannot be followed there, so a call inside the scope waits, once approved it is made once, and the list says so."""
    shop = scoped_shop(tmp_path)
    shop.declare(
        {
            "box": {**shop.box.command, "orgkernel": {"folder": ""}},
            "crate": shop.crate.command,
        }
    )
    with on_wire(shop) as wire:
        listed = {each["name"]: each for each in wire.ask("tools/list")["result"]["tools"]}
        assert listed["box__send"]["_meta"] == {"orgkernel/access": "ask"}
        answer = wire.text("box__send", path="desk/a.txt")
        assert answer.startswith("ask: ")
        assert "links in the paths of this call cannot be followed" in answer
        assert "roles/clerk.yaml:" in answer
        approve(shop, request_in(answer))
        assert wire.text("box__send", path="desk/a.txt") == "send done"
        assert wire.text("box__send", path="desk/a.txt").startswith("ask: ")
        assert wire.text("box__send", path="safe/a.txt").startswith("deny: ")
        assert wire.text("box__look") == "look done"


def test_tools_that_no_call_could_use_are_not_listed(tmp_path: Path) -> None:
    """A write that a file scope limits needs an argument that states its path."""
    shop = scoped_shop(tmp_path, tools=TOOLS)
    with on_wire(shop) as wire:
        assert [each for each in wire.tools() if each.startswith("box")] == ["box__look"]
        for name in ("box__send", "box__pay"):
            assert "declares no `path_arguments`" in wire.text(name, path="desk/a.txt")
