"""One measurement in a process of its own: `python -m benchmarks.measure WHAT FOLDER` prints what it returns as JSON.

A measurement is a function of a folder with a generated organisation; it is found by its name in one of the modules
below. Adding one is writing the function, and a row in `rows.py` that names it. One that is not there yet, or raises
`NotMeasured`, is said to be missing.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.generate import is_expected
from benchmarks.timing import NotMeasured

_HOMES = (
    "benchmarks.measure",
    "benchmarks.questions",
    "benchmarks.floors",
    "benchmarks.http",
    "benchmarks.state",
)


def parse_only(folder: Path) -> dict[str, Any]:
    """What a user would take instead: read the same files and parse them with PyYAML's fastest loader."""
    import yaml

    paths = sorted(folder.rglob("*.yaml"))
    gc.disable()
    start = time.perf_counter()
    for path in paths:
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    return {"seconds": time.perf_counter() - start, "files": len(paths)}


def cold_load(folder: Path) -> dict[str, Any]:
    """Ours: read, parse, validate, link, check; every finding with its place. Imports are done before."""
    from orgkernel.kernel.roots import resolve_paths, shipped_request
    from orgkernel.kernel.snapshot import build_snapshot

    build_snapshot(shipped_request().roots)
    gc.disable()
    start = time.perf_counter()
    request = resolve_paths([str(folder)], str(folder.parent))
    snapshot = build_snapshot(request.roots, None, request.asked)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    roles = len(snapshot.organizations["measured"].index.roles)
    assert is_expected(len(snapshot.diagnostics), roles), "these are not the findings that were put in"
    return {
        "seconds": seconds,
        "findings": len(snapshot.diagnostics),
        "peak_kb_per_role": peak / roles,
    }


def graph(folder: Path) -> dict[str, Any]:
    """Building the networkx graph of a loaded organisation."""
    from benchmarks.questions import load
    from orgkernel.graph.org_graph import OrgGraph

    organization = load(folder)
    start = time.perf_counter()
    OrgGraph(organization.records, organization.columns)
    return {"seconds": time.perf_counter() - start}


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
