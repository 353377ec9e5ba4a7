"""The conformance suite of the protocol, in both eras, against servers that run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.keys import bearer, first_key, location_of, new_key
from tests.api.running import running, until
from tests.mcp.conformance import REVISIONS, scenarios_of
from tests.mcp.relay import relaying
from tests.support.trees import REPOSITORY, TEMPLATES, write_tree

EVERYTHING = Path(__file__).with_name("everything.py")
NEITHER_ERA_NEEDS_A_TOOL = {"dns-rebinding-protection", "resources-list", "tools-list"}
"""Scenarios that ask nothing of the suite's own tools and prompts, so that the registry has to pass them."""


@contextmanager
def everything(folder: Path) -> Iterator[str]:
    """The URL of the test server, which has all that the suite asks for."""
    process = subprocess.Popen(
        [sys.executable, EVERYTHING, "http"], stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """The URL of `/mcp` of a server, which a relay gives the key of an agent."""
    place = location_of(folder / "state.db")
    first_key(place)
    key = new_key(place, ("read", "request", "report"), agent="clerk")
    with (
        running(folder, TEMPLATES / "household", store=folder / "state.db") as server,
        relaying(f"{server.url}/mcp", bearer(key)) as url,
    ):
        yield url


@contextmanager
def gateway(folder: Path) -> Iterator[str]:
    """The URL of a gateway before the test server, which a relay gives the key of an agent and the names without a server."""
    role = {
        "_schema": "orgkernel:role_profile",
        "role_type": "commander",
        "capabilities": {"tools_primary": ["mcp__everything"]},
    }
    tool = {"type": "mcp_server", "provider": "everything", "description": "All that the suite asks for."}
    documents = {
        "org.yaml": {"_schema": "orgkernel:organization", "org_id": "suite", "org_name": "Suite", "hierarchy": {"lead": {}}},
        "tools.yaml": {"_schema": "orgkernel:tool_catalog", "tools": {"mcp__everything": tool}},
        "crew.yaml": {"_schema": "orgkernel:crew_roster", "org": "suite", "agents": {"one": {"assignments": [{"role": "lead"}]}}},
        "roles/lead.yaml": {"role_id": "lead", "role_name": "Lead", **role},
    }  # fmt: skip
    write_tree(folder / "org", {name: json.dumps(document) for name, document in documents.items()})
    place = location_of(folder / "state.db")
    first_key(place)
    key = new_key(place, ("read", "request", "report"), agent="one")
    with everything(folder) as behind:
        server = {"mcpServers": {"everything": {"type": "http", "url": behind}}}
        (folder / "mcp.json").write_text(json.dumps(server), encoding="utf-8")
        command = [
            sys.executable, "-c", "from orgkernel.cli import main; main()", "gateway", "--org", "suite", "--path", "org",
            "--store", "state.db", "--mcp-config", "mcp.json", "--http", "127.0.0.1:0",
        ]  # fmt: skip
        log = folder / "gateway.log"
        with log.open("w", encoding="utf-8") as file:
            environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
            process = subprocess.Popen(command, cwd=folder, stderr=file, env=environment)
        try:
            said = until(
                lambda: log.read_text(encoding="utf-8"),
                lambda log: "/mcp" in log or process.poll() is not None,
            )
            (url,) = re.findall(r"http://\S+/mcp", said) or pytest.fail(said)
            with relaying(url, bearer(key), "everything__") as relayed:
                yield relayed
        finally:
            process.kill()
            process.wait(30)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_test_server_passes_everything(revision: str, tmp_path: Path) -> None:
    """What fails behind a gateway is the gateway's fault, because the server behind it passes."""
    with everything(tmp_path) as url:
        found = scenarios_of(url, revision, "everything", tmp_path)
    assert len(found) > 30
    assert found["tools-call-with-progress"][1] == 0


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_registry_passes_what_applies_to_it(revision: str, tmp_path: Path) -> None:
    """Every check but those that call the suite's own tools, and those of what the server does not declare."""
    with registry(tmp_path) as url:
        found = scenarios_of(url, revision, "registry", tmp_path)
    assert all(found[name][0] and not found[name][1] for name in NEITHER_ERA_NEEDS_A_TOOL)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_gateway_passes_what_the_server_behind_it_passes(revision: str, tmp_path: Path) -> None:
    """Tools, prompts and resources of the server behind, with every kind of content, error and question."""
    with gateway(tmp_path) as url:
        found = scenarios_of(url, revision, "gateway", tmp_path)
    assert found["tools-call-mixed-content"][1] == 0
