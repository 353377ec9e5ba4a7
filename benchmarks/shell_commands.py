"""`python -m benchmarks.shell_commands`: labeled shell commands, what is said of them, and how long it takes."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import NamedTuple

import yaml

from orgkernel.shell.check import check_command

CORPUS = Path(__file__).parent.parent / "tests" / "decisions" / "command_corpus"
HALVES = ("tuned", "untouched")


class Measured(NamedTuple):
    """What was said of the commands of one half."""

    harmless: int
    alarms: int
    harmless_unread: int
    destructive: int
    misses: int
    destructive_unread: int
    microseconds: tuple[float, ...]


def measure_half(name: str) -> Measured:
    """Ask about each command of a half of the corpus."""
    trades = yaml.safe_load((CORPUS / f"{name}.yaml").read_text(encoding="utf-8")).values()
    harmless = [command for trade in trades for command in trade["harmless"]]
    destructive = [
        each for trade in trades for commands in trade["destructive"].values() for each in commands
    ]
    microseconds = []
    outcomes = []
    for command in (*harmless, *destructive):
        start = time.perf_counter()
        outcomes.append(check_command(command).outcome)
        microseconds.append((time.perf_counter() - start) * 1e6)
    said, found = outcomes[: len(harmless)], outcomes[len(harmless) :]
    return Measured(
        len(harmless),
        said.count("destructive"),
        said.count("cannot_tell"),
        len(destructive),
        found.count("harmless"),
        found.count("cannot_tell"),
        tuple(microseconds),
    )


def main() -> None:
    """Print a row for each half, and the times of both."""
    times: list[float] = []
    for name in HALVES:
        found = measure_half(name)
        times += found.microseconds
        print(
            f"{name}: {found.harmless} harmless, {found.alarms} false alarms, {found.harmless_unread} cannot tell; "
            f"{found.destructive} destructive, {found.misses} missed, {found.destructive_unread} cannot tell"
        )
    low, high = statistics.median(times), statistics.quantiles(times, n=100)[98]
    print(f"a command: median {low:.0f} µs, 99 of 100 within {high:.0f} µs")


if __name__ == "__main__":
    main()
