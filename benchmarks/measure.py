"""One measurement in a process of its own: `python -m benchmarks.measure WHAT FOLDER` prints what it returns as JSON.

A measurement is a function of a folder with a generated organization; it is found by its name in one of the modules
below. Adding one is writing the function, and a row in `rows.py` that names it. One that is not there yet, or raises
`NotMeasured`, is said to be missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.timing import NotMeasured

_HOMES = (
    "benchmarks.loads",
    "benchmarks.questions",
    "benchmarks.floors",
    "benchmarks.http",
    "benchmarks.authzen",
    "benchmarks.state",
    "benchmarks.decisions",
    "benchmarks.own_grants",
    "benchmarks.peers",
    "benchmarks.agent_zero",
    "benchmarks.start",
    "benchmarks.engines",
)


def find_measurement(what: str) -> Callable[[Path], dict[str, Any]] | None:
    """The function that measures this; None where nobody has written it."""
    for home in _HOMES:
        if find_spec(home) is not None:
            found = getattr(import_module(home), what, None)
            if found is not None:
                measurement: Callable[[Path], dict[str, Any]] = found
                return measurement
    return None


def main() -> None:
    """Measure and print."""
    what, folder = sys.argv[1:]
    measurement = find_measurement(what)
    try:
        if measurement is None:
            raise NotMeasured(f"nothing measures `{what}` yet")
        answer = measurement(Path(folder))
    except NotMeasured as reason:
        answer = {"missing": str(reason)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
