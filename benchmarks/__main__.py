"""`make bench`: generate, measure in turns, print ratios of medians with versions."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate import generate


def measure(what: str, folder: Path) -> dict[str, Any]:
    """One measurement in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.measure", what, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    """Print a table for every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000], help="numbers of roles")
    parser.add_argument("--turns", type=int, default=3, help="measurements of each kind, taken in turns")
    wanted = parser.parse_args()
    libraries = ", ".join(f"{name} {version(name)}" for name in ("PyYAML", "pydantic", "networkx", "msgspec"))
    print(f"Python {platform.python_version()}, {libraries}; medians of {wanted.turns} turns\n")
    print(
        f"{'roles':>8}  {'cold load':>10}  {'of parsing':>10}  {'findings':>8}  {'KB a role':>9}  "
        f"{'graph':>7}  {'dispatch µs':>11}  {'p99':>6}  {'manifest µs':>11}  {'p99':>6}"
    )
    for size in wanted.sizes:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "measured"
            generate(tree, size)
            ours, theirs = [], []
            for _ in range(wanted.turns):
                theirs.append(measure("parse_only", tree))
                ours.append(measure("cold_load", tree))
            asked = measure("questions", tree)
        seconds = median(each["seconds"] for each in ours)
        ratio = seconds / median(each["seconds"] for each in theirs)
        kilobytes = median(each["peak_mb"] for each in ours) * 1024 / size
        print(
            f"{size:>8,}  {seconds:>9.2f}s  {ratio:>9.2f}×  {ours[0]['findings']:>8,}  {kilobytes:>9.1f}  "
            f"{asked['graph_seconds']:>6.2f}s  {asked['dispatch']['median']:>11.1f}  {asked['dispatch']['p99']:>6.1f}  "
            f"{asked['manifest']['median']:>11.1f}  {asked['manifest']['p99']:>6.1f}"
        )


if __name__ == "__main__":
    main()
