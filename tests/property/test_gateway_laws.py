"""Laws of the gateway: what a caller sees, what its calls do, what its manifest says and who can agree."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.manifest.role import build_role_manifest
from orgkernel.mcp.gateway.calling import follow_links
from orgkernel.mcp.gateway.listing import select_usable
from orgkernel.mcp.gateway.names import build_exposed_name
from tests.gateway.in_memory import DeskKernel, MemoryCaller, MemoryGateway, MemoryServer
from tests.reference.access_worlds import AGENTS, PEOPLE, ROLES, WorldMaker, state_of, views_of

SUBJECTS = [
    *(f"role:{each}" for each in ROLES), *(f"agent:{each}" for each in AGENTS), *(f"person:{each}" for each in PEOPLE)
]  # fmt: skip
INPUTS: tuple[dict[str, Any], ...] = (
    {}, {"path": "/bin/a"}, {"path": "src/a", "file": "src/a"}, {"run": "git status"}, {"path": "src/a", "run": "rm x"}, {"run": "ls $x"},
)  # fmt: skip


class World:
    """A generated organization whose tools are those of two servers, each action a tool of its server."""

    def __init__(self, seed: int, folder: Path) -> None:
        world = WorldMaker(seed).world()
        self.tools = world["tools"]
        self.actions: dict[str, tuple[str, tuple[str, str]]] = {}
        listed: dict[str, list[str]] = {"s0": [], "s1": []}
        for number, (tool_id, tool) in enumerate(sorted(world["tools"].items())):
            server = f"s{number % 2}"
            tool |= {"type": "mcp_server", "provider": server}
            actions = tool.get("actions") or {}
            if actions:
                tool["actions"] = {f"{tool_id}_{each}": level for each, level in actions.items()}
            for action in tool["actions"] if actions else ("use",):
                name = action if actions else tool_id
                listed[server].append(name)
                self.actions[build_exposed_name(server, name)] = name, (tool_id, action)
        self.kernel = DeskKernel(views_of(world)[0], state_of(world))
        self.servers = [MemoryServer(name, tools) for name, tools in listed.items()]
        self.gateway = MemoryGateway(folder, self.servers)

    def caller(self, subject: str) -> MemoryCaller:
        return MemoryCaller(self.kernel, subject)

    def called(self) -> list[tuple[str, dict[str, Any]]]:
        """What reached the servers since the last time."""
        found = [each for server in self.servers for each in server.calls]
        for server in self.servers:
            server.calls.clear()
        return found


def calls_of(world: World, subject: str) -> Mapping[str, list[str]]:
    """Each tool, with how the kernel decides about a call with each input."""
    caller, view = world.caller(subject), world.kernel.desk.view
    base = caller.base
    found: dict[str, list[str]] = {}
    for exposed, (_, (tool_id, action)) in world.actions.items():
        for tool_input in INPUTS:
            context = replace(base.context, input=tool_input)
            request = replace(base, action=action, resource=f"tool:{tool_id}", context=context)
            request = asyncio.run(follow_links(caller, view, os.getcwd(), tool_id, request))
            found.setdefault(exposed, []).append(world.kernel.desk.decide(request).outcome)
    return found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(SUBJECTS))
def test_a_call_reaches_its_server_exactly_if_the_kernel_allows_it(seed: int, subject: str) -> None:
    """And every other call is a refusal, whole in one text."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(seed, Path(folder))
        caller = world.caller(subject)
        for exposed, outcomes in calls_of(world, subject).items():
            for tool_input, outcome in zip(INPUTS, outcomes, strict=True):
                result = world.gateway.call(caller, exposed, tool_input)
                reached = world.called()
                if outcome == "allow":
                    assert reached == [(world.actions[exposed][0], tool_input)]
                    assert not result.get("isError")
                else:
                    assert not reached
                    assert result["isError"]
                    assert len(result["content"]) == 1
                    assert result["content"][0]["text"].startswith(("deny: ", "ask: ", "conditional: "))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(SUBJECTS))
def test_the_list_shows_what_a_call_could_do(seed: int, subject: str) -> None:
    """What is allowed or asks first is listed, and what is not listed is allowed with no input."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(seed, Path(folder))
        shown = {each["name"]: each for each in world.gateway.list(world.caller(subject))}
        assert [*shown] == sorted(shown)
        for exposed, outcomes in calls_of(world, subject).items():
            tool = world.tools[world.actions[exposed][1][0]]
            if exposed in shown and not {"path_arguments", "command_arguments"} & tool.keys():
                assert set(outcomes) != {"deny"}, (exposed, outcomes, tool)
            if {"allow", "ask"} & set(outcomes):
                assert exposed in shown, (exposed, outcomes)
            if exposed in shown and "allow" in outcomes:
                assert "_meta" not in shown[exposed] or "ask" in outcomes
        assert shown.keys() <= world.actions.keys()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(SUBJECTS))
def test_the_list_who_can_and_the_manifest_agree(seed: int, subject: str) -> None:
    """The same tools are shown to a caller, found for it by `who-can`, and in its manifest."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(seed, Path(folder))
        caller = world.caller(subject)
        shown = {each["name"] for each in world.gateway.list(caller)}
        found = set()
        for exposed, (_, (tool_id, action)) in world.actions.items():
            rows: tuple[AccessRow, ...] = tuple(
                row for row in world.kernel.who_can("o", action, f"tool:{tool_id}") if row.subject == subject
            )
            if any(select_usable(rows, world.kernel.desk, caller.base).values()):
                found.add(exposed)
        assert shown == found
        kind, _, name = subject.partition(":")
        if kind == "role":
            desk = world.kernel.desk
            manifest = build_role_manifest(desk.view, name, (), desk.state, desk.build_current_context())
            tools = (*manifest.tools, *manifest.essential_tools)
            sure = {
                (each.id, action) for each in tools for action in (*each.allowed_actions, *each.ask_actions)
            }
            open_to_some = {(each.id, action) for each in tools for action in each.conditional_actions}
            assert {exposed for exposed, (_, use) in world.actions.items() if use in sure} <= shown
            assert shown <= {
                exposed for exposed, (_, use) in world.actions.items() if use in sure | open_to_some
            }
