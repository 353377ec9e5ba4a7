"""Report files: whole, never over each other, and errors as values."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from orgkernel.runtime.report_files import LARGEST_FILE, Written, read_latest, remove_stale, write_report
from orgkernel.runtime.salute import Situation, compute_report
from orgkernel.runtime.salute_format import read_report

NOW = 1_790_000_000.25
WORKING = Situation(role_id="co", now=NOW, task="plan the day – Tagwerk")
REPORT = compute_report(WORKING)


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_report_and_its_copy_are_written(tmp_path: Path):
    """Where the specification puts them, the folders made; both the same valid JSON, readable for people."""
    folder = tmp_path / "usr" / "reports"
    written = write_report(str(folder), REPORT)
    assert files_of(folder) == ["archive/co_20260921T141320.250000Z.json", "co_latest.json"]
    assert written == Written(
        str(folder / "co_latest.json"), str(folder / "archive/co_20260921T141320.250000Z.json")
    )
    text = (folder / "co_latest.json").read_text(encoding="utf-8")
    assert "Tagwerk" in text
    assert "–" in text
    assert text == (folder / "archive/co_20260921T141320.250000Z.json").read_text(encoding="utf-8")
    assert read_report(json.loads(text)) == REPORT
    assert read_latest(str(folder), "co") == (REPORT, "")


def test_the_latest_is_replaced_and_copies_are_not(tmp_path: Path):
    """Three reports in one microsecond: three copies, and the last one is the latest."""
    for progress in ("first", "second", "third"):
        write_report(str(tmp_path), compute_report(WORKING._replace(task=progress)))
    copies = [
        json.loads(path.read_text())["activity"]["current_task"]
        for path in sorted((tmp_path / "archive").iterdir())
    ]
    assert sorted(copies) == ["first", "second", "third"]
    latest, problem = read_latest(str(tmp_path), "co")
    assert latest is not None
    assert (latest["activity"]["current_task"], problem) == ("third", "")


def _write_many(folder: str, who: str, count: int) -> None:
    for number in range(count):
        written = write_report(folder, compute_report(WORKING._replace(task=f"{who} {number}")))
        if written.problem:
            raise SystemExit(written.problem)


def test_processes_do_not_overwrite_each_other(tmp_path: Path):
    """Four processes report in the same microsecond: every report has its copy, the latest is always whole."""
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_write_many, args=(str(tmp_path), f"p{number}", 25)) for number in range(4)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        latest, problem = read_latest(str(tmp_path), "co")
        assert problem == ""
        assert latest is None or latest["unit"]["role_id"] == "co"
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    copies = {
        json.loads(path.read_text())["activity"]["current_task"] for path in (tmp_path / "archive").iterdir()
    }
    assert copies == {f"p{who} {number}" for who in range(4) for number in range(25)}
    assert len(files_of(tmp_path)) == 101


def test_what_a_dead_writer_left_is_stepped_over(tmp_path: Path):
    """Its temporary file keeps its name; the next report takes the next one, and cleaning removes the rest."""
    archive = tmp_path / "archive"
    archive.mkdir()
    left = [
        archive / ".co_20260921T141320.250000Z.json.tmp",
        tmp_path / ".co_20260921T141320.250000Z.json.tmp",
    ]
    for path in left:
        path.write_text("{half")
    written = write_report(str(tmp_path), REPORT)
    assert written.archived == str(archive / "co_20260921T141320.250000Z-1.json")
    assert read_latest(str(tmp_path), "co") == (REPORT, "")
    old = max(path.stat().st_mtime for path in left)
    assert remove_stale(str(tmp_path), old + 3_601).copies == 3
    assert files_of(tmp_path) == ["co_latest.json"]


def test_only_old_copies_are_removed(tmp_path: Path):
    """By the times of the files; what is young, the latest, and whatever is not ours stay."""
    for second in (0, 100):
        write_report(str(tmp_path), compute_report(WORKING._replace(now=NOW + second)))
    old, young = sorted((tmp_path / "archive").iterdir())
    os.utime(old, (1_000, 1_000))
    os.utime(young, (5_000, 5_000))
    strange = [tmp_path / "archive" / "notes.json", tmp_path / "co_20260921T141320.250000Z.json"]
    for path in strange:
        path.write_text("mine")
        os.utime(path, (1, 1))
    os.utime(tmp_path / "co_latest.json", (1, 1))
    removed = remove_stale(str(tmp_path), 4_601.0)
    assert (removed.copies, removed.problem) == (1, "")
    assert not old.exists()
    assert young.exists()
    assert all(path.exists() for path in (*strange, tmp_path / "co_latest.json"))
    assert remove_stale(str(tmp_path), 5_030.0, keep_seconds=20).copies == 1


def test_without_a_folder_there_is_nothing_to_remove_or_read(tmp_path: Path):
    """A role that has not reported is no problem."""
    assert remove_stale(str(tmp_path / "none"), NOW) == remove_stale(str(tmp_path), NOW)
    assert read_latest(str(tmp_path / "none"), "co") == (None, "")


def test_a_role_id_cannot_lead_elsewhere(tmp_path: Path):
    """Whatever a role is called, its files are in the folder."""
    folder = tmp_path / "reports"
    write_report(str(folder), compute_report(WORKING._replace(role_id="../../escape")))
    assert {path.parent for path in tmp_path.rglob("*.json")} == {folder, folder / "archive"}
    latest, _ = read_latest(str(folder), "../../escape")
    assert latest is not None


def test_a_place_that_is_no_folder_is_a_problem_in_words(tmp_path: Path):
    """Nothing is raised, and nothing is said to be written."""
    (tmp_path / "reports").write_text("a file")
    written = write_report(str(tmp_path / "reports"), REPORT)
    assert written == Written(None, None, f"{tmp_path / 'reports' / 'archive'}: Not a directory")
    assert remove_stale(str(tmp_path / "reports"), NOW).problem.endswith("Not a directory")
    (tmp_path / "co_latest.json").mkdir()
    assert write_report(str(tmp_path), REPORT).problem.startswith(str(tmp_path))
    assert read_latest(str(tmp_path), "co")[1].endswith("not a regular file")


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_disk_that_refuses_is_a_problem_in_words(
    tmp_path: Path, error: int, monkeypatch: pytest.MonkeyPatch
):
    """Read-only, forbidden or full: the host goes on, and no half-made file stays."""

    def refuse(*_: Any) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "fsync", refuse)
    assert write_report(str(tmp_path), REPORT) == Written(
        None, None, f"{tmp_path / 'archive'}: {os.strerror(error)}"
    )
    assert files_of(tmp_path) == []


def test_a_full_disk_leaves_the_last_report(tmp_path: Path):
    """A real limit on what may be written: the latest report stays whole."""
    write_report(str(tmp_path), REPORT)
    handled = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        written = write_report(str(tmp_path), compute_report(WORKING._replace(now=NOW + 1)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handled)
    assert (written.latest, written.archived) == (None, None)
    assert "File too large" in written.problem
    assert read_latest(str(tmp_path), "co") == (REPORT, "")
    assert len(files_of(tmp_path)) == 2


def test_the_latest_is_written_where_the_archive_cannot_be(tmp_path: Path):
    """Who watches a role sees it, although its copies are lost."""
    (tmp_path / "archive").write_text("in the way")
    written = write_report(str(tmp_path), REPORT)
    assert written.archived is None
    assert written.problem
    assert read_latest(str(tmp_path), "co") == (REPORT, "")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{half", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"{}", "a report must have `_schema: orgkernel:salute_report`"),
        (b" " * (LARGEST_FILE + 1), f"larger than {LARGEST_FILE} bytes"),
    ],
)
def test_a_file_that_is_no_report_is_a_problem_in_words(tmp_path: Path, content: bytes, problem: str):
    """Whatever lies there, reading does not raise."""
    (tmp_path / "co_latest.json").write_bytes(content)
    report, said = read_latest(str(tmp_path), "co")
    assert report is None
    assert said.startswith(str(tmp_path / "co_latest.json"))
    assert problem in said


def test_a_report_that_is_no_json_is_a_problem_in_words(tmp_path: Path):
    """Nothing is written of it."""
    written = write_report(str(tmp_path), {**REPORT, "x_now": object()})
    assert (written.latest, written.archived) == (None, None)
    assert written.problem.startswith("the report cannot be written as JSON")
    assert files_of(tmp_path) == []
