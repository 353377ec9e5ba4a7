"""One measurement in a process of its own: `python -m benchmarks.measure WHAT FOLDER` prints it as JSON."""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

_REPEAT = 2_000


def parse_only(folder: Path) -> dict[str, Any]:
    """What a user would take instead: read the same files and parse them with PyYAML's fastest loader."""
    import yaml

    paths = sorted(folder.rglob("*.yaml"))
    gc.disable()
    start = time.perf_counter()
    for path in paths:
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    return {"seconds": time.perf_counter() - start}


def cold_load(folder: Path, processes: int = 1) -> dict[str, Any]:
    """Ours: read, parse, validate, link, check; every finding with its place. Imports are done before."""
    from orgkernel.kernel.roots import resolve_paths, shipped_request
    from orgkernel.kernel.snapshot import build_snapshot

    build_snapshot(shipped_request().roots)
    gc.disable()
    start = time.perf_counter()
    request = resolve_paths([str(folder)], str(folder.parent))
    snapshot = build_snapshot(request.roots, None, request.asked, processes=processes)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "findings": len(snapshot.diagnostics), "peak_mb": peak / 1024}


def cold_load_two(folder: Path) -> dict[str, Any]:
    """The same with a second process, whose start counts."""
    return cold_load(folder, processes=2)


def cold_load_parts(folder: Path) -> dict[str, Any]:
    """Where the processor's time of a cold load goes, in microseconds a file, beside parsing alone."""
    from orgkernel.kernel import build, snapshot
    from orgkernel.kernel.roots import resolve_paths, shipped_request
    from orgkernel.loading import documents, tree

    snapshot.build_snapshot(shipped_request().roots, processes=1)
    parts: dict[str, float] = {}
    places: list[tuple[Any, str, str]] = [
        (build, "locate_files", "find files"),
        (tree, "read_text", "read"),
        (documents, "parse_source", "parse"),
        (documents, "validate_shape", "validate"),
        (build, "read_tree", "find, read, parse, validate, pack"),
        (build, "assemble", "assemble"),
        (build, "_build", "edges and index"),
        (build, "check_organization", "rules about organisations"),
        (build, "check_tree", "rules about files"),
    ]
    for module, name, what in places:
        setattr(module, name, _timed(getattr(module, name), parts, what))
    gc.disable()
    request = resolve_paths([str(folder)], str(folder.parent))
    start = time.process_time()
    files = len(snapshot.build_snapshot(request.roots, None, request.asked, processes=1).tree.paths)
    parts["all"] = time.process_time() - start
    return {what: seconds / files * 1e6 for what, seconds in parts.items()}


def _timed(function: Callable[..., Any], parts: dict[str, float], what: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            parts[what] = parts.get(what, 0.0) + time.process_time() - start

    return timed


def questions(folder: Path) -> dict[str, Any]:
    """Dispatch and manifest on a loaded organisation, in microseconds; and building the networkx graph."""
    from orgkernel.crew.role import build_role_manifest
    from orgkernel.crew.v1 import encode
    from orgkernel.decisions.dispatch import decide_dispatch
    from orgkernel.graph.org_graph import OrgGraph
    from orgkernel.kernel.roots import resolve_paths
    from orgkernel.kernel.snapshot import build_snapshot

    request = resolve_paths([str(folder)], str(folder.parent))
    organization = build_snapshot(request.roots, None, request.asked).organizations["measured"]
    index = organization.index
    gc.disable()
    start = time.perf_counter()
    OrgGraph(organization.records, organization.columns)
    graph = time.perf_counter() - start
    roles = index.roles
    return {
        "graph_seconds": graph,
        "dispatch": _microseconds(lambda _: decide_dispatch(index, "codegen")),
        "manifest": _microseconds(
            lambda turn: encode(build_role_manifest(index, roles[turn * 7919 % len(roles)]))
        ),
    }


def _microseconds(ask: Callable[[int], object]) -> dict[str, float]:
    for turn in range(20):
        ask(turn)
    times = []
    for turn in range(_REPEAT):
        start = time.perf_counter()
        ask(turn)
        times.append((time.perf_counter() - start) * 1e6)
    return {"median": median(times), "p99": quantiles(times, n=100)[98]}


if __name__ == "__main__":
    measurements: dict[str, Callable[[Path], dict[str, Any]]] = {
        "parse_only": parse_only,
        "cold_load": cold_load,
        "cold_load_two": cold_load_two,
        "cold_load_parts": cold_load_parts,
        "questions": questions,
    }
    print(json.dumps(measurements[sys.argv[1]](Path(sys.argv[2]))))
