"""The official client 1.x, in the environment that is locked for the checkers of other ecosystems, which brings it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.keys import first_key, location_of, new_key
from tests.api.running import running
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, TEMPLATES

ENVIRONMENT = REPOSITORY / ".venv" / "interop" / "bin" / "python"


def told_to_older(*words: str) -> Any:
    """What the client of 1.x is told by a server."""
    if not ENVIRONMENT.exists():
        pytest.skip("the client of 1.x is not installed: run `make .venv/interop.stamp`")
    done = subprocess.run(
        [ENVIRONMENT, REPOSITORY / "tests" / "mcp" / "older_client.py", *words],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_on_standard_input_and_output(tmp_path: Path) -> None:
    """It lists, asks, is refused in words, and reads a manifest."""
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"
    told = told_to_older(
        sys.executable, "-c", program, str(REPOSITORY), "mcp", "--org", "software_dev", "--role", "research_xo",
        "--path", str(TEMPLATES), "--store", str(tmp_path / "state.db"),
    )  # fmt: skip
    _require(told, "research_xo", 8)


def test_over_http(tmp_path: Path) -> None:
    """The same with a key, and the four questions of governance, which this organization declares."""
    first_key(location_of(tmp_path / "state.db"))
    key = new_key(location_of(tmp_path / "state.db"), ("read", "request", "report"), agent="clerk")
    with running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server:
        _require(told_to_older(f"{server.url}/mcp", key), None, 12)


def _require(told: Any, role: str | None, tools: int) -> None:
    assert told["version"] == "2025-11-25"
    assert len(told["tools"]) == tools
    assert told["answer"]["outcome"] == "deny"
    assert told["text"].startswith("deny: ")
    assert told["refused"][0]
    assert "cannot name the caller" in told["refused"][1]
    assert role in (None, told["manifest"])


def test_the_lock_has_the_client() -> None:
    """The environment that is asked is of 1.x."""
    lock = (REPOSITORY / "requirements" / "interop.lock").read_text(encoding="utf-8")
    assert "\nmcp==1." in lock
