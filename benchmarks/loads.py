"""Loads: cold, warm, after one change; what a process that serves holds; how fast a command starts."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate import is_expected

_STARTS = 15
# Files older than this many seconds are known by their state (kernel/file_states.py).
_SETTLED = 2.5
_CHANGED = Path("roles", "role_77.yaml")


def parse_only(folder: Path) -> dict[str, Any]:
    """What a user would take instead: read the same files and parse them with PyYAML's fastest loader."""
    import yaml

    paths = sorted(folder.rglob("*.yaml"))
    gc.disable()
    start = time.perf_counter()
    for path in paths:
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    return {"seconds": time.perf_counter() - start, "files": len(paths)}


def cold_load(folder: Path, processes: int = 1) -> dict[str, Any]:
    """Ours: read, parse, validate, link, check; every finding with its place. Imports are done before."""
    from orgkernel.snapshots.build import build_snapshot
    from orgkernel.snapshots.roots import resolve_paths, shipped_request

    build_snapshot(shipped_request().roots)
    gc.disable()
    start = time.perf_counter()
    request = resolve_paths([str(folder)], str(folder.parent))
    snapshot = build_snapshot(request.roots, None, request.asked, processes=processes)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    roles = len(snapshot.organizations["measured"].index.roles)
    assert is_expected(len(snapshot.diagnostics), roles), "these are not the findings that were put in"
    return {"seconds": seconds, "findings": len(snapshot.diagnostics), "peak_kb_per_role": peak / roles}


def cold_load_two(folder: Path) -> dict[str, Any]:
    """The same with a second process, whose start counts."""
    return cold_load(folder, processes=2)


def cold_load_parts(folder: Path) -> dict[str, Any]:
    """Where the processor's time of a cold load goes, in microseconds a file, beside parsing alone."""
    from orgkernel.loading import documents, tree
    from orgkernel.snapshots import build, snapshot
    from orgkernel.snapshots.roots import resolve_paths, shipped_request

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
        (build, "check_organization", "rules about organizations"),
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


def warm_load(folder: Path) -> dict[str, Any]:
    """A load of what did not change, from the cache of an earlier process, imports done before; documents still packed."""
    from orgkernel.snapshots.roots import resolve_paths

    _fill(folder)
    gc.disable()
    start = time.perf_counter()
    snapshot = _loader(folder, resolve_paths([str(folder)], str(folder.parent))).load()
    return {"seconds": time.perf_counter() - start, "findings": len(snapshot.diagnostics)}


def one_changed_fresh(folder: Path) -> dict[str, Any]:
    """One role of a cached tree gains a tool, and a process that has its imports done loads it; saving beside it."""
    from orgkernel.snapshots import patch  # noqa: F401 – imports are done before
    from orgkernel.snapshots.build import read_and_build
    from orgkernel.snapshots.roots import resolve_paths, shipped_request

    _fill(folder)
    with _one_tool_more(folder):
        shipped = shipped_request()
        read_and_build(shipped.roots, {}, shipped.asked)
        gc.disable()
        start = time.perf_counter()
        loader = _loader(folder, resolve_paths([str(folder)], str(folder.parent)))
        loader.load()
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        loader.save()
        saving = time.perf_counter() - start
    return {"seconds": seconds, "saving": saving}


def one_changed_server(folder: Path) -> dict[str, Any]:
    """One role gains a tool while a kernel holds the tree: the reload, without the watcher's wait.

    First told which file changed, as the server's watcher does; then, as it loses the tool again, not told.
    """
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.snapshots import patch  # noqa: F401 – imports are done before
    from orgkernel.snapshots.roots import resolve_paths

    kernel = Kernel(resolve_paths([str(folder)], str(folder.parent)))
    time.sleep(_SETTLED)
    kernel.reload()
    with _one_tool_more(folder):
        start = time.perf_counter()
        changed = kernel.reload([str(folder / _CHANGED)]).changed
        seconds = time.perf_counter() - start
    start = time.perf_counter()
    changed = kernel.reload().changed and changed
    return {"seconds": seconds, "untold": time.perf_counter() - start, "changed": changed}


def memory(folder: Path) -> dict[str, Any]:
    """What a process that serves a cached tree holds, in KB for each role: resident, and the index by itself."""
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.snapshots.roots import resolve_paths, shipped_request

    _fill(folder)
    Kernel(shipped_request())
    before = _resident()
    loader = _loader(folder, resolve_paths([str(folder)], str(folder.parent)))
    snapshot = loader.load()
    resident = _resident() - before
    organization = snapshot.organizations["measured"]
    roles = len(organization.index.roles)
    packed = organization.columns.pack()
    edges = sum(len(part) for part in packed[1:]) + sum(map(sys.getsizeof, packed[0]))
    parts = sum(len(part) for document in snapshot.tree.documents for part in document.packed)
    return {
        "resident_kb_per_role": resident / roles,
        "index_kb_per_role": (edges + parts) / 1024 / roles,
        "edges_kb_per_role": edges / 1024 / roles,
    }


def start_up(folder: Path) -> dict[str, Any]:
    """`orgkernel dispatch` and `manifest` on a warm tree beside the start of bare Python, in seconds of a whole process."""
    run = "import sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"
    tree = ["--org", "measured", "--path", str(folder)]
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "dispatch": [sys.executable, "-c", run, "dispatch", "codegen", *tree],
        "manifest": [sys.executable, "-c", run, "manifest", "role_7", *tree, "--format", "json"],
    }
    # Compiled modules are part of an installation.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(_STARTS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
            times[name].append(time.perf_counter() - start)
    return {name: median(those) for name, those in times.items()}


def _loader(folder: Path, request: Any) -> Any:
    from orgkernel.loading.cache import Cache
    from orgkernel.snapshots.loader import Loader

    return Loader(request, {}, Cache(str(folder.parent / ".measured_cache")))


def _fill(folder: Path) -> None:
    """Fill the cache of a tree, once every file is older than it."""
    program = (
        "import sys, pathlib, benchmarks.loads as m; from orgkernel.snapshots.roots import resolve_paths\n"
        "f = pathlib.Path(sys.argv[1]); l = m._loader(f, resolve_paths([str(f)], str(f.parent))); l.load(); l.save()"
    )
    time.sleep(_SETTLED)
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True)


@contextmanager
def _one_tool_more(folder: Path) -> Iterator[None]:
    path = folder / _CHANGED
    text = path.read_text()
    path.write_text(text.replace("  tools_secondary:\n", "  tools_secondary:\n    - tool_0\n"))
    try:
        yield
    finally:
        path.write_text(text)


def _resident() -> float:
    """In KB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024


def graph(folder: Path) -> dict[str, Any]:
    """Building the networkx graph of a loaded organization."""
    from benchmarks.questions import load
    from orgkernel.graph.org_graph import OrgGraph

    organization = load(folder)
    start = time.perf_counter()
    OrgGraph(organization.records, organization.columns)
    return {"seconds": time.perf_counter() - start}
