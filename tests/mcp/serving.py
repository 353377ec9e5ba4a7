"""Servers in processes of their own that clients of every kind are tried against."""

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
from tests.mcp.relay import relaying
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, TEMPLATES, write_tree

EVERYTHING = Path(__file__).with_name("everything.py")
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"
ORGKERNEL = (sys.executable, "-c", PROGRAM, str(REPOSITORY))
"""The command line, in any folder and with any variables."""
ASKING = {"elicit": "elicitation/create", "sample": "sampling/createMessage", "list_roots": "roots/list"}
"""The tools that stand for requests of the server, with their methods."""


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
        process.wait(PATIENCE)
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


def gateway_words(folder: Path, server: dict[str, object]) -> tuple[str, ...]:
    """How the gateway before the test server is started in a folder; the rest of the command says for whom.

    The organization has one role, which may call everything, and an agent that fills it.
    """
    role = {
        "_schema": "orgkernel:role_profile", "role_id": "lead", "role_name": "Lead", "role_type": "commander",
        "capabilities": {"tools_primary": ["mcp__everything", *ASKING]},
    }  # fmt: skip
    tool = {"type": "mcp_server", "provider": "everything", "description": "All that the suite asks for."}
    asking = {
        name: {"type": "mcp_server", "provider": "everything", "names": {"mcp": method}, "description": "Answers it."}
        for name, method in ASKING.items()
    }  # fmt: skip
    documents = {
        "org.yaml": {"_schema": "orgkernel:organization", "org_id": "suite", "org_name": "Suite", "hierarchy": {"lead": {}}},
        "tools.yaml": {"_schema": "orgkernel:tool_catalog", "tools": {"mcp__everything": tool, **asking}},
        "crew.yaml": {
            "_schema": "orgkernel:crew_roster", "org": "suite", "agents": {"one": {"assignments": [{"role": "lead"}]}},
        },
        "roles/lead.yaml": role,
    }  # fmt: skip
    write_tree(folder / "org", {name: json.dumps(document) for name, document in documents.items()})
    declared = server | {"orgkernel": {"may_ask": ["elicitation", "sampling", "roots"]}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": declared}}), encoding="utf-8")
    options = {
        "--path": "org",
        "--store": "state.db",
        "--mcp-config": "mcp.json",
        "--lock": "gateway.lock.json",
    }
    placed = [word for name, value in options.items() for word in (name, str(folder / value))]
    return *ORGKERNEL, "gateway", "--org", "suite", *placed


@contextmanager
def gateway(folder: Path) -> Iterator[tuple[str, str]]:
    """The URL of a gateway before the test server, and the key of an agent that may call everything."""
    with everything(folder) as behind:
        command = (*gateway_words(folder, {"type": "http", "url": behind}), "--http", "127.0.0.1:0")
        place = location_of(folder / "state.db")
        first_key(place)
        key = new_key(place, ("read", "request", "report"), agent="one")
        log = folder / "gateway.log"
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(command, cwd=folder, stderr=file, env=dict(os.environ))
        try:
            said = until(
                lambda: log.read_text(encoding="utf-8"),
                lambda log: "/mcp" in log or process.poll() is not None,
            )
            (url,) = re.findall(r"http://\S+/mcp", said) or pytest.fail(said)
            yield url, key
        finally:
            process.kill()
            process.wait(PATIENCE)
