"""The results in print, as data, and held to earlier ones."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.rows import Row
from benchmarks.turns import Result

Results = Mapping[int, Mapping[Row, Result]]
_LIBRARIES = (
    "PyYAML", "pydantic", "msgspec", "networkx", "fastapi", "starlette", "uvicorn", "uvloop", "httptools", "cedarpy", "casbin",
    "celine-regorus",
)  # fmt: skip
WORSE = 1.3
"""From how many times an earlier ratio on it is a regression."""


def versions() -> dict[str, str]:
    """What was measured with."""
    found = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
    }
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def render(results: Results) -> Iterator[str]:
    """A table: a line a row, a column a size."""
    sizes = list(results)
    width = max((len(row.name) for rows in results.values() for row in rows), default=0)
    yield " " * width + "".join(f"  {f'{size:,} roles':>26}" for size in sizes) + "        aim"
    for row in dict.fromkeys(row for rows in results.values() for row in rows):
        cells = "".join(f"  {_cell(row, results[size].get(row)):>26}" for size in sizes)
        yield f"{row.name:<{width}}{cells}  {_aim(row):>9}".rstrip()
    for text in dict.fromkeys(
        result.missing for rows in results.values() for result in rows.values() if result.missing
    ):
        yield f"n/a: {text}"


def _cell(row: Row, result: Result | None) -> str:
    if result is None:
        return "–"
    if result.figure is None:
        return "n/a"
    figure = f"{_number(result.figure)} {row.unit}".rstrip()
    return figure if result.ratio is None else f"{figure}  {_number(result.ratio)}×"


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _aim(row: Row) -> str:
    if row.aim is None:
        return ""
    return f"{'≤' if row.better == 'less' else '≥'} {row.aim:g}{'×' if row.against else ''}"


def growth(results: Results, name: str) -> float | None:
    """The exponent by which a figure grows with the number of roles, from the smallest size to the largest."""
    figures = {
        size: result.figure
        for size, rows in results.items()
        for row, result in rows.items()
        if row.name == name and result.figure
    }
    if len(figures) < 2:
        return None
    small, large = min(figures), max(figures)
    return math.log(figures[large] / figures[small]) / math.log(large / small)


def as_data(results: Results) -> dict[str, Any]:
    """Figures and ratios by size and row."""
    return {
        str(size): {
            row.name: {"figure": result.figure, "unit": row.unit, "ratio": result.ratio}
            if not result.missing
            else {"missing": result.missing}
            for row, result in rows.items()
        }
        for size, rows in results.items()
    }


def regressions(results: Results, earlier: Mapping[str, Any]) -> Iterator[str]:
    """The ratios that are worse than earlier ones by more than chance explains. Absolute figures are never compared."""
    for size, rows in results.items():
        for row, result in rows.items():
            before = earlier.get(str(size), {}).get(row.name, {}).get("ratio")
            if not row.steady or not result.ratio or not before:
                continue
            worse = result.ratio / before if row.better == "less" else before / result.ratio
            if worse > WORSE:
                yield f"{row.name} at {size:,} roles: {_number(result.ratio)}× instead of {_number(before)}×"
