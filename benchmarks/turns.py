"""Measuring a size: every measurement in a process of its own, all of them in turns, medians at the end."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate import generate
from benchmarks.rows import Row, Source


@dataclass(frozen=True, slots=True)
class Result:
    """What a row came to: a figure with its ratio, or why there is none."""

    figure: float | None = None
    ratio: float | None = None
    missing: str = ""


Say = Callable[[str], None]


def measure_size(size: int, rows: Sequence[Row], turns: int, say: Say) -> dict[Row, Result]:
    """Every row at one size."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "measured"
        generate(folder, size)
        return measure_folder(folder, rows, turns, say)


def measure_folder(folder: Path, rows: Sequence[Row], turns: int, say: Say) -> dict[Row, Result]:
    """Every row on one generated organization."""
    once = {what: row.once for row in rows for what in _measurements(row)}
    taken: dict[str, list[Mapping[str, Any]]] = {what: [] for what in once}
    for turn in range(turns):
        for what, answers in taken.items():
            missing = answers and "missing" in answers[0]
            if turn and (once[what] or missing):
                continue
            say(f"turn {turn + 1}: {what}")
            answers.append(measure(what, folder))
    return {row: _result(row, taken) for row in rows}


def measure(what: str, folder: Path) -> Mapping[str, Any]:
    """One measurement in a fresh process; a process that fails is a missing figure and no end of all others."""
    command = [sys.executable, "-m", "benchmarks.measure", what, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"missing": f"`{what}` failed: {last}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _measurements(row: Row) -> list[str]:
    # What is compared comes first: the two then follow each other in every turn.
    return list(dict.fromkeys([*([row.against[0]] if row.against else []), row.value[0]]))


def _result(row: Row, taken: Mapping[str, Sequence[Mapping[str, Any]]]) -> Result:
    for what in _measurements(row):
        if "missing" in taken[what][0]:
            return Result(missing=taken[what][0]["missing"])
    try:
        figure = _median(taken, row.value)
        ratio = figure / _median(taken, row.against) if row.against is not None else None
    except (KeyError, TypeError, ZeroDivisionError):
        return Result(missing=f"`{row.value[0]}` does not say `{row.value[1]}`")
    return Result(figure, ratio)


def _median(taken: Mapping[str, Sequence[Mapping[str, Any]]], source: Source) -> float:
    what, key = source
    return median(_figure(each, key) for each in taken[what])


def _figure(answer: Any, key: str) -> float:
    for step in key.split("."):
        answer = answer[step]
    return float(answer)
