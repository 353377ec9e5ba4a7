"""Loads: cold, warm, after one change; what a process that serves holds; how fast a command starts."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate import expected_in_mixed, generate_mixed, is_expected

_STARTS = 15
# Files older than this many seconds are known by their state (snapshots/loader.py).
_SETTLED = 2.5
_CHANGED = Path("roles", "role_77.yaml")
_RUN = "import sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()"


def parse_only(folder: Path) -> dict[str, Any]:
    """What a user would take instead: read the same files and parse them with the fastest loaders of PyYAML and Python."""
    import yaml

    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".yaml", ".json"))
    gc.disable()
    start = time.perf_counter()
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".json":
            json.loads(content)
        else:
            yaml.load(content, Loader=yaml.CSafeLoader)
    return {"seconds": time.perf_counter() - start, "files": len(paths)}


def cold_load(folder: Path) -> dict[str, Any]:
    """Ours: read, parse, validate, link, check; every finding with its place. Imports are done before."""
    snapshot, seconds = _load_cold(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    roles = len(snapshot.organizations["measured"].index.roles)
    assert is_expected(len(snapshot.diagnostics), roles), "these are not the findings that were put in"
    return {"seconds": seconds, "findings": len(snapshot.diagnostics), "peak_kb_per_role": peak / roles}


def _load_cold(folder: Path) -> tuple[Any, float]:
    from orgkernel.snapshots.build import build_snapshot
    from orgkernel.snapshots.roots import build_shipped_request, resolve_paths

    build_snapshot(build_shipped_request().roots)
    gc.disable()
    start = time.perf_counter()
    request = resolve_paths([str(folder)], str(folder.parent))
    snapshot = build_snapshot(request.roots, None, request.asked)
    return snapshot, time.perf_counter() - start


def mixed_parse(folder: Path) -> dict[str, Any]:
    """As `parse_only`, of the same roles in the styles that are met outside."""
    return parse_only(_mixed(folder))


def mixed_load(folder: Path) -> dict[str, Any]:
    """As `cold_load`, of these."""
    return _mixed_load(folder, many_findings=False)


def mixed_load_of_many_findings(folder: Path) -> dict[str, Any]:
    """The same with two and a half findings for each role."""
    return _mixed_load(folder, many_findings=True)


def _mixed_load(folder: Path, *, many_findings: bool) -> dict[str, Any]:
    snapshot, seconds = _load_cold(_mixed(folder, many_findings=many_findings))
    roles = len(snapshot.organizations["measured"].index.roles)
    least, most = expected_in_mixed(roles, many_findings=many_findings)
    assert least <= len(snapshot.diagnostics) <= most, "these are not the findings that were put in"
    return {"seconds": seconds, "findings": len(snapshot.diagnostics)}


def mixed_check(folder: Path) -> dict[str, Any]:
    """`orgkernel check` without a cache, a whole process, beside one that parses the same files."""
    folder = _mixed(folder)
    parse = (
        "import pathlib, sys; from benchmarks.loads import parse_only; parse_only(pathlib.Path(sys.argv[1]))"
    )
    seconds = _time_processes(
        {
            "parse": [sys.executable, "-c", parse, str(folder)],
            "check": [sys.executable, "-c", _RUN, "check", str(folder), "--no-cache"],
        },
        turns=3,
    )
    return {"seconds": seconds["check"], "parse": seconds["parse"]}


def small_check(folder: Path) -> dict[str, Any]:
    """`orgkernel check` of a small organization without a cache, beside the start of bare Python, whole processes."""
    from orgkernel.loading.shipped import get_shipped_folder

    path = os.path.join(get_shipped_folder("templates"), "blank")
    seconds = _time_processes(
        {
            "python": [sys.executable, "-c", "pass"],
            "check": [sys.executable, "-c", _RUN, "check", path, "--no-cache"],
        },
        turns=_STARTS,
    )
    return {"seconds": seconds["check"], "python": seconds["python"]}


def _mixed(folder: Path, *, many_findings: bool = False) -> Path:
    """The roles of a folder in mixed styles; written beside it once."""
    mixed = folder.parent / ("measured_many_findings" if many_findings else "measured_mixed")
    if not mixed.exists():
        generate_mixed(mixed, sum(1 for _ in (folder / "roles").iterdir()), many_findings=many_findings)
    return mixed


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
    from orgkernel.snapshots.build import build_snapshot
    from orgkernel.snapshots.roots import build_shipped_request, resolve_paths

    _fill(folder)
    with _one_tool_more(folder):
        build_snapshot(build_shipped_request().roots)
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
    """One role gains a tool while a kernel holds the tree: the reload, without the watcher's wait."""
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.snapshots.roots import resolve_paths

    kernel = Kernel(resolve_paths([str(folder)], str(folder.parent)))
    time.sleep(_SETTLED)
    kernel.reload()
    with _one_tool_more(folder):
        start = time.perf_counter()
        changed = kernel.reload().changed
        seconds = time.perf_counter() - start
    assert changed, "the change was not noticed"
    return {"seconds": seconds}


def memory(folder: Path) -> dict[str, Any]:
    """What a process that serves a cached tree holds, in KB for each role: resident, and the index by itself."""
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.snapshots.roots import build_shipped_request, resolve_paths

    _fill(folder)
    Kernel(build_shipped_request())
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
    tree = ["--org", "measured", "--path", str(folder)]
    return _time_processes(
        {
            "python": [sys.executable, "-c", "pass"],
            "dispatch": [sys.executable, "-c", _RUN, "dispatch", "codegen", *tree],
            "manifest": [sys.executable, "-c", _RUN, "manifest", "role_7", *tree, "--format", "json"],
        },
        turns=_STARTS,
    )


def _time_processes(commands: dict[str, list[str]], turns: int) -> dict[str, float]:
    """The median seconds of whole processes, run in turns; they may fail, as a check with findings does."""
    # Compiled modules are part of an installation.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=environment
            )
            times[name].append(time.perf_counter() - start)
            assert done.returncode in (0, 1), f"`{name}` failed"
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
