"""Command catalogs of an organization that attack: patterns that take minutes, and entries that open what is closed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_claude_code_hook import AgentProject

ORGANIZATION = """\
_schema: orgkernel:organization
org_id: evil
hierarchy: {lead: {}}
---
{_schema: "orgkernel:role_profile", role_id: lead, role_type: executive}
---
"""
CATALOG = """\
_schema: orgkernel:command_catalog
programs:
  slow: {effect: reads, operands: text, cases: [{operand: "%s", effect: deletes}]}
"""
COMMAND = f"slow {'x' * 60}!"


def _run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the installed command. A call that takes longer than 30 seconds fails the test."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ORGKERNEL")}
    done = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "orgkernel"), *arguments], cwd=folder, env=own, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("pattern", ["(x|x)*y", "(x+)+y", "((x)*)*y", "(x?x?)*y", ".*x.*x.*y"])
def test_a_catalog_with_errors_is_not_used(tmp_path: Path, pattern: str) -> None:
    """A pattern that takes minutes is an error, and no command is compared with it."""
    (tmp_path / "org.yaml").write_text(ORGANIZATION + CATALOG % pattern)
    code, printed = _run(tmp_path, "check", ".")
    assert (code, "ORG733" in printed) == (1, True), printed
    code, printed = _run(tmp_path, "command", "explain", "--org", "evil", "--", COMMAND)
    assert (code != 0, "has 1 error" in printed) == (True, True), printed


def test_a_catalog_with_errors_does_not_hang_the_hook(tmp_path: Path) -> None:
    """The hook of a coding agent answers at once, and does not allow the command."""
    project = AgentProject(tmp_path)
    (project.folder / "acme/commands.yaml").write_text(CATALOG % "(x|x)*y")
    start = time.monotonic()
    answer, reason = project.asks("Bash", {"command": COMMAND})
    assert time.monotonic() - start < 20
    assert answer != "allow", reason
