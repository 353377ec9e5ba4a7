"""`make load`: start `orgkernel serve` with a store, load it with locust, and watch what grows.

It prints rates and latencies, memory, open files and the size of the store, and exits with 1 if a request failed, or if
memory or open files grew without a bound.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

REPOSITORY = Path(__file__).parents[2]
MIB = 1024 * 1024
_PERCENTILES = ("50%", "99%", "99.9%")
_LEAST_GROWTH = 16 * MIB
_PART_OF_MEMORY = 0.1
_FILES = 8
"""Open files more than before that are no growth: the sampler, a checkpoint, a thread of the database."""


class Sample(NamedTuple):
    """What a server uses at a moment."""

    seconds: float
    memory: float
    files: float
    store: float
    log: int
    """Bytes of the write-ahead log beside the store."""
    queue: float


def main() -> int:
    """Load a server, and report. 1 if something fails or grows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long the load lasts")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--every", type=float, help="seconds between two samples; a hundredth of the whole")
    parser.add_argument("--locust", default=str(Path(sys.prefix) / "load" / "bin" / "locust"))
    wanted = parser.parse_args()
    every = wanted.every or max(1.0, wanted.seconds / 100)
    with TemporaryDirectory() as place, serving(Path(place)) as (url, key):
        idle = sample(url, key, Path(place), 0.0)
        began = time.monotonic()
        load = subprocess.Popen(
            [
                wanted.locust, "--headless", "--only-summary", "-f", REPOSITORY / "benchmarks/load/mix.py", "--host", url,
                "-u", str(wanted.connections), "-r", str(wanted.connections), "-t", f"{wanted.seconds:g}s",
                "--csv", Path(place) / "load", "--logfile", Path(place) / "locust.log",
            ],
            env={**os.environ, "ORGKERNEL_LOAD_KEY": key}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        samples = []
        try:
            while load.poll() is None:
                time.sleep(every)
                if load.poll() is None:
                    samples.append(sample(url, key, Path(place), time.monotonic() - began))
        finally:
            load.terminate()
            load.wait()
        after = sample(url, key, Path(place), time.monotonic() - began)
        problems = [] if load.returncode == 0 else ["some requests failed; the table names them"]
        if load.returncode not in (0, 1):
            print((Path(place) / "locust.log").read_text(encoding="utf-8"), file=sys.stderr)
            return 1
        report_requests(Path(place) / "load_stats.csv", Path(place) / "load_failures.csv")
    report_growth(idle, samples, after)
    problems += find_growth(samples)
    for problem in problems:
        print(f"problem: {problem}")
    return 1 if problems else 0


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, str]]:
    """A server over two templates with a store of one file: its URL, and a key that opens everything."""
    command = [sys.executable, "-c", "from orgkernel.cli import main; main()"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "ORGKERNEL_STORE": str(folder / "state.db")}
    made = subprocess.run(
        [*command, "key", "create", "load", "--admin"],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    key = next(word for word in made.stdout.split() if word.startswith("orgk_"))
    templates = REPOSITORY / "templates"
    process = subprocess.Popen(
        [
            *command, "serve", "--port", "0", "--path", str(templates / "software_dev"),
            "--path", str(templates / "household"), "--active", "software_dev", "--rate", "1000000",
        ],
        cwd=folder, env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = ""
        while "Stop with Ctrl-C." not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        yield said.partition("http://")[1] + said.partition("http://")[2].split()[0], key
    finally:
        process.terminate()
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
        sys.stderr.write(errors)


def sample(url: str, key: str, folder: Path, seconds: float) -> Sample:
    """What the server says of itself in `/metrics`."""
    request = urllib.request.Request(f"{url}/metrics", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
    values = {
        each.name: each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
        if not each.labels
    }
    log = folder / "state.db-wal"
    return Sample(
        seconds,
        values["process_resident_memory_bytes"],
        values["process_open_fds"],
        values["orgkernel_store_size_bytes"],
        log.stat().st_size if log.exists() else 0,
        values["orgkernel_audit_queue_length"],
    )


def report_requests(stats: Path, failures: Path) -> None:
    """Rates and latencies of each kind of request."""
    with stats.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    total = float(rows[-1]["Request Count"])
    print(
        f"{'request':34} {'share':>6} {'a second':>9} {'failed':>7} "
        + " ".join(f"{each:>9}" for each in _PERCENTILES)
    )
    for row in rows:
        share = float(row["Request Count"]) / total
        latencies = " ".join(f"{float(row[each]):6.0f} ms" for each in _PERCENTILES)
        print(
            f"{row['Name']:34} {share:6.1%} {float(row['Requests/s']):9.1f} {row['Failure Count']:>7} {latencies}"
        )
    with failures.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            print(f"failed {row['Occurrences']} times: {row['Name']}: {row['Error']}")


def report_growth(idle: Sample, samples: Sequence[Sample], after: Sample) -> None:
    """What was used at the beginning, in the middle and at the end."""
    shown = {"before": idle, "at the end": after}
    if samples:
        shown = {
            "before": idle,
            **{f"after {each.seconds:.0f} s": each for each in samples[:: max(1, len(samples) // 8)]},
            "at the end": after,
        }
    print(f"\n{'':12} {'memory':>10} {'open files':>10} {'store':>10} {'its log':>10} {'queue':>6}")
    for name, each in shown.items():
        print(
            f"{name:12} {each.memory / MIB:6.1f} MiB {each.files:10.0f} {each.store / MIB:6.1f} MiB {each.log / MIB:6.1f} MiB {each.queue:6.0f}"
        )
    print(f"memory at the end: {after.memory / idle.memory:.2f} times that before")


def find_growth(samples: Sequence[Sample]) -> list[str]:
    """What grows without a bound, after the first quarter, in which caches fill."""
    quarter = len(samples) // 4
    if not quarter:
        return ["the load was too short to say what grows"]
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    found = []
    before, now = (median(each.memory for each in those) for those in (early, late))
    if now - before > max(_LEAST_GROWTH, before * _PART_OF_MEMORY):
        found.append(f"memory grew from {before / MIB:.1f} to {now / MIB:.1f} MiB")
    before, now = (median(each.files for each in those) for those in (early, late))
    if now - before > _FILES:
        found.append(f"open files grew from {before:.0f} to {now:.0f}")
    return found


if __name__ == "__main__":
    sys.exit(main())
