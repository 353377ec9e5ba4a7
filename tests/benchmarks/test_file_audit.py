"""The benchmark of the audit measures what it names: every file belongs to the worker that changed it, and the hook
allows the write.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import file_audit
from tests.support.in_process import run_here


def test_the_range_that_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is clean, so that the whole audit is measured."""
    monkeypatch.setattr(file_audit, "FILES", 16)
    monkeypatch.setattr(file_audit, "COMMITS", 4)
    folder = tmp_path / "project"
    folder.mkdir()
    briefs = file_audit.make_repository(folder)
    named = [word for each in briefs for word in ("--brief", each)]
    done = run_here("ownership", "audit", "--base", "start", *named, "--format", "json", cwd=folder)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], len(answer["files"]), len(answer["workers"])) == ("clean", 16, 4)
