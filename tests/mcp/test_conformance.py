"""The conformance suite of the protocol, in both eras, against servers that run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.keys import bearer, first_key, location_of, new_key
from tests.api.running import running
from tests.mcp.conformance import REVISIONS, scenarios_of
from tests.mcp.relay import relaying
from tests.support.trees import TEMPLATES

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
