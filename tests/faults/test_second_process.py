"""Two processes that read one tree: the same snapshot as with one, whatever happens to the second."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orgkernel.loading.files import Located
from orgkernel.loading.tree import OpenFile
from orgkernel.snapshots import build, second_process
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.trees import copy_template, read, write_tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a second process is used on POSIX only")

BROKEN = {
    "a/bad.yaml": "_schema: orgkernel:role_profile\nrole_id: [\n",
    "b/twice.yaml": "_schema: orgkernel:role_profile\nrole_id: a\nrole_id: b\n",
    "c/wrong.yaml": "_schema: orgkernel:role_profile\nrole_id: 5\nrole_tipe: x\n",
    "d/other.yaml": "name: a workflow\non: push\n",
    "e/ours_without_schema.yaml": "role_id: some\n",
    "roles/several.yaml": "_schema: orgkernel:role_profile\nrole_id: one\n---\n_schema: orgkernel:role_profile\nrole_id: two\n",
    "roles/latin.yaml": "",
    "z/user.json": '{"_schema": "orgkernel:role_profile", "role_id": "zed", "x_note": "\\ud83d\\ude00"}',
}


def lay_out(folder: Path) -> Path:
    """Two organizations, with files of every kind of trouble between them."""
    copy_template(folder / "software_dev", "software_dev")
    copy_template(folder / "sigint_alpha", "sigint_alpha")
    write_tree(folder, BROKEN)
    (folder / "roles" / "latin.yaml").write_bytes(b"_schema: orgkernel:role_profile\nrole_id: caf\xe9\n")
    return folder


def said(snapshot: Snapshot) -> Any:
    """All that a snapshot says."""
    return (
        snapshot.digest,
        snapshot.diagnostics,
        [
            (each.name, each.path, each.kind, each.packed, each.digest, each.shared)
            for each in snapshot.tree.documents
        ],
        snapshot.tree.broken,
        snapshot.tree.paths,
        snapshot.tree.skipped,
        {org_id: (list(each.columns), each.diagnostics) for org_id, each in snapshot.organizations.items()},
    )


Meanwhile = Callable[[Any], None]
"""What happens between the start of the second process and the first question, given what the first one knows of it."""


def read_with_two(
    folder: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Meanwhile
) -> tuple[Snapshot, int]:
    """A folder read by two processes in batches of three files, and how many files the second one read."""
    read_elsewhere = []

    @contextmanager
    def shared(located: Sequence[Located]) -> Iterator[Callable[[Located], OpenFile]]:
        with second_process.second_process(located, 3) as open_file:
            meanwhile(getattr(open_file, "__self__", None))

            def counting(each: Located) -> OpenFile:
                file = open_file(each)
                if isinstance(file, second_process._ReadElsewhere):
                    read_elsewhere.append(each)
                return file

            yield counting

    with monkeypatch.context() as patch:
        patch.setattr(build, "is_worth_it", lambda _: True)
        patch.setattr(build, "second_process", shared)
        return read(folder), len(read_elsewhere)


def wait_for(batch: int) -> Meanwhile:
    """Until the second process has read this batch and all after it."""

    def wait(shared: Any) -> None:
        end = time.monotonic() + 60
        while not shared._taken.is_done_behind(batch):
            assert shared._process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.005)

    return wait


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tree that is read."""
    return lay_out(tmp_path)


@pytest.mark.parametrize("batch", [0, 2, 6])
def test_two_processes_read_what_one_reads(batch: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, places, findings and their order are the same, however the work is divided."""
    snapshot, elsewhere = read_with_two(folder, monkeypatch, wait_for(batch))
    assert elsewhere > 10
    assert said(snapshot) == said(read(folder))


def test_one_that_comes_too_late_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first has read everything before the second begins, that is all there is."""
    snapshot, _ = read_with_two(folder, monkeypatch, lambda _: None)
    assert said(snapshot) == said(read(folder))


def test_one_that_is_killed_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had read is used, and what it had only taken is read by the first."""

    def kill(shared: Any) -> None:
        wait_for(6)(shared)
        shared._process.kill()
        shared._process.wait()
        while shared._taken.take_behind() is not None:  # as if it had been killed over its last batch
            pass

    snapshot, elsewhere = read_with_two(folder, monkeypatch, kill)
    assert elsewhere
    assert said(snapshot) == said(read(folder))


def test_one_that_is_stopped_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first does not wait for ever for a batch that the second has taken."""
    monkeypatch.setattr(second_process, "_PATIENCE", 0.05)

    def stop(shared: Any) -> None:
        wait_for(6)(shared)
        shared._process.send_signal(signal.SIGSTOP)
        while shared._taken.take_behind() is not None:
            pass

    snapshot, _ = read_with_two(folder, monkeypatch, stop)
    assert said(snapshot) == said(read(folder))


@pytest.mark.parametrize("damage", ["cut", "zeros", "flipped", "empty", "other"])
def test_one_that_writes_nonsense_changes_nothing(
    damage: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that are no results are read again by the first."""

    def spoil(shared: Any) -> None:
        wait_for(0)(shared)
        shared._process.wait()
        shared._results.seek(0)
        content = shared._results.read()
        half = len(content) // 2
        changed = {
            "cut": content[:half],
            "zeros": content[:half] + bytes(half),
            "flipped": content[:40] + bytes(255 - each for each in content[40:60]) + content[60:],
            "empty": b"",
            "other": b"\x00" * 7 + b"\x02\x92\x00\x90",
        }[damage]
        shared._results.seek(0)
        shared._results.truncate()
        shared._results.write(changed)
        shared._results.flush()

    snapshot, _ = read_with_two(folder, monkeypatch, spoil)
    assert said(snapshot) == said(read(folder))


@pytest.mark.parametrize("program", ["/does/not/exist", shutil.which("true") or "true", ""])
def test_one_that_does_not_start_changes_nothing(
    program: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a second process the first reads everything."""
    expected = said(read(folder))
    monkeypatch.setattr(sys, "executable", program)
    snapshot, elsewhere = read_with_two(folder, monkeypatch, lambda _: None)
    assert elsewhere == 0
    assert said(snapshot) == expected


def test_nothing_is_left_running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the tree is read, the second process is gone."""
    started: list[subprocess.Popen[bytes]] = []
    read_with_two(folder, monkeypatch, lambda shared: started.append(shared._process))
    assert started[0].returncode is not None


def test_a_small_tree_is_read_alone() -> None:
    """Below the break-even there is nothing to gain, and without a second processor neither."""
    assert not second_process.is_worth_it(second_process.LARGE - 1)
