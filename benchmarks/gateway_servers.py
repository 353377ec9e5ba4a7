"""The processes that `benchmarks/gateway.py` measures: the upstream, a FastMCP proxy, and the gateway with its organization."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.http import Server
from benchmarks.timing import NotMeasured

REPOSITORY = Path(__file__).parents[1]
ERA = "2026-07-28"
ORGKERNEL = (sys.executable, "-c", "from orgkernel.cli import main; main()")
PROXY = Path(sys.prefix) / "gatewaybench" / "bin" / "python"


class Reached(NamedTuple):
    """A server that runs, and how it is asked."""

    server: Server
    path: str
    headers: dict[str, str]
    prefix: str = ""
    """What stands before the names of tools."""


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A request of the era 2026-07-28, in which every request stands for itself."""
    meta = {
        "protocolVersion": ERA,
        "clientCapabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    envelope = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": envelope}}


def calling(tool: str, text: str = "hello") -> dict[str, Any]:
    """A call of the tool that answers with its argument."""
    return message("tools/call", {"name": tool, "arguments": {"text": text}})


def headers_of(asked: dict[str, Any]) -> dict[str, str]:
    """The headers that a request over HTTP has in this era."""
    name = asked["params"].get("name")
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": ERA,
        "Mcp-Method": asked["method"],
        **({"Mcp-Name": name} if name else {}),
    }


@contextmanager
def upstream(servers: int = 1, tools: int = 1) -> Iterator[Server]:
    """Some servers in one process, at `/0/mcp` and so on."""
    command = [sys.executable, "-m", "benchmarks.gateway_upstream", "http", str(servers), str(tools)]
    with started(command, subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server(process, int(process.stdout.readline()))


@contextmanager
def proxy(way: str, target: str) -> Iterator[Server]:
    """A FastMCP proxy. Raises `NotMeasured` if it is not installed."""
    with started(proxy_command(way, target), subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server(process, int(process.stdout.readline()))


def proxy_command(way: str, target: str) -> list[str]:
    """How a FastMCP proxy is started. Raises `NotMeasured` if it is not installed."""
    if not PROXY.exists():
        raise NotMeasured("FastMCP is not installed: run `make .venv/gatewaybench.stamp`")
    # Isolated, because the folder of the file has an `http.py`.
    return [str(PROXY), "-I", str(REPOSITORY / "benchmarks" / "gateway_proxy.py"), way, target]


@contextmanager
def gateway(folder: Path, config: Path, variables: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The gateway before the servers of a file, for all agents of the organization of a folder; with some variables."""
    command = [
        *ORGKERNEL, "gateway", "--org", "bench", "--http", "127.0.0.1:0", "--mcp-config", str(config), "--path", "org",
    ]  # fmt: skip
    with started(command, subprocess.DEVNULL, folder, variables=variables) as process:
        assert process.stderr is not None
        said = ""
        while "/mcp" not in (line := process.stderr.readline()):
            said += line
            if not line:
                raise NotMeasured(f"the gateway does not start: {said.strip()[-300:]}")
        # It logs to a pipe that nobody reads, which would be full at some time.
        with started(["cat"], subprocess.DEVNULL, standard_input=process.stderr):
            yield Server(process, int(line.rpartition("/mcp")[0].rpartition(":")[2]))


@contextmanager
def started(
    command: Sequence[str],
    output: int,
    folder: Path = REPOSITORY,
    standard_input: Any = subprocess.PIPE,
    variables: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A process, which is ended at the end. What it says on standard error is read by who wants it."""
    process = subprocess.Popen(
        command, stdin=standard_input, stdout=output, cwd=folder, text=True,
        stderr=subprocess.PIPE if output == subprocess.DEVNULL else subprocess.DEVNULL, env={**environment(), **(variables or {})},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)
        for each in (process.stdout, process.stderr, process.stdin):
            if each is not None:
                each.close()


def environment() -> dict[str, str]:
    """The variables of a process, with a store of its own in its folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ORGKERNEL")}
    return {**inherited, "PYTHONPATH": str(REPOSITORY)}


def write_organization(folder: Path, roles: int, servers: int) -> None:
    """An organization in which every role may call every tool of every server, with an agent for each role."""
    names = [f"s{number}" for number in range(servers)]
    catalog = {
        f"mcp__{name}": {"type": "mcp_server", "provider": name, "description": "A server.", "side_effects": "read"}
        for name in names
    }  # fmt: skip
    workers = [f"role_{number}" for number in range(roles)]
    documents: dict[str, Any] = {
        "org.json": {
            "_schema": "orgkernel:organization", "org_id": "bench", "org_name": "Bench",
            "limits": {"span_of_control": 1_000_000},
            "hierarchy": {"lead": {"subordinates": workers}, **{each: {} for each in workers}},
        },
        "tools.json": {"_schema": "orgkernel:tool_catalog", "tools": catalog},
        "crew.json": {
            "_schema": "orgkernel:crew_roster", "org": "bench",
            "agents": {f"agent_{number}": {"assignments": [{"role": each}]} for number, each in enumerate(workers)},
        },
        "roles/lead.json": {
            "_schema": "orgkernel:role_profile", "role_id": "lead", "role_name": "Lead", "role_type": "commander",
        },
    }  # fmt: skip
    for each in workers:
        documents[f"roles/{each}.json"] = {
            "_schema": "orgkernel:role_profile", "role_id": each, "role_name": each,
            "capabilities": {"tools_primary": list(catalog)},
        }  # fmt: skip
    for path, document in documents.items():
        file = folder / "org" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document), encoding="utf-8")


def create_keys(folder: Path, agents: int) -> list[str]:
    """A key for each of so many agents, in the store of a folder, which is made."""
    from orgkernel.kernel.stored import open_store
    from orgkernel.state.location import parse_location

    (folder / ".orgkernel").mkdir(mode=0o700, exist_ok=True)
    with open_store(parse_location(".orgkernel/state.db", str(folder))) as store:
        store.keys.create("admin", ["admin"], created_by="bench")
        return [
            store.keys.create(
                f"key_{number}",
                ["read", "report", "request"],
                created_by="bench",
                agent_id=f"agent_{number}",
                org_ids=["bench"],
            )[1]
            for number in range(agents)
        ]


def write_config(folder: Path, port: int, servers: int) -> Path:
    """The file with so many servers over HTTP."""
    file = folder / f"mcp-{servers}.json"
    listed = {
        f"s{number}": {"type": "http", "url": f"http://127.0.0.1:{port}/{number}/mcp"}
        for number in range(servers)
    }
    file.write_text(json.dumps({"mcpServers": listed}), encoding="utf-8")
    return file


def write_stdio_config(folder: Path) -> Path:
    """The file with the server on standard input and output."""
    file = folder / "mcp-stdio.json"
    command = {"command": sys.executable, "args": ["-m", "benchmarks.gateway_upstream", "stdio"]}
    environment_of_it = {"env": {"PYTHONPATH": str(REPOSITORY)}}
    file.write_text(json.dumps({"mcpServers": {"s0": {**command, **environment_of_it}}}), encoding="utf-8")
    return file
