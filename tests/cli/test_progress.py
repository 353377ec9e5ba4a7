"""Work that takes long says what it does on a terminal, and leaves nothing behind."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest

from orgkernel.cli.progress import ProgressLine
from orgkernel.runtime import progress
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.in_process import run_here
from tests.support.trees import write_tree

TREE = {".claude/agents/a.md": "---\nname: a\ndescription: Use it for b.\ntools: Read\n---\nDo b.\n"}


def test_long_work_is_shown_and_erased() -> None:
    """The line shows the stage that lasts when patience ends, and the following ones."""
    stream = io.StringIO()
    line = ProgressLine(stream, patience=0.05)
    line.update("reading 3 files")
    assert stream.getvalue() == ""
    threading.Event().wait(0.3)
    assert stream.getvalue() == "\r\x1b[Kreading 3 files …"
    line.update("checking 3 documents")
    line.update("")
    line.update("")
    assert stream.getvalue().endswith("\r\x1b[Kchecking 3 documents …\r\x1b[K")


def test_short_work_is_silent() -> None:
    """Nothing is written before patience ends."""
    stream = io.StringIO()
    line = ProgressLine(stream, patience=60)
    line.update("reading 3 files")
    line.update("")
    assert stream.getvalue() == ""


def test_a_load_tells_its_stages(tmp_path: Path) -> None:
    """Each stage with its size; the last one is the end."""
    stages: list[str] = []
    progress.listen_to_stages(stages.append)
    try:
        Loader(resolve_paths(["."], str(write_tree(tmp_path, TREE))), {}).load()
    finally:
        progress._listeners.remove(stages.append)
    assert "looking for agents in 3 folders" in stages
    assert [each.split()[0] for each in stages if each] == [
        *("looking", "looking"),
        *("reading", "building", "checking"),
    ]
    assert stages[-1] == ""


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        ("export --to claude-code --output out", "exporting 1 role"),
        ("import claude-code . out", "importing 1 role"),
        ("manifest", "building the manifests of 1 role"),
        ("dispatch --text do", "reading the texts of the roles"),
        ("routing report", "routing the examples and triggers"),
        ("store upgrade", "upgrading the store"),
        ("audit verify", "verifying the audit log"),
    ],
)
def test_long_commands_state_their_work(tmp_path: Path, command: str, stage: str) -> None:
    """Besides the reading of files; the last stage is the end."""
    stages: list[str] = []
    write_tree(tmp_path, TREE)
    if command == "audit verify":
        run_here("store", "upgrade", cwd=tmp_path)
    progress.listen_to_stages(stages.append)
    try:
        run_here(*command.split(), cwd=tmp_path)
    finally:
        progress._listeners.remove(stages.append)
    assert stage in stages
    assert stages[-1] == ""


def test_a_pipe_gets_no_line(tmp_path: Path) -> None:
    """Neither on the output nor among the errors."""
    done = run_here("check", cwd=write_tree(tmp_path, TREE))
    assert "\x1b[K" not in done.stdout + done.stderr
