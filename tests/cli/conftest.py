"""The command inside the test's own process, where a process for each question would cost minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orgkernel.cli import main
from tests.cli.running import Here


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Call the entry point of the console script; what it prints and its exit code are those of a process."""

    def run_here(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["orgkernel", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        assert isinstance(stop.value.code, int)
        said = capsys.readouterr()
        return subprocess.CompletedProcess(sys.argv, stop.value.code, said.out, said.err)

    return run_here
