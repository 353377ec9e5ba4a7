"""Claude Code's own command line, which `claude-agent-sdk` brings, connects to the server and to the gateway. It needs no
network for that.

The package has 160 megabytes, and half a gigabyte when it is unpacked, so `make nightly` installs it and asks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.api.keys import bearer, first_key, location_of, new_key
from tests.api.running import running
from tests.mcp.serving import EVERYTHING, gateway, gateway_words
from tests.support.depth import DEPTH
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, TEMPLATES

PACKAGES = REPOSITORY / ".venv" / "claude" / "lib"
_PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"


def listed_by_claude(
    folder: Path, variables: Mapping[str, str] | None = None, **servers: Any
) -> dict[str, str]:
    """What `claude mcp list` says of each server of a project, whose user lets projects name servers."""
    program = next(PACKAGES.glob("python*/site-packages/claude_agent_sdk/_bundled/claude"), None)
    if program is None:
        pytest.skip("Claude Code's command line is not installed: run `make .venv/claude.stamp`")
    home, project = folder / "home", folder / "project"
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    (home / ".claude" / "settings.json").write_text('{"enableAllProjectMcpServers": true}', encoding="utf-8")
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    environment = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    } | dict(variables or {})
    done = subprocess.run(
        [program, "mcp", "list"], cwd=project, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    return {name: said.rpartition(" - ")[2] for name, _, said in lines if name in servers}


def stdio(*words: str) -> dict[str, Any]:
    """A server that the host starts: this program with some words."""
    return {"command": sys.executable, "args": ["-c", _PROGRAM, str(REPOSITORY), *words]}


if DEPTH > 1:

    @pytest.mark.deep
    def test_it_connects_as_its_project_says(tmp_path: Path) -> None:
        """It starts the server on standard input and output, reaches `/mcp` with a key, and not with a wrong one."""
        place = location_of(tmp_path / "state.db")
        first_key(place)
        key = new_key(place, ("read", "request", "report"), agent="clerk")
        with running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server:
            url = f"{server.url}/mcp"
            found = listed_by_claude(
                tmp_path,
                started=stdio("mcp", "--path", str(TEMPLATES), "--org", "software_dev", "--role", "co"),
                reached={"type": "http", "url": url, "headers": bearer(key)},
                refused={"type": "http", "url": url, "headers": bearer("ok_wrong")},
                missing=stdio("mcp", "--path", str(TEMPLATES), "--org", "software_dev", "--role", "nobody"),
            )
        assert "Connected" in found["started"]
        assert "Connected" in found["reached"]
        assert "Connected" not in found["refused"]
        assert "Failed to connect" in found["missing"]

    @pytest.mark.deep
    def test_it_connects_to_the_gateway(tmp_path: Path) -> None:
        """Started for a role, and reached with a key that a variable of the host has; not with a wrong one."""
        behind = {"command": sys.executable, "args": [str(EVERYTHING)]}
        (tmp_path / "stdio").mkdir()
        command, *arguments = (*gateway_words(tmp_path / "stdio", behind), "--role", "lead")
        (tmp_path / "http").mkdir()
        with gateway(tmp_path / "http") as (url, key):
            headers = {"Authorization": "Bearer ${ORGKERNEL_KEY}"}
            found = listed_by_claude(
                tmp_path,
                {"ORGKERNEL_KEY": key},
                started={"command": command, "args": arguments},
                reached={"type": "http", "url": url, "headers": headers},
                refused={"type": "http", "url": url, "headers": bearer("ok_wrong")},
            )
        assert "Connected" in found["started"]
        assert "Connected" in found["reached"]
        assert "Connected" not in found["refused"]
