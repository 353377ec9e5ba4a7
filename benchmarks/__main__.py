"""`make bench`: generate, measure in turns, print figures and ratios with versions."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.rows import Row, rows_for
from benchmarks.table import as_data, growth, regressions, render, versions
from benchmarks.turns import Result, measure, measure_size

_GROWING = ("dispatch", "dispatch with needs")
# A hundred thousand roles take minutes a turn.
_TURNS, _TURNS_OF_LARGE, _LARGE = 5, 3, 50_000


def main() -> int:
    """Measure and print; 1 when a ratio is worse than in the file it is compared with."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000], help="numbers of roles")
    parser.add_argument("--turns", type=int, help="measurements of each kind; 5, of large sizes 3")
    parser.add_argument("--only", help="only rows with this word in their name")
    parser.add_argument("--json", type=Path, help="write the results there as well")
    parser.add_argument(
        "--compare", type=Path, help="results of earlier; a ratio 1.3 times as bad is an error"
    )
    wanted = parser.parse_args()
    earlier = json.loads(wanted.compare.read_text(encoding="utf-8")) if wanted.compare else None
    known = versions()
    print(", ".join(f"{name} {number}" for name, number in known.items()))
    with TemporaryDirectory() as nowhere:
        machine = {what: measure(what, Path(nowhere)) for what in ("two_processes", "floors")}
    print(_describe(machine) + "\n")
    results: dict[int, dict[Row, Result]] = {}
    for size in sorted(wanted.sizes):
        turns = wanted.turns or (_TURNS_OF_LARGE if size >= _LARGE else _TURNS)
        rows = rows_for(size, wanted.only)
        results[size] = measure_size(
            size, rows, turns, lambda text, size=size: _say(f"{size:,} roles, {text}")
        )
    _say("")
    print("\n".join(render(results)))
    for name in _GROWING:
        exponent = growth(results, name)
        if exponent is not None:
            print(f"{name} grows with the number of roles to the power of {exponent:.2f}")
    if wanted.json:
        data = {"versions": known, "machine": machine, **as_data(results)}
        wanted.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    worse = list(regressions(results, earlier)) if earlier else []
    for line in worse:
        print(f"worse: {line}", file=sys.stderr)
    return 1 if worse else 0


def _describe(machine: dict[str, dict[str, float]]) -> str:
    floors, two = machine["floors"], machine["two_processes"]
    return (
        f"two processes doing the same slow each other down {two['slowdown']:.2f}×; an empty call takes "
        f"{floors['call'] * 1e3:.0f} ns, a look-up {floors['lookup'] * 1e3:.0f} ns, the smallest answer "
        f"{floors['answer'] * 1e3:.0f} ns"
    )


def _say(text: str) -> None:
    """What goes on, on one line that is written over, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
