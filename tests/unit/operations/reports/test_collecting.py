"""Collecting report files: each report exactly once, with any other files in the folder and after any process is killed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.errors import NothingToRead, StoreError
from orgkernel.operations.reports.collecting import CollectedFile, Collector
from orgkernel.operations.reports.report_folder import list_reports, read_file, set_aside
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.patience import PATIENCE, within
from tests.support.salute import salute
from tests.support.trees import REPOSITORY


class Waiting:
    """A clock that only goes forward, as the test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(quick_folder: Path) -> Iterator[Store]:
    with opened(sqlite_at(quick_folder), Clock(1_000_500.0)) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a host makes it."""
    (tmp_path / "reports" / "archive").mkdir(parents=True)
    return tmp_path / "reports"


@pytest.fixture
def clock() -> Waiting:
    return Waiting()


@pytest.fixture
def collector(folder: Path, store: Store, clock: Waiting) -> Collector:
    return Collector(str(folder), store.reports, clock)


def write(path: Path, body: Any) -> Path:
    """As a host writes: beside its place, then renamed."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(body if isinstance(body, str) else json.dumps(body))
    beside.rename(path)
    return path


def deliver(folder: Path, number: int, role: str = "co") -> None:
    """A report of a role as its latest and in the archive."""
    body = salute(role, at=1_000_000.0 + number, task=f"task {number}")
    write(folder / "archive" / f"{role}_20270131T120000.{number:06}Z.json", body)
    write(folder / f"{role}_latest.json", body)


def take(collector: Collector, clock: Waiting) -> list[CollectedFile]:
    """Everything there is to take, files that needed a moment included."""
    first = list(collector.collect())
    clock.now += 3
    return first + list(collector.collect())


def tasks(store: Store) -> list[str]:
    return [report.body["activity"]["current_task"] for report in store.reports.after(0)]


def test_a_report_and_its_copy_are_one(folder: Path, store: Store, collector: Collector) -> None:
    """Copies first, in the order they were made; the latest is known by then."""
    for number in range(3):
        deliver(folder, number)
    got = [(each.file.rpartition("/")[2][:12], each.outcome) for each in collector.collect()]
    assert got == [("co_20270131T", "stored")] * 3 + [("co_latest.js", "known")]
    assert tasks(store) == ["task 0", "task 1", "task 2"]
    assert list(collector.collect()) == []


def test_only_what_is_new_is_taken(folder: Path, store: Store, collector: Collector) -> None:
    """A latest report that was replaced is another one; a copy that was renamed is not."""
    deliver(folder, 0)
    list(collector.collect())
    body = salute("co", at=1_000_009.0, task="only latest")
    write(folder / "co_latest.json", body)
    (copy,) = (folder / "archive").iterdir()
    copy.rename(copy.with_name("renamed.json"))
    assert sorted(each.outcome for each in collector.collect()) == ["known", "stored"]
    assert tasks(store) == ["task 0", "only latest"]


def test_another_collector_begins_anew_and_changes_nothing(
    folder: Path, store: Store, collector: Collector, clock: Waiting
) -> None:
    """It knows nothing of what the first one did; the store does."""
    for number in range(5):
        deliver(folder, number)
    list(collector.collect())
    again = list(Collector(str(folder), store.reports, clock).collect())
    assert {each.outcome for each in again} == {"known"}
    assert len(tasks(store)) == 5


def test_a_half_written_file_is_waited_for(
    folder: Path, store: Store, collector: Collector, clock: Waiting
) -> None:
    """A host that writes in place: while it goes on, and for a moment after, nothing is said of it."""
    text = json.dumps(salute("co", task="slow"))
    path = folder / "co_latest.json"
    with path.open("w") as file:
        for part in (text[:10], text[10:200], text[200:]):
            file.write(part)
            file.flush()
            found = list(collector.collect())
            assert collector.is_waiting == (not found)
            clock.now += 1.5
    assert [each.outcome for each in found] == ["stored"]
    assert not collector.is_waiting
    assert tasks(store) == ["slow"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "NOT_JSON"),
        ("{", "NOT_JSON"),
        ("\udcff", "NOT_JSON"),
        ("[" * 100_000, "TOO_LARGE"),
        ("[" * 60_000, "NOT_JSON"),
        ('{"status": NaN}', "NOT_JSON"),
        ("[]", "NOT_A_REPORT"),
        (json.dumps({**salute(), "_version": "2.0"}), "UNKNOWN_VERSION"),
        (json.dumps(salute(state="asleep")), "BAD_FIELD"),
        (json.dumps(salute(org="")), "BAD_VALUE"),
        (json.dumps(salute()) + " " * 70_000, "TOO_LARGE"),
    ],
)
def test_what_is_no_report_is_set_aside_once(
    folder: Path, store: Store, collector: Collector, clock: Waiting, content: str, code: str
) -> None:
    """With a finding, for people to look at; it is not tried again, and the others are taken."""
    path = folder / "co_latest.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    deliver(folder, 1, "xo")
    rejected = [each for each in take(collector, clock) if each.outcome == "rejected"]
    assert [(each.file, each.code) for each in rejected] == [("co_latest.json", code)]
    assert rejected[0].text
    moved = folder / rejected[0].moved_to
    assert moved.parent == folder / "rejected"
    assert moved.read_bytes() == content.encode("utf-8", "surrogateescape")
    assert not path.exists()
    assert take(collector, clock) == []
    assert tasks(store) == ["task 1"]


def test_what_cannot_be_moved_is_told_once(
    folder: Path, store: Store, collector: Collector, clock: Waiting
) -> None:
    """It stays where it is until it changes; here a file stands where the folder for it should be."""
    (folder / "rejected").write_text("in the way")
    path = folder / "co_latest.json"
    path.write_text("{")
    (told,) = take(collector, clock)
    assert (told.outcome, told.moved_to, path.read_text()) == ("rejected", "", "{")
    assert take(collector, clock) == []
    write(path, salute("co", task="good again"))
    assert [each.outcome for each in take(collector, clock)] == ["stored"]


def test_a_file_replaced_while_it_is_set_aside_is_not_lost(folder: Path) -> None:
    """What is moved is what was looked at, or it is said that it is another one."""
    path = folder / "co_latest.json"
    path.write_text("{")
    (file,) = list_reports(str(folder))
    write(path, salute("co"))
    assert set_aside(str(folder), file) is None
    assert path.exists()
    assert read_file(str(folder), file) is None


def test_nothing_outside_the_folder_is_read(
    tmp_path: Path, folder: Path, store: Store, collector: Collector, clock: Waiting
) -> None:
    """No link is followed, whether it is a report, the archive, or where rejected files go."""
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = write(outside / "secret.json", salute("co", task="outside"))
    (folder / "co_latest.json").symlink_to(secret)
    (folder / "xo_latest.json").symlink_to("/dev/zero")
    (folder / "archive").rmdir()
    (folder / "archive").symlink_to(outside)
    (folder / "rejected").symlink_to(outside)
    (folder / "bad_latest.json").write_text("{")
    got = take(collector, clock)
    assert sorted((each.file, each.code, each.moved_to) for each in got) == [
        ("bad_latest.json", "NOT_JSON", ""), ("co_latest.json", "LINK", ""), ("xo_latest.json", "LINK", ""),
    ]  # fmt: skip
    assert tasks(store) == []
    assert sorted(path.name for path in outside.iterdir()) == ["secret.json"]


def test_pipes_and_folders_are_passed_over(
    folder: Path, store: Store, collector: Collector, clock: Waiting
) -> None:
    """Opening a pipe would wait for a process that writes into it."""
    os.mkfifo(folder / "pipe_latest.json")
    (folder / "folder_latest.json").mkdir()
    (folder / ".hidden_latest.json").write_text("{")
    (folder / "co_latest.json.tmp").write_text("{")
    deliver(folder, 0)
    assert {each.outcome for each in take(collector, clock)} == {"stored", "known"}


def test_a_huge_file_is_not_read(folder: Path, collector: Collector, clock: Waiting) -> None:
    """A terabyte of nothing costs nothing."""
    with (folder / "co_latest.json").open("wb") as file:
        file.truncate(1 << 40)
    with within(1):
        (told,) = take(collector, clock)
    assert told.code == "TOO_LARGE"


def test_reports_may_be_given_an_organization_and_an_agent(
    folder: Path, store: Store, clock: Waiting
) -> None:
    """Where they name none, and whose folder it is."""
    write(folder / "co_latest.json", salute("co", org=""))
    write(folder / "xo_latest.json", salute("xo", org="yard"))
    list(Collector(str(folder), store.reports, clock, agent_id="worf", org_id="shop").collect())
    assert [(each.org_id, each.agent_id) for each in store.reports.latest()] == [
        ("shop", "worf"),
        ("yard", "worf"),
    ]


class BrokenReports:
    """A store that cannot be written for a while."""

    def __init__(self, store: Store) -> None:
        self._reports = store.reports
        self.is_broken = True

    def submit(self, *arguments: Any, **named: Any) -> Any:
        if self.is_broken:
            raise StoreError("the store `x` is gone")
        return self._reports.submit(*arguments, **named)


def test_what_was_not_stored_is_taken_again(folder: Path, store: Store, clock: Waiting) -> None:
    """A store that fails is no reason to lose a report."""
    deliver(folder, 0)
    broken = BrokenReports(store)
    collector = Collector(str(folder), broken, clock)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        list(collector.collect())
    broken.is_broken = False
    assert [each.outcome for each in collector.collect()] == ["stored", "known"]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, store: Store, clock: Waiting) -> None:
    """With what to name instead."""
    with pytest.raises(NothingToRead, match="no such file"):
        list(Collector(str(tmp_path / "none"), store.reports, clock).collect())


def test_two_collectors_at_once(folder: Path, quick_folder: Path, clock: Waiting) -> None:
    """Each with a store of its own process's kind, while a host writes: every report once."""
    done = threading.Event()

    def host() -> None:
        for number in range(150):
            deliver(folder, number)
        done.set()

    def collect() -> None:
        with opened(sqlite_at(quick_folder), Clock(1_000_500.0), busy_seconds=30) as store:
            collector = Collector(str(folder), store.reports, time.monotonic)
            while not done.is_set():
                list(collector.collect())
            list(collector.collect())

    threads = [threading.Thread(target=work) for work in (host, collect, collect)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(sqlite_at(quick_folder), Clock(1_000_500.0)) as store:
        assert sorted(tasks(store)) == sorted(f"task {number}" for number in range(150))


_COLLECT = """
import os, sys, time
from orgkernel.operations.reports.collecting import Collector
from orgkernel.kernel.stored import open_store
from orgkernel.state.location import parse_location
with open_store(parse_location("state.db", sys.argv[1])) as store:
    collector = Collector(sys.argv[2], store.reports, time.monotonic)
    print("ready", flush=True)
    while True:
        for each in collector.collect():
            print(each.outcome, flush=True)
"""


def test_killed_in_the_middle(tmp_path: Path, folder: Path) -> None:
    """Again and again, at any moment: nothing is missing and nothing is there twice, and the audit is unchanged."""
    chance = random.Random(7)
    now = int(time.time())
    for number in range(400):
        body = salute("co", at=now - 400 + number, task=f"task {number}")
        write(folder / "archive" / f"co_20270131T120000.{number:06}Z.json", body)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", _COLLECT, str(tmp_path), str(folder)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0.0, 0.15))
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()
    with opened(sqlite_at(tmp_path), Clock(now + 10.0)) as store:
        list(Collector(str(folder), store.reports, time.monotonic).collect())
        assert sorted(tasks(store)) == sorted(f"task {number}" for number in range(400))
