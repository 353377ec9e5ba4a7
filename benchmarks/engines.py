"""What each engine of `orgkernel.engines` brings: processor time with it and without it, asked in turns.

Processor time hardly depends on what else the machine does. Servers are asked over HTTP, calls of the hook are whole processes,
and questions to the kernel and rows of the store are timed in this process. Answers with and without an engine are compared first.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.authzen import requests_for
from benchmarks.claude_hook import HOOK, make_project
from benchmarks.decisions import ORG, open_governed
from benchmarks.gateway import CLIENTS, Way
from benchmarks.gateway_servers import create_keys, gateway, upstream, write_config, write_organization
from benchmarks.governed import is_wide
from benchmarks.hook_commands import build_owner_processes, make_owned_project, measure_processes, note_rules
from benchmarks.http import compare, serving
from benchmarks.load_generator import fetch
from benchmarks.serving import ASKED
from benchmarks.state import entry, open_store
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.engines import SOME, EnginesOff

_TURNS = 25
_ROWS = 64


def engine_fast_path(folder: Path) -> dict[str, Any]:
    """An evaluation over HTTP by a server that keeps no answers, so that each is read, decided and encoded."""
    requests = requests_for(folder, 1)[:ASKED]
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(serving("ours_keeping_nothing", str(folder), environment=environment))
            for name, environment in (("on", {}), ("off", {SOME: "fast_path"}))
        }
        for request in requests[:20]:
            bodies = {fetch(each.port, request)[1] for each in servers.values()}
            assert len(bodies) == 1, bodies
        return compare(servers, requests)


def engine_gateway(folder: Path) -> dict[str, Any]:
    """A call of a tool through the gateway: with every engine, and without one of the two that are on its way."""
    with ExitStack() as stack:
        target = stack.enter_context(upstream())
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder.parent)))
        write_organization(place / "first", CLIENTS, 1)
        keys = create_keys(place / "first", CLIENTS)
        ways: dict[str, Way] = {}
        for name in ("on", "gateway_calls", "http_client"):
            shutil.copytree(place / "first", place / name)  # a store of its own, with the same keys
            config = write_config(place / name, target.port, 1)
            server = stack.enter_context(gateway(place / name, config, {} if name == "on" else {SOME: name}))
            ways[name] = Way(server, keys=keys, prefix="s0__")
        results = [way.result(way.call())["content"] for way in ways.values()]
        assert results == results[:1] * 3, results
        return compare({name: way.server for name, way in ways.items()}, ways["on"].calls())


def engine_static_rows(folder: Path) -> dict[str, Any]:
    """Everything a role with a hundred tools can do, and the roles that can use a tool when it is first asked about."""
    view = open_governed(folder).organization(ORG).snapshot.index
    subjects = [f"role:role_{role}" for role in range(len(view.roles)) if is_wide(role)][:10]
    tools = [f"tool:tool_{number}" for number in range(100, 105)]

    def ask_lists() -> object:
        return [what_can(view, subject) for subject in subjects]

    def ask_who_can() -> object:
        get_access_tables(view).rows.clear()
        return [who_can(view, "look", tool, kinds=("role",)) for tool in tools]

    return {
        "list": _microseconds_of("static_rows", ask_lists, len(subjects), turns=9),
        "who_can": _microseconds_of("static_rows", ask_who_can, len(tools), turns=3),
    }


def engine_row_inserts(folder: Path) -> dict[str, Any]:
    """A row of the audit, 64 of them in a transaction, and one that is written alone: all threads of this process."""
    with ExitStack() as stack:
        stores = {"on": stack.enter_context(open_store(folder.parent))}
        with EnginesOff("row_inserts"):
            stores["off"] = stack.enter_context(open_store(folder.parent))
        found: dict[str, Any] = {}
        for kind, rows in (("together", _ROWS), ("alone", 1)):
            taken: dict[str, list[float]] = {name: [] for name in stores}
            for turn in range(5 * _TURNS):
                for name, store in stores.items():
                    start = time.process_time()
                    pending_writes = [store.audit.submit(entry()) for _ in range(rows)]
                    for pending in pending_writes:
                        pending.result()
                    if turn:  # the first row resumes the chain
                        taken[name].append((time.process_time() - start) / rows * 1e6)
            found[kind] = {name: median(times) for name, times in taken.items()}
        return found


def engine_hook(folder: Path) -> dict[str, Any]:
    """A whole process of the hook of Claude Code, milliseconds: a call by name, and a write whose path is compared."""
    names = ("json_reader", "digests", "glob_matcher")
    hook = (sys.executable, "-I", "-S", str(HOOK), "PreToolUse", "refuse")
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        project = Path(os.path.realpath(place)) / "project"
        make_project(project)
        calls = {
            "call": ("role0", "Bash", {"command": "ls"}),
            "write": ("role1", "Write", {"file_path": str(project / "src/a.py")}),
        }
        found: dict[str, Any] = {}
        for kind, (agent, tool, given) in calls.items():
            call = {
                "hook_event_name": "PreToolUse", "cwd": str(project), "tool_name": tool, "tool_input": given,
                "agent_id": "a1", "agent_type": agent,
            }  # fmt: skip
            taken: dict[str, list[float]] = {}
            for turn in range(_TURNS + 1):
                for off in ("", *names):
                    environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(project), SOME: off}
                    used = _processor_seconds(hook, project, json.dumps(call).encode(), environment)
                    if turn:  # the first turn compiles
                        taken.setdefault(off or "on", []).append(used * 1e3)
            found[kind] = {name: median(times) for name, times in taken.items()}
    return found


def engine_light_start(folder: Path) -> dict[str, Any]:
    """A whole process of the hook of file owners, milliseconds: a command, with the rules that were written down."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        project = Path(os.path.realpath(place)) / "project"
        make_owned_project(project)
        note_rules(project)
        processes = {
            name: build_owner_processes(project, off)["npm test"]
            for name, off in (("on", ""), ("off", "light_start"))
        }
        medians = measure_processes(processes, 7)
        return {"command": {name: used * 1e3 for name, (_, used) in medians.items()}}


def _processor_seconds(
    command: tuple[str, ...], folder: Path, given: bytes, environment: Mapping[str, str]
) -> float:
    """Processor time of a process that must be silent, which allows the call."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, input=given, env=dict(environment), check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout == b"", done.stdout
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _microseconds_of(engine: str, ask: Callable[[], object], questions: int, turns: int) -> dict[str, float]:
    """Median processor time of a question with an engine and without it."""
    expected = ask()
    with EnginesOff(engine):
        assert ask() == expected
    gc.collect()
    gc.disable()
    taken: dict[str, list[float]] = {"on": [], "off": []}
    for _ in range(turns):
        for name, off in (("on", ()), ("off", (engine,))):
            with EnginesOff(*off):
                start = time.thread_time()
                ask()
                taken[name].append((time.thread_time() - start) / questions * 1e6)
    gc.enable()
    return {name: median(times) for name, times in taken.items()}
