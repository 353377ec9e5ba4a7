"""The conformance suite of the Model Context Protocol, run against a server of ours.

The suite is `@modelcontextprotocol/conformance`, installed with its own Node.js in an environment that the Makefile makes.
Beside this module lies a file of expected failures for each server. The suite fails if another check fails, and also if
one of these passes, so that the files stay true. A warning counts as a failure.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

REVISIONS = ("2025-11-25", "2026-07-28")
_ENVIRONMENT = REPOSITORY / ".venv" / "conformance"
_SUITE = _ENVIRONMENT / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
_SUMMARY = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)


def scenarios_of(url: str, revision: str, server: str, folder: Path) -> dict[str, tuple[int, int]]:
    """The scenarios that a revision requires, each with the checks that passed and failed.

    Fails if a check fails that is not expected to, or passes although it is expected to fail.
    """
    if not _SUITE.exists():
        pytest.skip("the conformance suite of MCP is not installed: run `make .venv/conformance.stamp`")
    done = subprocess.run(
        [
            _ENVIRONMENT / "bin" / "node", _SUITE, "server", "--url", url, "--requirements", revision,
            "--expected-failures", Path(__file__).with_name(f"{server}.yaml"), "--output-dir", folder,
        ],
        capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=folder,
        env={"PATH": f"{_ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.partition("=== SUMMARY ===")[2] + done.stderr
    return {name: (int(good), int(bad)) for name, good, bad in _SUMMARY.findall(done.stdout)}
