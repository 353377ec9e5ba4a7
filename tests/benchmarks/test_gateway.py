"""The benchmark of the gateway asks what it says: every way reaches the same tool, in the newer era, without a session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.gateway import Way, ask_on_stdio
from benchmarks.gateway_servers import (
    ERA,
    calling,
    create_keys,
    started,
    upstream,
    write_config,
    write_organization,
    write_stdio_config,
)
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.kernel import Kernel


@pytest.mark.parametrize("tools", [1, 3])
def test_the_server_behind_answers(tools: int, tmp_path: Path) -> None:
    """Each of its paths is a server of its own, with as many tools as were asked for."""
    with upstream(2, tools) as behind:
        servers = json.loads(write_config(tmp_path, behind.port, 2).read_text(encoding="utf-8"))["mcpServers"]
        assert [each["url"] for each in servers.values()] == [
            f"http://127.0.0.1:{behind.port}/{number}/mcp" for number in (0, 1)
        ]
        for path in ("/0/mcp", "/1/mcp"):
            way = Way(behind, path)
            assert way.result(way.call())["content"] == [{"type": "text", "text": "hello"}]
            names = [tool["name"] for tool in way.result(way.listing())["tools"]]
            assert names == ["echo", *(f"find_{number}" for number in range(1, tools))]
        with pytest.raises(ValueError, match="nothing"):
            way.result(way.call("nothing"))


def test_it_answers_on_standard_input_and_output(tmp_path: Path) -> None:
    """One message after the other, each of which stands for itself."""
    (server,) = json.loads(write_stdio_config(tmp_path).read_text(encoding="utf-8"))["mcpServers"].values()
    with started([server["command"], *server["args"]], -1) as process:
        assert len(ask_on_stdio(process, calling("echo"), 3)) == 3


def test_every_role_may_call_every_tool(tmp_path: Path) -> None:
    """So that what is measured is a call that is made; each agent has a key of its own."""
    write_organization(tmp_path, 3, 2)
    kernel = Kernel.open(tmp_path / "org")
    for role in range(3):
        for server in range(2):
            asked = AccessRequest(f"role:role_{role}", "use", f"tool:mcp__s{server}")
            assert kernel.can("bench", asked).outcome == "allow"
    assert len(set(create_keys(tmp_path, 3))) == 3
    assert (
        json.loads(json.dumps(calling("echo")))["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
        == ERA
    )
