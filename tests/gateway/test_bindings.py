"""Which declared tool and action a tool of a server is, and what it is called in front of a host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.bindings import ToolBinding, bind, map_server_tools
from orgkernel.mcp.gateway.names import build_exposed_name, build_prefix
from tests.support.trees import write_tree

OF = {"type": "mcp_server", "provider": "box"}


def bound(folder: Path, name: str, **tools: Any) -> tuple[ToolBinding, ...]:
    """What a tool of the server `box` is among some declared tools."""
    files = {
        "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {lead: {}}\n",
        "roles/lead.yaml": "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: specialist\n",
        "tools.yaml": yaml.safe_dump({"_schema": "orgkernel:tool_catalog", "tools": tools}),
    }
    write_tree(folder, files)
    view = Kernel.open(folder).organization("shop").snapshot.index
    return bind(map_server_tools(view, "box"), "box", name)


def test_the_most_exact_declaration_counts(tmp_path: Path) -> None:
    """A name for MCP before the id of a tool of the server, before an action, before the id, before the server."""
    named = {**OF, "names": {"mcp": "send"}, "side_effects": "write"}
    by_id = {**OF, "side_effects": "write"}
    actions = {**OF, "actions": {"send": "write", "look": "read"}}
    tools = {"by_name": named, "mcp__box__send": by_id, "box": actions, "send": by_id, "mcp__box": by_id}
    for expected in (
        ToolBinding("by_name", ("use",)),
        ToolBinding("mcp__box__send", ("use",)),
        ToolBinding("box", ("send",)),
        ToolBinding("send", ("use",)),
        ToolBinding("mcp__box", ("use",)),
    ):
        assert bound(tmp_path / expected.tool_id, "send", **tools) == (expected,)
        del tools[expected.tool_id]


def test_what_is_declared_twice_is_found_twice(tmp_path: Path) -> None:
    """The order of files does not decide which tool gets a name."""
    actions = {**OF, "actions": {"send": "write"}}
    found = bound(tmp_path, "send", one=actions, other=actions)
    assert {each.tool_id for each in found} == {"one", "other"}


def test_a_tool_of_another_server_or_type_is_none(tmp_path: Path) -> None:
    """Only the type and the provider say that a tool belongs to a server."""
    elsewhere = {"type": "mcp_server", "provider": "crate", "names": {"mcp": "send"}}
    api = {"type": "remote_api", "provider": "box", "names": {"mcp": "send"}}
    assert bound(tmp_path, "send", one=elsewhere, other=api, mcp__box__send={"type": "remote_api"}) == ()


def test_an_argument_names_the_action(tmp_path: Path) -> None:
    """A value that is no action, and a value that is missing, are no action either."""
    tool = {
        **OF,
        "names": {"mcp": "issue"},
        "actions": {"read": "read", "write": "write"},
        "action_argument": "method",
    }
    (found,) = bound(tmp_path, "issue", issues=tool)
    assert found.actions == ("read", "write")
    assert found.get_action_in({"method": "read"}) == "read"
    assert found.get_action_in({"method": "delete"}) == "delete"
    for odd in ({}, {"method": None}, {"method": ["read"]}, {"method": ""}):
        assert found.get_action_in(odd) not in found.actions


def test_of_several_actions_the_one_that_requires_the_most_counts(tmp_path: Path) -> None:
    """If nothing says which of them a call is."""
    tool = {**OF, "actions": {"low": "read", "high": "full", "middle": "write"}}
    assert bound(tmp_path, "send", mcp__box__send=tool) == (ToolBinding("mcp__box__send", ("high",)),)


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=90)), max_size=8, unique=True))
def test_names_in_front_of_a_host_tell_servers_apart(tools: list[tuple[str, str]]) -> None:
    """Every name is one that every host takes, and says by its beginning which server it is of."""
    fronts: dict[str, str] = {}
    for server, name in tools:
        exposed = build_exposed_name(server, name)
        assert len(exposed) <= 64
        assert exposed.isascii()
        front, _, rest = exposed.partition("__")
        assert front == build_prefix(server)
        assert rest
        assert fronts.setdefault(front, server) == server


@pytest.mark.parametrize("server", ["a__b", "_a", "a_", "a b", "ä", "", "x" * 30])
def test_a_server_of_an_odd_name_has_a_front_of_its_own(server: str) -> None:
    """No tool of a server with a plain name can be called like one of it."""
    assert "__" not in build_prefix(server)
    assert build_prefix(server) != server
